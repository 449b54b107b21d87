"""The network that produces a network, and the SIREN that it produces."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.models.field_model import UnitReadings
from pgt.models.hypernetwork import (
    MIN_NOISE,
    HyperSiren,
    HyperSirenSizes,
    Modes,
)
from pgt.nn.layers import Draw, Embedding


def derivatives(waves, z):
    """Values, first along the last axis, second along both."""
    one = jnp.array([1.0, 0.0]), jnp.array([0.0, 1.0])

    def along(f, direction):
        return lambda z: jax.jvp(f, (z,), (direction,))[1]

    over_x, over_t = along(along(waves, one[0]), one[0]), along(waves, one[1])
    return waves(z), over_t(z), over_x(z), along(over_t, one[1])(z)


def test_with_the_law_of_diffusion_every_wave_solves_the_heat_equation():
    modes = Modes((False, False), numbers=1, count=4, swings=False)
    # ν = 0.1 e^(2 n) in unit coordinates: rate = ν (k π / 2)².
    parts = (jnp.asarray(np.log(0.1 * np.pi**2 / 4)), jnp.array([2.0]))
    modes = eqx.tree_at(lambda m: (m.fading.start, m.fading.slope), modes, parts)
    value, over_t, over_xx, _ = derivatives(modes(jnp.array([0.5])), jnp.array([0.3, -0.6]))
    assert value.shape == (modes.size,) == (8,)
    np.testing.assert_allclose(over_t, 0.1 * np.e * over_xx, rtol=1e-4, atol=1e-5)


def test_with_the_law_of_sound_every_wave_solves_the_wave_equation():
    modes = Modes((True, False), numbers=1, count=3, swings=True)
    speed = 0.7
    parts = (jnp.asarray(-30.0), jnp.asarray(np.log(speed * np.pi)))
    modes = eqx.tree_at(lambda m: (m.fading.start, m.swinging.start), modes, parts)
    value, _, over_xx, over_tt = derivatives(modes(jnp.zeros(1)), jnp.array([0.3, 0.4]))
    assert value.shape == (modes.size,) == (12,)
    np.testing.assert_allclose(over_tt, speed**2 * over_xx, rtol=1e-3, atol=1e-2)


# ------------------------------------------------------------------------------- hypernetwork

# Compiled: operation by operation each of them takes seconds.
encode = eqx.filter_jit(lambda network, seen: network.encode(seen))
decode = eqx.filter_jit(lambda network, field, z: network.decode(field, z))
spread = eqx.filter_jit(lambda network, field, z: network.spread(field, z))

SIZES = HyperSirenSizes(width=8, blocks=1, heads=2, basis=6, layers=2)


def readings(count=12, fields=1, seed=0, hidden=()):
    random = np.random.default_rng(seed)
    points = jnp.asarray(random.uniform(-1, 1, (count, 2)), jnp.float32)
    values = jnp.asarray(random.normal(size=(count, fields)), jnp.float32)
    mask = jnp.ones((count, fields), bool).at[:, list(hidden)].set(False)
    gamma = lambda a, b: jnp.zeros((1, len(a), len(b)))  # noqa: E731
    return UnitReadings(points, jnp.where(mask, values, 0.0), mask, gamma, jnp.array([0.3]))


def network_of(fields=1, periodic=(False, False)):
    return HyperSiren(Embedding(periodic), fields, 1, SIZES, Draw(0))


def basis_at(layers, points):
    h = jnp.sin(points @ layers.first_weight.T + layers.first_bias)
    for weight, bias in zip(layers.hidden_weight, layers.hidden_bias, strict=True):
        h = jnp.sin(h @ weight.T + bias)
    return jnp.concatenate([h, jnp.ones((len(points), 1))], axis=1)


def test_the_readout_is_the_mean_of_the_gaussian_that_numpy_finds():
    seen, network = readings(), network_of()
    field = encode(network, seen)
    summary = network.summarize(seen)
    basis = np.asarray(basis_at(field.network.layers, seen.points), float)
    along = np.asarray(field.directions[0], float)
    middle = np.asarray(network.mean_head(summary), float)
    covariance = along @ along.T
    # What is factored has more noise than what is told, which the further solves take off again.
    sigma = np.sqrt(float(field.sigma) ** 2 - MIN_NOISE**2)
    gram = basis @ covariance @ basis.T + sigma**2 * np.eye(len(basis))
    misses = np.asarray(seen.values[:, 0], float) - basis @ middle
    expected = middle + covariance @ basis.T @ np.linalg.solve(gram, misses)
    layers = field.network.layers
    found = np.append(np.asarray(layers.readout[0]), float(layers.offset[0]))
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_the_spread_is_that_of_the_gaussian():
    seen, network = readings(), network_of()
    field = encode(network, seen)
    z = jnp.array([0.2, -0.4])
    basis = np.asarray(basis_at(field.network.layers, seen.points), float)
    here = np.asarray(basis_at(field.network.layers, z[None]), float)[0]
    along, sigma = np.asarray(field.directions[0], float), float(field.sigma)
    covariance = along @ along.T
    gram = basis @ covariance @ basis.T + sigma**2 * np.eye(len(basis))
    cross = basis @ covariance @ here
    variance = here @ covariance @ here - cross @ np.linalg.solve(gram, cross)
    factor, more = np.exp(np.asarray(field.correction, float))
    expected = np.hypot(factor * np.sqrt(variance), more)
    assert float(spread(network, field, z)[0]) == pytest.approx(expected, rel=1e-2)


def test_the_order_of_readings_does_not_matter():
    seen, network = readings(), network_of()
    order = np.random.default_rng(1).permutation(12)
    other = eqx.tree_at(
        lambda r: (r.points, r.values, r.mask),
        seen,
        (seen.points[order], seen.values[order], seen.mask[order]),
    )
    z = jnp.array([0.1, 0.5])
    np.testing.assert_allclose(
        decode(network, encode(network, seen), z),
        decode(network, encode(network, other), z),
        atol=1e-4,
    )


def test_padding_says_nothing():
    seen, network = readings(), network_of()
    padded = UnitReadings(
        jnp.pad(seen.points, ((0, 4), (0, 0))),
        jnp.pad(seen.values, ((0, 4), (0, 0))),
        jnp.pad(seen.mask, ((0, 4), (0, 0))),
        seen.gamma,
        seen.numbers,
    )
    z = jnp.array([0.1, 0.5])
    one, two = encode(network, seen), encode(network, padded)
    np.testing.assert_allclose(decode(network, one, z), decode(network, two, z), atol=1e-4)
    np.testing.assert_allclose(spread(network, one, z), spread(network, two, z), rtol=1e-4)
