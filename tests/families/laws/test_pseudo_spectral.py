"""The scheme in time: its order, and its weights in single precision."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from exact_solutions.flow import taylor_green

from pgt.families.laws.pseudo_spectral import Ring, Torus, march, phi, torus_field


def test_the_functions_are_good_in_single_precision():
    z = np.concatenate([-np.logspace(-7, 3, 200), np.logspace(-7, 0.5, 80), [0.0]])
    found = jax.jit(phi)(jnp.asarray(z, jnp.float32))
    for order, values in enumerate(found, 1):
        exact = [_phi(float(np.float32(each)), order) for each in z]
        np.testing.assert_allclose(values, exact, rtol=3e-6)


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


def _phi(z, order):
    """By the series in exact powers near zero, and by the definition elsewhere."""
    if abs(z) < 2:
        return math.fsum(z**j / math.factorial(j + order) for j in range(40))
    value = math.exp(z) if z > -700 else 0.0
    for j in range(order):
        value = (value - 1 / math.factorial(j)) / z
    return value


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
