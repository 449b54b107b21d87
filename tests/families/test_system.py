"""One drawn system."""

import jax
import jax.numpy as jnp

from pgt.families.system import System


def test_systems_travel_through_vmap():
    system = System({"a": jnp.ones(())}, jnp.ones((3, 1)))
    many = jax.vmap(lambda scale: jax.tree.map(lambda leaf: scale * leaf, system))(jnp.arange(4.0))
    assert many.values.shape == (4, 3, 1)
    assert many.coefficients["a"].tolist() == [0, 1, 2, 3]
