"""A field beside a fitted one: its values, its derivatives, and what it leaves to the base."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.linearised import LinearisedModel
from pgt.nn.trees import cast
from pgt.physics.derivatives import differentiate


@pytest.fixture(scope="module")
def linearised():
    points = np.random.default_rng(0).uniform(size=(20, 2))
    readings = pgt.Observations.from_arrays(
        points, np.sin(points @ [[3.0], [1.0]]), coords=("x", "t"), fields=("u",)
    )
    model = pgt.SIREN(
        pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1))), width=6, layers=2, frequency=4.0
    )
    with jax.enable_x64(True):
        base = cast(model, np.float64)
        random = np.random.default_rng(3)
        direction = jax.tree.map(
            lambda leaf: jnp.asarray(0.3 * random.standard_normal(leaf.shape)), base.tunable()
        )
        return base, LinearisedModel(base, direction)


def test_a_linearised_field_is_the_field_and_its_derivative_along_the_direction(linearised):
    base, model = linearised
    z, h = np.array([0.4, 0.7]), 1e-5

    def moved(step):
        part = jax.tree.map(lambda a, d: a + step * d, base.tunable(), model.direction)
        return eqx.tree_at(lambda m: m.tunable(), base, part).decode((), jnp.asarray(z))

    with jax.enable_x64(True):
        slope = (moved(h) - moved(-h)) / (2 * h)
        expected = np.asarray(moved(0.0) + slope)
        found = np.asarray(model.decode((), jnp.asarray(z)))
    assert np.abs(np.asarray(slope)).max() > 1e-2
    np.testing.assert_allclose(found, expected, atol=1e-8)


def test_derivatives_of_a_linearised_field_match_finite_differences(linearised):
    _, model = linearised
    with jax.enable_x64(True):

        def field(z):
            return model.decode((), z)

        z, h = jnp.asarray([0.4, 0.7]), 1e-4
        table = differentiate(field, ("u_t", "u_xx"), ("x", "t"), ("u",))(z)
        x, t = jnp.asarray([h, 0.0]), jnp.asarray([0.0, h])
        first = (field(z + t) - field(z - t)) / (2 * h)
        second = (field(z + x) - 2 * field(z) + field(z - x)) / h**2
        assert float(table("u_t")) == pytest.approx(float(first[0]), rel=1e-5)
        assert float(table("u_xx")) == pytest.approx(float(second[0]), rel=1e-5)
