"""The network that produces a network, and the SIREN that it produces."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.field_model import UnitReadings
from pgt.models.hypernetwork import (
    MIN_NOISE,
    HyperSiren,
    HyperSirenSizes,
    Modes,
    ModulatedSiren,
    Pace,
)
from pgt.nn.attention import Stack
from pgt.nn.layers import Draw, Embedding, MovingEmbedding, first_weights, hidden_weights, phases


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


def test_on_a_ring_waves_close():
    waves = Modes((True, False), numbers=1, count=5, swings=False)(jnp.zeros(1))
    ends = [waves(jnp.array([x, 0.1])) for x in (-1.0, 1.0)]
    np.testing.assert_allclose(*ends, atol=1e-5)


def test_there_are_none_over_more_axes():
    modes = Modes((True, True, False), numbers=2, count=5, swings=True)
    assert modes.size == 0
    assert modes(jnp.zeros(2))(jnp.zeros(3)).shape == (0,)


def test_what_fades_at_once_stays_finite():
    modes = Modes((False, False), numbers=1, count=30, swings=False)
    slope = jax.grad(lambda n: jnp.sum(modes(n)(jnp.array([0.2, -0.9]))))(jnp.array([50.0]))
    assert bool(jnp.isfinite(slope).all())


# ------------------------------------------------------------------------------- co moving


def test_a_speed_that_is_told_by_its_logarithm_is_found_again():
    pace = Pace((True, False), numbers=2)
    low, high = 0.2, 2.0
    middle, half = np.log(low * high) / 2, np.log(high / low) / 2
    parts = (jnp.array([np.exp(middle)]), jnp.array([[half, 0.0]]))
    pace = eqx.tree_at(lambda p: (p.gain, p.rate), pace, parts)
    for speed in (0.2, 0.7, 2.0):
        told = jnp.array([(np.log(speed) - middle) / half, 0.3])
        np.testing.assert_allclose(pace(told), [speed, 0.0], rtol=1e-5)


@pytest.mark.parametrize("periodic", [(False, False), (True, True)])
def test_nothing_moves_where_nothing_goes_round_in_time(periodic):
    pace = Pace(periodic, numbers=1)
    assert pace.gain.size == 0
    np.testing.assert_array_equal(pace(jnp.ones(1)), [0.0, 0.0])


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


def test_it_passes_through_clean_readings_that_its_basis_can_represent():
    network = network_of()
    network = eqx.tree_at(lambda w: w.noise_head.bias, network, jnp.array([-20.0]))
    seen = readings(count=5)
    field = encode(network, seen)
    assert float(field.sigma) == pytest.approx(MIN_NOISE, rel=1e-3)
    answers = jax.vmap(lambda z: decode(network, field, z))(seen.points)
    np.testing.assert_allclose(answers, seen.values, atol=0.1)


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


def test_a_hidden_field_is_answered_from_the_others():
    network = network_of(fields=2)
    seen = readings(fields=2, hidden=(1,))
    slope = eqx.filter_jit(
        eqx.filter_grad(lambda w: jnp.sum(w.decode(w.encode(seen), jnp.array([0.3, 0.1])) ** 2))
    )(network)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(slope))


def test_what_is_field_is_a_siren_that_a_frame_takes():
    data = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    scaling = pgt.Scaling.fit(data, pgt.Domain(x=(0, 1), t=(0, 1)))
    network = HyperSiren(Embedding((False, False)), 1, 0, SIZES, Draw(0))
    seen = pgt.extend.Frame(scaling, network).unit_readings(data)
    field = encode(network, seen)
    model = pgt.extend.Frame(scaling, field.network)
    z = np.array([0.3, 0.4])
    expected = scaling.to_physical(decode(network, field, jnp.asarray(scaling.to_unit(z))))
    np.testing.assert_allclose(model.decode((), jnp.asarray(z)), expected, rtol=1e-5)


def test_a_periodic_axis_repeats():
    network, seen = network_of(periodic=(True, False)), readings()
    field = encode(network, seen)
    ends = [decode(network, field, jnp.array([x, 0.2])) for x in (-1.0, 1.0)]
    np.testing.assert_allclose(*ends, atol=1e-5)


def test_a_pattern_that_moves_is_field_by_somebody_who_moves_along():
    network = network_of(periodic=(True, False))
    network = eqx.tree_at(lambda w: w.pace.slope, network, jnp.array([[2.0]]))
    field = encode(network, readings())
    drift, layers = field.network.embedding.drift, field.network.layers
    np.testing.assert_allclose(drift, [0.6, 0.0], rtol=1e-6)
    moving = MovingEmbedding((True, False), drift)
    z = jnp.array([0.4, 0.5])
    np.testing.assert_allclose(decode(network, field, z), layers(moving(z)), rtol=1e-4, atol=1e-5)


def test_how_fast_a_wave_swings_is_modulated_apart_from_how_long_it_is():
    network = network_of()
    summary = jnp.ones(network.modulation.weight.shape[1])
    plain = network._basis(jnp.zeros_like(summary), jnp.zeros(1)).layers.first_weight
    ratio = np.asarray(network._basis(summary, jnp.zeros(1)).layers.first_weight / plain)
    assert np.abs(ratio[:, 0] - ratio[:, 1]).max() > 1e-3


def test_a_mode_that_fades_at_once_is_read_off_a_few_readings():
    sizes = SIZES._replace(modes=2)
    network = HyperSiren(Embedding((False, False)), 1, 1, sizes, Draw(0))
    network = eqx.tree_at(
        lambda w: (w.noise_head.bias, w.modes.fading.start),
        network,
        (jnp.array([-20.0]), jnp.asarray(2.5)),
    )
    waves, seen = network.modes(jnp.array([0.3])), readings(count=20)
    points = seen.points.at[:6, 1].set(-1 + 0.05 * jnp.arange(6))
    values = jax.vmap(waves)(points)[:, :1]
    seen = eqx.tree_at(lambda r: (r.points, r.values), seen, (points, values))
    field, z = encode(network, seen), jnp.array([0.35, -0.96])
    np.testing.assert_allclose(decode(network, field, z), waves(z)[:1], atol=2e-2)


def siren(fields=2, width=5, drift=0.4):
    draw, zeros = Draw(0), jnp.zeros
    layers = Stack(
        first_weights(3, width, 6.0, draw), phases(width, draw), hidden_weights(1, width, draw),
        zeros((1, width)), zeros((fields, width)), zeros(fields), "sine",
    )  # fmt: skip
    waves = Modes((True, False), numbers=1, count=2, swings=False)(zeros(1))
    moving = MovingEmbedding((True, False), jnp.array([drift, 0.0]))
    return ModulatedSiren(moving, layers, waves, zeros((fields, 4)))


def test_the_field_is_a_sum_of_the_basis_functions():
    readout = jnp.asarray(np.random.default_rng(0).normal(size=(2, 10)), jnp.float32)
    found, z = siren().with_readout(readout), jnp.array([0.3, -0.2])
    assert found.features(z).shape == (10,)
    np.testing.assert_allclose(
        found.decode((), z), readout @ found.features(z), rtol=1e-4, atol=1e-5
    )


def test_its_waves_are_co_moving():
    found = siren(drift=0.4)
    at, later = found.features(jnp.array([0.1, -0.5])), found.features(jnp.array([0.5, 0.5]))
    left = np.exp(-np.asarray(found.waves.fading))
    np.testing.assert_allclose(later[5:9], np.tile(left, 2) * at[5:9], rtol=1e-4, atol=1e-6)


def test_layers_and_amplitudes_are_tunable():
    found = siren()
    layers, amplitudes = found.tunable()
    assert layers is found.layers
    assert amplitudes is found.amplitudes
