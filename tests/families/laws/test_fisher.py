"""What grows and spreads, against the front of Ablowitz and Zeppetella."""

import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.laws.fisher import FisherFamily, evolve
from pgt.families.laws.pseudo_spectral import Ring

X = np.arange(512) / 512


def front(x, t, diffusivity, reaction):
    """(1 + exp(√(r/6D) x - 5rt/6))⁻²: Ablowitz and Zeppetella (1979)."""
    return (1 + np.exp(np.sqrt(reaction / (6 * diffusivity)) * x - 5 / 6 * reaction * t)) ** -2.0


def test_a_front_advances_at_its_speed():
    outside = np.abs(X - 0.5) - 0.2
    start, exact = (front(outside, t, 1e-4, 6.0) for t in (0.0, 1.0))
    with jax.enable_x64(True):  # rounding would grow where nothing lives
        found = jax.jit(lambda: evolve(Ring(512, 5), jnp.asarray(start), 1e-4, 6.0))()
    assert np.abs(np.asarray(found)[:, -1, 0] - exact).max() < 1e-7
    assert np.abs(exact - start).max() > 0.5


def test_single_precision_and_the_usual_nodes_suffice():
    family = FisherFamily(nodes=256, times=5)
    given = {"diffusivity": 0.001, "reaction": 10.0}
    values = np.asarray(jax.jit(lambda key: family.draw(key, given))(jax.random.key(0)).values)
    start = np.fft.irfft(np.fft.rfft(values[:, 0, 0].astype(float)), 512) * 2
    with jax.enable_x64(True):
        fine = jax.jit(
            lambda: evolve(Ring(256, 5, least=512, steps=1024), jnp.asarray(start), 0.001, 10.0)
        )()
    # Measured: 1.5e-5 at the worst of 16.
    assert np.abs(values - np.asarray(fine)).max() < 3e-5


def test_populations_stay_between_nothing_and_all():
    family = FisherFamily(nodes=64, times=5)
    values = jax.jit(jax.vmap(family.draw))(jax.random.split(jax.random.key(0), 8)).values
    assert (values > 0).all()
    assert (values < 1).all()
    assert (values[:, :, -1].mean(1) > values[:, :, 0].mean(1)).all()
