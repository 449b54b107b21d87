"""The modulated decoder: its formula, its start, and the statistics of its sines."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.nn.draw import Draw
from pgt.nn.film import FilmDecoder


def test_film_starts_as_a_plain_siren():
    decoder = FilmDecoder(2, 1, 8, 16, 3, 8.0, "sine", Draw(0))
    z = jnp.asarray([0.3, -0.4])
    network = decoder.network
    h = np.sin(network.first_weight @ z + network.first_bias)
    for weight in network.hidden:
        h = np.sin(weight @ h)
    for context in np.random.default_rng(0).normal(size=(5, 2, 8)).astype(np.float32):
        value = decoder.answer(z, decoder.look(jnp.asarray(context[0]), jnp.asarray(context[1])))
        np.testing.assert_allclose(value, network.readout @ h, atol=0.01)


def test_film_is_the_formula():
    """α, β, ω read from the hypernetwork, layer by layer, in numpy."""
    decoder = FilmDecoder(2, 1, 4, 6, 2, 8.0, "sine", Draw(0))
    random = np.random.default_rng(1)
    decoder = eqx.tree_at(
        lambda d: (d.film_weight, d.film_bias, d.context_bias),
        decoder,
        tuple(
            jnp.asarray(random.normal(size=a.shape), jnp.float32)
            for a in (decoder.film_weight, decoder.film_bias, decoder.context_bias)
        ),
    )
    z, local, everywhere = (random.normal(size=n).astype(np.float32) for n in (2, 4, 4))
    context = np.tanh(
        decoder.context_weight @ np.concatenate([local, everywhere]) + decoder.context_bias
    )
    network = decoder.network
    h = np.sin(network.first_weight @ z + network.first_bias)
    for weight, film, bias in zip(
        network.hidden, decoder.film_weight, decoder.film_bias, strict=True
    ):
        alpha, beta, omega = np.split(film @ context + bias, 3)
        h = np.sin((1 + omega) * ((1 + alpha) * (weight @ h) + beta))
    value = decoder.answer(
        jnp.asarray(z), decoder.look(jnp.asarray(local), jnp.asarray(everywhere))
    )
    np.testing.assert_allclose(value, network.readout @ h + network.offset, atol=1e-5)


def test_siren_statistics():
    """Sitzmann et al. 2020, theorem 1.8: pre-activations N(0, 1), activations arcsine."""
    network = FilmDecoder(2, 1, 8, 512, 4, 30.0, "sine", Draw(0)).network
    z = np.random.default_rng(0).uniform(-1, 1, (2, 200))
    h = np.sin(network.first_weight @ z + np.asarray(network.first_bias)[:, None])
    for weight in network.hidden:
        pre = weight @ h
        # sin of N(0, s²) has variance (1 - e^(-2s²)) / 2, so s² settles at 0.8 rather than 1.
        assert 0.85 < np.std(pre) < 1.05
        assert np.mean(np.abs(pre) < np.std(pre)) == pytest.approx(0.683, abs=0.02)
        h = np.sin(pre)
        assert np.var(h) == pytest.approx((1 - np.exp(-2 * np.var(pre))) / 2, abs=0.02)
