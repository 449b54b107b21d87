"""Evolution on a ring."""

import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.ring import Ring


def test_there_are_more_nodes_inside_than_outside():
    assert Ring(64, 5).fine == 256
    assert Ring(100, 5).fine == 300
    assert Ring(512, 5).fine == Ring(64, 5, least=500).fine == 512


def test_products_do_not_alias_back():
    ring = Ring(64, 5)
    top = int(ring.kept.sum()) - 1
    wave = jnp.cos(2 * np.pi * top * jnp.arange(256) / 256)
    squared = jax.jit(lambda u: ring.spectrum(ring.values(ring.spectrum(u)) ** 2))(wave)
    assert np.abs(squared[1:]).max() < 1e-3 * abs(squared[0])


def test_advection_is_that_of_a_sine():
    # -u u_x of sin kx is -k/2 sin 2kx.
    ring = Ring(64, 5, length=2.0)
    x = np.arange(256) * 2 / 256
    carried = jax.jit(lambda u: ring.values(ring.advection(ring.spectrum(u))))
    found = carried(jnp.sin(np.pi * x))
    np.testing.assert_allclose(found, -np.pi / 2 * np.sin(2 * np.pi * x), atol=1e-4)


def test_diffusion_alone_is_exact():
    ring = Ring(64, 5, length=2.0, duration=0.5, steps=8)
    start = jnp.sin(np.pi * np.arange(256) * 2 / 256)
    spread = jax.jit(lambda u: ring.evolve(u, lambda k: -0.1 * k**2, lambda u: 0 * u))
    found = spread(start)
    assert found.shape == (64, 5, 1)
    exact = np.exp(-0.1 * np.pi**2 * 0.5) * start[::4]
    np.testing.assert_allclose(found[:, -1, 0], exact, atol=1e-6)
