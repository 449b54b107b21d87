"""The scheme in time: its order, and its weights in single precision."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from exact_solutions.flow import taylor_green

from pgt.families.laws.pseudo_spectral import Ring, Torus, march, torus_field


def test_a_logistic_curve_is_met_to_fourth_order():
    errors = []
    with jax.enable_x64(True):
        for steps in (8, 16):
            rate, start = jnp.asarray([-1.0]), jnp.asarray([0.5 + 0j])
            # u_t = -u + u²: u = 1 / (1 + eᵗ (1 - u₀)/u₀)
            take = jax.jit(lambda u, n=steps, r=rate: march(u, r, lambda u: u**2, 3, 1.0, n))
            found = take(start)
            assert found.shape == (3, 1)
            errors.append(abs(complex(found[2, 0]) - 1 / (1 + math.e**2)))
    assert errors[1] < 1e-6
    assert 3.6 < math.log2(errors[0] / errors[1]) < 4.6


def test_what_is_linear_is_exact():
    rate = jnp.asarray([-3.0, -1e4])
    found = jax.jit(lambda u: march(u, rate, lambda u: 0 * u, 2, 1.0, 1))(jnp.ones(2, complex))
    np.testing.assert_allclose(found[1], np.exp([-3.0, -1e4]), atol=1e-7)


def test_products_do_not_alias_back():
    ring = Ring(64, 5)
    top = int(ring.kept.sum()) - 1
    wave = jnp.cos(2 * np.pi * top * jnp.arange(256) / 256)
    squared = jax.jit(lambda u: ring.spectrum(ring.values(ring.spectrum(u)) ** 2))(wave)
    assert np.abs(squared[1:]).max() < 1e-3 * abs(squared[0])


SIDE = 2 * np.pi  # of the square in which Taylor and Green's vortices have wavenumber 1


def grid(n):
    return np.meshgrid(np.arange(n) / n, np.arange(n) / n, indexing="ij")


def test_vortices_of_taylor_and_green_decay_with_their_pressure():
    # With lengths over 2π: velocities shrink alike, the viscosity by (2π)².
    torus, viscosity = Torus(16, least=32), 0.05
    x, y = grid(torus.fine)
    vorticity = 2 * np.cos(SIDE * x) * np.cos(SIDE * y)
    draw = jax.jit(lambda w: torus.flow(torus.evolve(w, viscosity / SIDE**2, 0 * w, 3, 1.0, 40)))
    found = np.asarray(draw(jnp.asarray(vorticity)))
    x, y = grid(16)
    for i, t in enumerate((0.0, 0.5, 1.0)):
        points = np.stack([SIDE * x.ravel(), SIDE * y.ravel(), np.full(256, t)], axis=1)
        exact = np.asarray(jax.vmap(taylor_green(viscosity))(jnp.asarray(points)))
        np.testing.assert_allclose(found[:, :, i, 0].ravel() * SIDE, exact[:, 0], atol=1e-5)
        np.testing.assert_allclose(found[:, :, i, 1].ravel() * SIDE, exact[:, 1], atol=1e-5)
        np.testing.assert_allclose(found[:, :, i, 2].ravel() * SIDE**2, exact[:, 2], atol=1e-5)


def test_a_torque_alone_turns_the_flow():
    # ω = q (1 - e^(-νk²t)) / νk², while the one wave does not carry itself.
    torus = Torus(16, least=32)
    x, y = grid(torus.fine)
    torque = np.sin(SIDE * (x + y))
    found = jax.jit(lambda w: torus.flow(torus.evolve(w, 0.01, torque, 2, 1.0, 10)))(
        jnp.zeros((32, 32))
    )
    rate = 0.01 * 2 * SIDE**2
    vorticity = torque * (1 - np.exp(-rate)) / rate
    u = SIDE * np.cos(SIDE * (x + y)) / (2 * SIDE**2) * (1 - np.exp(-rate)) / rate
    assert np.abs(vorticity).max() > 0.5
    np.testing.assert_allclose(np.asarray(found)[:, :, 1, 0], u[::2, ::2], atol=1e-5)


def test_the_field_has_its_covariance_and_is_the_same_on_more_nodes():
    noise = jax.random.normal(jax.random.key(0), (40, 128, 128))
    coarse = Torus(128)
    many = np.asarray(jax.jit(jax.vmap(lambda one: torus_field(one, coarse, 2.5, 7.0)))(noise))
    k = np.arange(-42, 43)
    square = (2 * np.pi) ** 2 * (k[:, None] ** 2 + k**2)
    expected = ((square + 49) ** -2.5)[square > 0].sum()
    np.testing.assert_allclose(many.var(), expected, rtol=0.1)
    assert np.abs(many.mean((1, 2))).max() < 1e-6
    fine = np.asarray(jax.jit(lambda one: torus_field(one, Torus(256), 2.5, 7.0))(noise[0]))
    np.testing.assert_allclose(many[0], fine[::2, ::2], atol=1e-4 * many[0].std())
