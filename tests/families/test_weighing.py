"""What readings say under every level of noise."""

import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.asking import precisely
from pgt.families.weighing import fields_of, weighed

DRAW = np.random.default_rng(0)


def posed(count: int, unknowns: int, level: float):
    """Rows in units of the noise that is taken for granted, and readings with more of it."""
    rows = 1e4 * DRAW.standard_normal((count, unknowns))
    truth = DRAW.standard_normal(unknowns)
    return rows, truth, rows @ truth + level * DRAW.standard_normal(count)


def test_the_mean_and_the_level_are_those_of_the_readings():
    rows, truth, misses = posed(60, 5, 100.0)
    with precisely():
        found = weighed(jnp.asarray(rows), jnp.asarray(misses), 60, 0.0)
        mean, square, excess, said = jax.tree.map(np.asarray, found)
    np.testing.assert_allclose(mean, truth, atol=0.02)
    assert 70 < float(square) ** 0.5 < 140
    assert abs(float(excess)) < 5
    np.testing.assert_allclose(said.weights.sum(), 1.0)


def test_fields_have_the_mean_and_the_variance_of_the_unknowns():
    rows, _, misses = posed(40, 3, 1.0)
    with precisely():
        *_, said = weighed(jnp.asarray(rows), jnp.asarray(misses), 40, 0.0)
        mean, variance = map(np.asarray, fields_of(said, jnp.eye(3)[..., None]))
    found = np.linalg.lstsq(rows, misses, rcond=None)[0]
    np.testing.assert_allclose(mean[:, 0], found, atol=1e-6)
    exact = np.diag(np.linalg.inv(rows.T @ rows))
    assert (variance[:, 0] > 0.5 * exact).all()
    assert (variance[:, 0] < 5 * exact).all()


def test_readings_that_a_law_has_no_part_in_leave_it_as_it_was():
    with precisely():
        *_, said = weighed(jnp.zeros((4, 2)), jnp.zeros(4), 4, 0.0)
        mean, variance = map(np.asarray, fields_of(said, jnp.eye(2)[..., None]))
    np.testing.assert_allclose(mean, 0.0)
    np.testing.assert_allclose(variance, 1.0)
