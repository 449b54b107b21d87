"""How noisy readings are, by their own evidence."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.families.readout import LEVELS, most_probable, precision, shortened, written
from pgt.models.network import UnitReadings
from pgt.models.writer import Writer, WriterSizes
from pgt.nn.draw import Draw
from pgt.nn.embedding import Embedding

SIZES = WriterSizes(width=8, blocks=1, heads=2, basis=4, layers=2, modes=3)


@pytest.fixture(scope="module")
def made():
    """A writer, points, and readings of one of its waves, the last rows of nothing."""
    writer = Writer(Embedding((False, False)), 1, 1, SIZES, Draw(0))
    random = np.random.default_rng(0)
    points = jnp.asarray(random.uniform(-1, 1, (24, 2)), jnp.float32)
    waves = writer.modes(jnp.array([0.3]))
    values = jax.vmap(waves)(points)[:, :2].sum(axis=1, keepdims=True)
    mask = jnp.ones((24, 1), bool).at[20:].set(False)
    gamma = lambda a, b: jnp.zeros((1, len(a), len(b)))  # noqa: E731
    seen = UnitReadings(points, jnp.where(mask, values, 0.0), mask, gamma, jnp.array([0.3]))
    return writer, waves, seen, writer.told(seen)


write = eqx.filter_jit(lambda writer, told, seen: written(writer, told, seen, "evidence"))


def noisy(seen, size):
    noise = size * np.random.default_rng(1).normal(size=seen.values.shape)
    values = jnp.where(seen.mask, seen.values + noise.astype(np.float32), 0.0)
    return eqx.tree_at(lambda r: r.values, seen, values)


def test_clean_readings_of_its_own_functions_are_believed(made):
    writer, waves, seen, told = made
    z = jnp.array([0.35, -0.4])
    with precision("evidence"):
        field = write(writer, told, seen)
        assert field.factor.dtype == jnp.float64
        found = writer.decode(field, z)
    assert abs(float(found[0]) - float(waves(z)[:2].sum())) < 1e-4


def test_the_readout_is_that_of_a_dense_solve_with_the_noise_that_was_found(made):
    writer, _, seen, told = made
    seen = noisy(seen, 0.1)
    with precision("evidence"):
        field = write(writer, told, seen)
        _, directions, middle, first = writer.gaussian(seen, told)
        features = np.asarray(jax.vmap(field.network.features)(seen.points))[:20]
    rows = features @ np.asarray(directions, float)[0]
    misses = np.asarray(seen.values, float)[:20, 0] - features @ np.asarray(middle, float)[0]

    def minus_evidence(level):
        covariance = rows @ rows.T + level * np.eye(20)
        scale = misses @ np.linalg.solve(covariance, misses) / 20
        return 20 * np.log(scale) + np.linalg.slogdet(covariance)[1]

    levels = float(first) ** 2 * LEVELS
    level = min(levels, key=minus_evidence)
    gram = rows @ rows.T + level * np.eye(20)
    amounts = rows.T @ np.linalg.solve(gram, misses)
    expected = features @ (np.asarray(middle)[0] + np.asarray(directions)[0] @ amounts)
    with precision("evidence"):
        found = jax.vmap(partial(writer.decode, field))(seen.points)
    np.testing.assert_allclose(np.asarray(found)[:20, 0], expected, atol=1e-5)
    scale = np.sqrt(misses @ np.linalg.solve(gram, misses) / 20)
    assert float(field.sigma) == pytest.approx(scale * np.sqrt(level), rel=1e-4)


def test_noise_is_found_by_its_size(made):
    writer, _, seen, told = made
    with precision("evidence"):
        small, large = (float(write(writer, told, noisy(seen, s)).sigma) for s in (0.01, 0.3))
    assert small < 0.05 < 0.1 < large < 0.9


def test_what_is_told_stays_in_single_precision(made):
    writer, _, seen, told = made
    with precision("told"):
        field = eqx.filter_jit(lambda w, t, s: written(w, t, s, "told"))(writer, told, seen)
    assert field.factor.dtype == jnp.float32


def test_rows_of_nothing_change_no_evidence():
    random = np.random.default_rng(0)
    rows, misses = random.normal(size=(9, 4)), random.normal(size=9)
    padded = np.concatenate([rows, np.zeros((3, 4))]), np.append(misses, np.zeros(3))
    with jax.enable_x64(True):
        parts = (rows, misses), padded
        found = [most_probable(*map(jnp.asarray, (*p, 0.0, 9, LEVELS))) for p in parts]
    np.testing.assert_allclose(*map(np.asarray, found), rtol=1e-10)


def test_more_readings_than_functions_are_judged_as_by_all_of_them():
    """The evidence of rows that were made fewer is that of the whole table."""
    random = np.random.default_rng(2)
    rows, misses = random.normal(size=(40, 6)), random.normal(size=40)

    def minus_evidence(level):
        covariance = rows @ rows.T + level * np.eye(40)
        scale = misses @ np.linalg.solve(covariance, misses) / 40
        return 40 * np.log(scale) + np.linalg.slogdet(covariance)[1]

    expected = min(LEVELS, key=minus_evidence)
    with jax.enable_x64(True):
        fewer = shortened(jnp.asarray(rows), jnp.asarray(misses))
        level, scale = most_probable(*fewer, jnp.asarray(40), jnp.asarray(LEVELS))
    assert fewer[0].shape == (6, 6)
    assert float(level) == pytest.approx(expected)
    covariance = rows @ rows.T + expected * np.eye(40)
    whole = np.sqrt(misses @ np.linalg.solve(covariance, misses) / 40)
    assert float(scale) == pytest.approx(whole, rel=1e-10)
