"""Gaussian conditioning against formulas of dense matrices."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.families.field_posterior import (
    FieldBand,
    NoiseMixture,
    compress,
    noise_by_evidence,
    on_grid,
)
from pgt.families.observation_operator import double_precision

RNG = np.random.default_rng(0)
LEVELS = 10.0 ** np.arange(-8, 3.1, 0.5)


def problem(count: int, unknowns: int, level: float):
    """Rows in units of the least noise, and readings with more noise."""
    rows = 1e4 * RNG.standard_normal((count, unknowns))
    truth = RNG.standard_normal(unknowns)
    return rows, truth, rows @ truth + level * RNG.standard_normal(count)


def mixture(rows, values) -> NoiseMixture:
    return NoiseMixture.of(jnp.asarray(rows), jnp.asarray(values), len(rows), 0.0)


def test_the_mean_and_the_level_of_a_mixture_are_those_of_the_readings():
    rows, truth, values = problem(60, 5, 100.0)
    with double_precision():
        found = jax.tree.map(np.asarray, mixture(rows, values))
    np.testing.assert_allclose(found.mean, truth, atol=0.02)
    assert 70 < float(found.square) ** 0.5 < 140
    assert abs(float(found.excess)) < 5
    np.testing.assert_allclose(found.weights.sum(), 1.0)


def test_fields_have_the_mean_and_the_variance_of_the_unknowns():
    rows, _, values = problem(40, 3, 1.0)
    with double_precision():
        moments = mixture(rows, values).moments(jnp.eye(3)[..., None])
        mean, variance = map(np.asarray, moments)
        prior = mixture(jnp.zeros((4, 2)), jnp.zeros(4)).moments(jnp.eye(2)[..., None])
    found = np.linalg.lstsq(rows, values, rcond=None)[0]
    np.testing.assert_allclose(mean[:, 0], found, atol=1e-6)
    exact = np.diag(np.linalg.inv(rows.T @ rows))
    assert ((variance[:, 0] > 0.5 * exact) & (variance[:, 0] < 5 * exact)).all()
    np.testing.assert_allclose(prior[0], 0.0)  # of readings that do not depend on the unknowns
    np.testing.assert_allclose(prior[1], 1.0)


@pytest.mark.parametrize("count", [9, 40], ids=["few", "compressed"])
def test_an_unknown_scale_is_that_of_the_dense_evidence(count):
    random = np.random.default_rng(2)
    rows, values = random.normal(size=(count, 6)), random.normal(size=count)

    def parts(level):
        covariance = rows @ rows.T + level * np.eye(count)
        square = values @ np.linalg.solve(covariance, values) / count
        return count * np.log(square) + np.linalg.slogdet(covariance)[1], square, covariance

    expected = min(LEVELS, key=lambda level: parts(level)[0])
    _, square, covariance = parts(expected)
    # Rows of zeros are padding.
    padded = np.concatenate([rows, np.zeros((3, 6))]), np.append(values, np.zeros(3))
    with jax.enable_x64(True):
        for table, read in ((rows, values), padded):
            fewer = compress(jnp.asarray(table), jnp.asarray(read))
            level, scale, mean = noise_by_evidence(*fewer, jnp.asarray(count), jnp.asarray(LEVELS))
            assert len(fewer[0]) <= 6
            assert float(level) == pytest.approx(expected)
            assert float(scale) == pytest.approx(np.sqrt(square), rel=1e-10)
            exact = rows.T @ np.linalg.solve(covariance, values)
            np.testing.assert_allclose(mean, exact, rtol=1e-8)


DOMAIN = pgt.Domain(x=(0, 1), t=(0, 2), periodic=("x",))


def at(points):
    mean = np.stack([points.sum(axis=1), points[:, 0]], axis=-1)
    return FieldBand(mean, mean - 1, mean + 2, [])


def test_a_grid_has_fields_and_bands():
    found = on_grid(at, DOMAIN, ("u", "v"), {"x": 4, "t": [0.5, 2.0]}, {"outside": ""})
    assert found.x.values.tolist() == [0, 0.25, 0.5, 0.75]  # the period is not closed
    assert float(found.u.sel(x=0.25, t=2.0)) == 2.25
    assert bool((found.v_high - found.v_low == 3).all())
    assert found.attrs == {"outside": ""}
