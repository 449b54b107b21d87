"""Two phases, against fronts that are known."""

import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.laws.allen_cahn_law import AllenCahnFamily, evolve
from pgt.families.laws.pseudo_spectral import Ring
from pgt.physics.exact.scalar import allen_cahn_front

X = np.arange(512) / 512


def test_a_front_invades_at_its_speed():
    # 1 invading the unstable 0 from x = 0.5 both ways; so thin that the two do not feel each other.
    front = allen_cahn_front(2e-4, 2.0)
    outside = np.abs(X - 0.5) - 0.2
    places = [jnp.stack([outside, jnp.full(512, t)], axis=1) for t in (0.0, 1.0)]
    exact = [np.asarray(jax.vmap(front)(z))[:, 0] for z in places]
    found = jax.jit(lambda: evolve(Ring(512, 5, degree=3), jnp.asarray(exact[0]), 2e-4, 2.0))()
    assert np.abs(np.asarray(found)[:, -1, 0] - exact[1]).max() < 2e-5
    assert np.abs(exact[1] - exact[0]).max() > 0.3


def test_phases_separate():
    family = AllenCahnFamily(nodes=64, times=3)
    given = {"diffusivity": 0.002, "reaction": 8.0}
    values = jax.jit(lambda key: family.draw(key, given))(jax.random.key(0)).values
    assert np.abs(np.abs(values[:, -1]) - 1).mean() < 0.5 * np.abs(np.abs(values[:, 0]) - 1).mean()


def test_single_precision_and_the_usual_nodes_suffice():
    family = AllenCahnFamily(nodes=256, times=5)
    given = {"diffusivity": 0.002, "reaction": 8.0}
    values = np.asarray(jax.jit(lambda key: family.draw(key, given))(jax.random.key(5)).values)
    start = np.fft.irfft(np.fft.rfft(values[:, 0, 0].astype(float)), 512) * 2
    finer = Ring(256, 5, degree=3, least=512, steps=1024)
    with jax.enable_x64(True):
        fine = jax.jit(lambda: evolve(finer, jnp.asarray(start), 0.002, 8.0))()
    # Measured: 1.8e-5 at the worst of 16.
    assert np.abs(values - np.asarray(fine)).max() < 3e-5
