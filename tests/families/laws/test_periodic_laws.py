"""Waves that steepen: against Cole and Hopf, and by their law."""

import grid_residuals
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from exact_solutions.scalar import allen_cahn_front

from pgt.families.laws.periodic_laws import (
    DURATION,
    LENGTH,
    SPREADS,
    BurgersFamily,
    KuramotoSivashinskyFamily,
    NavierStokesFamily,
    evolve_allen_cahn,
    evolve_kuramoto_sivashinsky,
)
from pgt.families.laws.pseudo_spectral import Ring
from pgt.families.laws.solved import ring_field


def cole_hopf(start, viscosity, nodes, t):
    """u = ∫ (x - y)/t e^(-G/2ν) dy / ∫ e^(-G/2ν) dy,  G = ∫₀ʸ u₀ + (x - y)²/2t, over five periods."""
    n = start.size
    waves = np.fft.rfft(start)
    waves[1:] /= 2j * np.pi * np.arange(1, waves.size)
    potential = np.tile(np.fft.irfft(waves, n), 5)
    y = np.arange(-2 * n, 3 * n) / n
    apart = np.asarray(nodes)[:, None] - y
    exponent = -(potential + apart**2 / (2 * t)) / (2 * viscosity)
    weights = np.exp(exponent - exponent.max(axis=1, keepdims=True))
    return (weights * apart).sum(1) / weights.sum(1) / t


def noise_of(key):
    return jax.random.normal(jax.random.split(key, 2)[0], BurgersFamily.noise_shape)


@pytest.fixture(scope="module")
def drawn():
    family = BurgersFamily()
    draw = jax.jit(jax.vmap(lambda key: family.draw(key, {"viscosity": 0.005})))
    keys = jax.random.split(jax.random.key(0), 24)
    return family, keys, np.asarray(draw(keys).values)[..., 0]


def test_fronts_are_those_of_cole_and_hopf(drawn):
    # At the least viscosity; measured: 2e-6 of the spread at the worst of these 24, 2e-5 of 200.
    family, keys, values = drawn
    for i in range(24):
        start = np.asarray(ring_field(noise_of(keys[i]), SPREADS, 1024), float)
        for row, t in ((16, 0.25), (64, 1.0)):
            exact = cole_hopf(start, 0.005, family.axes["x"], t)
            assert np.abs(values[i, :, row] - exact).max() < 1e-4 * np.std(start)


def test_the_state_has_the_law_it_names(drawn):
    _, _, values = drawn
    assert np.abs(values[:, :, 1:].mean(axis=1)).max() < 1e-5  # momentum is kept
    many = jax.jit(jax.vmap(lambda noise: ring_field(noise, SPREADS, 32)))
    starts = np.asarray(many(jax.random.normal(jax.random.key(1), (4000, 2, 64))))
    np.testing.assert_allclose(starts.var(), (SPREADS**2).sum(), rtol=0.05)


X = np.arange(512) / 512


def test_a_front_invades_at_its_speed():
    # 1 invading the unstable 0 from x = 0.5 both ways; so thin that the two do not feel each other.
    front = allen_cahn_front(2e-4, 2.0)
    outside = np.abs(X - 0.5) - 0.2
    places = [jnp.stack([outside, jnp.full(512, t)], axis=1) for t in (0.0, 1.0)]
    exact = [np.asarray(jax.vmap(front)(z))[:, 0] for z in places]
    found = jax.jit(
        lambda: evolve_allen_cahn(Ring(512, 5, degree=3), jnp.asarray(exact[0]), 2e-4, 2.0)
    )()
    assert np.abs(np.asarray(found)[:, -1, 0] - exact[1]).max() < 2e-5
    assert np.abs(exact[1] - exact[0]).max() > 0.3


def front(x, t, diffusivity, reaction):
    """(1 + exp(√(r/6D) x - 5rt/6))⁻²: Ablowitz and Zeppetella (1979)."""
    return (1 + np.exp(np.sqrt(reaction / (6 * diffusivity)) * x - 5 / 6 * reaction * t)) ** -2.0


def test_the_field_solves_the_equation():
    family = KuramotoSivashinskyFamily(nodes=256, times=641)
    left, scale = grid_residuals.residuals(family, jax.random.key(1), {"hyperviscosity": 0.7})
    assert np.abs(left["equation"]).max() < 1e-4 * scale["u_xxxx"]


def test_a_refined_run_in_double_precision_agrees():
    family = KuramotoSivashinskyFamily(nodes=128, times=9)
    draw = jax.jit(jax.vmap(lambda key: family.draw(key, {"hyperviscosity": 0.7})))
    values = np.asarray(draw(jax.random.split(jax.random.key(0), 8)).values)[..., 0]
    finer = Ring(128, 9, length=LENGTH, duration=DURATION, least=256, steps=1280)
    starts = 2 * np.fft.irfft(np.fft.rfft(values[:, :, 0].astype(float)), 256)
    with jax.enable_x64(True):
        refined = jax.jit(jax.vmap(lambda u: evolve_kuramoto_sivashinsky(finer, u, 0.7)))(
            jnp.asarray(starts)
        )[..., 0]
    # Chaos multiplies what single precision rounds; measured: 3e-5 of the spread at the worst of 64.
    assert np.abs(values - np.asarray(refined)).max() < 1e-4 * values.std()
    assert 0.8 < values.std() < 1.8


def test_velocity_and_pressure_solve_the_equations_under_the_force():
    family = NavierStokesFamily(nodes=128, times=9, duration=0.2)
    left, scale = grid_residuals.residuals(family, jax.random.key(1), {"viscosity": 0.005})
    for row in ("momentum_x", "momentum_y"):
        assert np.sqrt(np.mean(left[row] ** 2)) < 2e-3 * scale["p_x"]
    assert np.abs(left["continuity"]).max() < 1e-3 * scale["u_x"]
