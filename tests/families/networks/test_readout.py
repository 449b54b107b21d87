"""How noisy readings are, by their own evidence."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.families.networks.readout import (
    LEVELS,
    field_posterior,
    readout_precision,
    with_hidden_spread,
)
from pgt.models.field_model import UnitReadings
from pgt.models.hypernetwork import HyperSiren, HyperSirenSizes
from pgt.nn.layers import Draw, Embedding

SIZES = HyperSirenSizes(width=8, blocks=1, heads=2, basis=4, layers=2, modes=3)


@pytest.fixture(scope="module")
def made():
    """A network, one of its waves, and readings of it; the last rows are padding."""
    writer = HyperSiren(Embedding((False, False)), 1, 1, SIZES, Draw(0))
    random = np.random.default_rng(0)
    points = jnp.asarray(random.uniform(-1, 1, (24, 2)), jnp.float32)
    waves = writer.modes(jnp.array([0.3]))
    values = jax.vmap(waves)(points)[:, :2].sum(axis=1, keepdims=True)
    mask = jnp.ones((24, 1), bool).at[20:].set(False)
    gamma = lambda a, b: jnp.zeros((1, len(a), len(b)))  # noqa: E731
    seen = UnitReadings(points, jnp.where(mask, values, 0.0), mask, gamma, jnp.array([0.3]))
    return writer, waves, seen, writer.summarize(seen)


write = eqx.filter_jit(lambda writer, told, seen: field_posterior(writer, told, seen, "evidence"))


def noisy(seen, size):
    noise = size * np.random.default_rng(1).normal(size=seen.values.shape)
    values = jnp.where(seen.mask, seen.values + noise.astype(np.float32), 0.0)
    return eqx.tree_at(lambda r: r.values, seen, values)


def test_clean_readings_of_its_own_functions_are_believed(made):
    writer, waves, seen, told = made
    z = jnp.array([0.35, -0.4])
    with readout_precision("evidence"):
        field = write(writer, told, seen)
        assert field.factor.dtype == jnp.float64
        found = writer.decode(field, z)
    assert abs(float(found[0]) - float(waves(z)[:2].sum())) < 1e-4


def test_the_readout_is_that_of_a_dense_solve_with_the_noise_that_was_found(made):
    writer, _, seen, told = made
    seen = noisy(seen, 0.1)
    with readout_precision("evidence"):
        field = write(writer, told, seen)
        _, directions, middle, first = writer.prior(seen, told)
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
    with readout_precision("evidence"):
        found = jax.vmap(partial(writer.decode, field))(seen.points)
    np.testing.assert_allclose(np.asarray(found)[:20, 0], expected, atol=1e-5)
    scale = np.sqrt(misses @ np.linalg.solve(gram, misses) / 20)
    assert float(field.sigma) == pytest.approx(scale * np.sqrt(level), rel=1e-4)


def test_a_field_that_nobody_read_has_the_spread_of_the_others():
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    steps = np.linspace(0, 1, 8)
    readings = pgt.Observations.from_arrays(
        {"x": steps, "t": steps}, {"u": 5 * steps, "v": 2 * steps}
    )
    readings = readings.aligned(("u", "v", "p"))
    scaling = pgt.Scaling.fit(readings, domain)
    found = np.asarray(with_hidden_spread(scaling, readings).spread)
    np.testing.assert_allclose(found[:2], scaling.spread[:2], rtol=1e-6)
    np.testing.assert_allclose(found[2], np.sqrt(np.mean(found[:2] ** 2)), rtol=1e-6)
