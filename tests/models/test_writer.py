"""The network that writes a network."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.network import UnitReadings
from pgt.models.writer import LEAST_NOISE, Writer, WriterSizes
from pgt.nn.draw import Draw
from pgt.nn.embedding import Embedding, MovingEmbedding

# Compiled: operation by operation each of them takes seconds.
encode = eqx.filter_jit(lambda network, seen: network.encode(seen))
decode = eqx.filter_jit(lambda network, written, z: network.decode(written, z))
spread = eqx.filter_jit(lambda network, written, z: network.spread(written, z))

SIZES = WriterSizes(width=8, blocks=1, heads=2, basis=6, layers=2)


def readings(count=12, fields=1, seed=0, hidden=()):
    random = np.random.default_rng(seed)
    points = jnp.asarray(random.uniform(-1, 1, (count, 2)), jnp.float32)
    values = jnp.asarray(random.normal(size=(count, fields)), jnp.float32)
    mask = jnp.ones((count, fields), bool).at[:, list(hidden)].set(False)
    gamma = lambda a, b: jnp.zeros((1, len(a), len(b)))  # noqa: E731
    return UnitReadings(points, jnp.where(mask, values, 0.0), mask, gamma, jnp.array([0.3]))


def writer(fields=1, periodic=(False, False)):
    return Writer(Embedding(periodic), fields, 1, SIZES, Draw(0))


def basis_at(layers, points):
    h = jnp.sin(points @ layers.first_weight.T + layers.first_bias)
    for weight, bias in zip(layers.hidden_weight, layers.hidden_bias, strict=True):
        h = jnp.sin(h @ weight.T + bias)
    return jnp.concatenate([h, jnp.ones((len(points), 1))], axis=1)


def test_the_readout_is_the_mean_of_the_gaussian_that_numpy_finds():
    seen, network = readings(), writer()
    written = encode(network, seen)
    told = network.told(seen)
    basis = np.asarray(basis_at(written.network.layers, seen.points), float)
    along = np.asarray(written.directions[0], float)
    middle = np.asarray(network.middle(told), float)
    covariance = along @ along.T
    # What is factored has more noise than what is told, which the further solves take off again.
    sigma = np.sqrt(float(written.sigma) ** 2 - LEAST_NOISE**2)
    gram = basis @ covariance @ basis.T + sigma**2 * np.eye(len(basis))
    misses = np.asarray(seen.values[:, 0], float) - basis @ middle
    expected = middle + covariance @ basis.T @ np.linalg.solve(gram, misses)
    layers = written.network.layers
    found = np.append(np.asarray(layers.readout[0]), float(layers.offset[0]))
    np.testing.assert_allclose(found, expected, atol=1e-3)


def test_the_spread_is_that_of_the_gaussian():
    seen, network = readings(), writer()
    written = encode(network, seen)
    z = jnp.array([0.2, -0.4])
    basis = np.asarray(basis_at(written.network.layers, seen.points), float)
    here = np.asarray(basis_at(written.network.layers, z[None]), float)[0]
    along, sigma = np.asarray(written.directions[0], float), float(written.sigma)
    covariance = along @ along.T
    gram = basis @ covariance @ basis.T + sigma**2 * np.eye(len(basis))
    cross = basis @ covariance @ here
    variance = here @ covariance @ here - cross @ np.linalg.solve(gram, cross)
    factor, more = np.exp(np.asarray(written.doubt, float))
    expected = np.hypot(factor * np.sqrt(variance), more)
    assert float(spread(network, written, z)[0]) == pytest.approx(expected, rel=1e-2)


def test_it_passes_through_clean_readings_that_its_basis_can_represent():
    network = writer()
    network = eqx.tree_at(lambda w: w.noise.bias, network, jnp.array([-20.0]))
    seen = readings(count=5)
    written = encode(network, seen)
    assert float(written.sigma) == pytest.approx(LEAST_NOISE, rel=1e-3)
    answers = jax.vmap(lambda z: decode(network, written, z))(seen.points)
    np.testing.assert_allclose(answers, seen.values, atol=0.1)


def test_the_order_of_readings_does_not_matter():
    seen, network = readings(), writer()
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
    seen, network = readings(), writer()
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
    network = writer(fields=2)
    seen = readings(fields=2, hidden=(1,))
    slope = eqx.filter_jit(
        eqx.filter_grad(lambda w: jnp.sum(w.decode(w.encode(seen), jnp.array([0.3, 0.1])) ** 2))
    )(network)
    assert all(bool(jnp.isfinite(leaf).all()) for leaf in jax.tree.leaves(slope))


def test_what_is_written_is_a_siren_that_a_frame_takes():
    data = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    scaling = pgt.Scaling.fit(data, pgt.Domain(x=(0, 1), t=(0, 1)))
    network = Writer(Embedding((False, False)), 1, 0, SIZES, Draw(0))
    seen = pgt.Frame(scaling, network).unit_readings(data)
    written = encode(network, seen)
    model = pgt.Frame(scaling, written.network)
    z = np.array([0.3, 0.4])
    expected = scaling.to_physical(decode(network, written, jnp.asarray(scaling.to_unit(z))))
    np.testing.assert_allclose(model.decode((), jnp.asarray(z)), expected, rtol=1e-5)


def test_a_periodic_axis_repeats():
    network, seen = writer(periodic=(True, False)), readings()
    written = encode(network, seen)
    ends = [decode(network, written, jnp.array([x, 0.2])) for x in (-1.0, 1.0)]
    np.testing.assert_allclose(*ends, atol=1e-5)


def test_a_pattern_that_moves_is_written_by_somebody_who_moves_along():
    network = writer(periodic=(True, False))
    network = eqx.tree_at(lambda w: w.pace.slope, network, jnp.array([[2.0]]))
    written = encode(network, readings())
    drift, layers = written.network.embedding.drift, written.network.layers
    np.testing.assert_allclose(drift, [0.6, 0.0], rtol=1e-6)
    moving = MovingEmbedding((True, False), drift)
    z = jnp.array([0.4, 0.5])
    np.testing.assert_allclose(decode(network, written, z), layers(moving(z)), rtol=1e-4, atol=1e-5)


def test_how_fast_a_wave_swings_is_modulated_apart_from_how_long_it_is():
    network = writer()
    told = jnp.ones(network.modulation.weight.shape[1])
    plain = network._basis(jnp.zeros_like(told), jnp.zeros(1)).layers.first_weight
    ratio = np.asarray(network._basis(told, jnp.zeros(1)).layers.first_weight / plain)
    assert np.abs(ratio[:, 0] - ratio[:, 1]).max() > 1e-3


def test_a_mode_that_fades_at_once_is_read_off_a_few_readings():
    sizes = SIZES._replace(modes=2)
    network = Writer(Embedding((False, False)), 1, 1, sizes, Draw(0))
    network = eqx.tree_at(
        lambda w: (w.noise.bias, w.modes.fading.start),
        network,
        (jnp.array([-20.0]), jnp.asarray(2.5)),
    )
    waves, seen = network.modes(jnp.array([0.3])), readings(count=20)
    points = seen.points.at[:6, 1].set(-1 + 0.05 * jnp.arange(6))
    values = jax.vmap(waves)(points)[:, :1]
    seen = eqx.tree_at(lambda r: (r.points, r.values), seen, (points, values))
    written, z = encode(network, seen), jnp.array([0.35, -0.96])
    np.testing.assert_allclose(decode(network, written, z), waves(z)[:1], atol=2e-2)
