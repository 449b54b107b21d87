"""What is special about a PGT."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from few_readings import DOMAINS, POINTS, changed, field, readings

from pgt.core.errors import InputError
from pgt.kernels.kernel import AbstractKernel, NoKernel
from pgt.models.pgt import PGT, FilmDecoder
from pgt.nn.layers import Draw
from pgt.nn.scaling import Scaling
from pgt.nn.trees import count_parameters
from pgt.physics import Heat


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


# ------------------------------------------------------------------------------- pgt


def build(kernel=None, **options):
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    sizes = {"width": 8, "heads": 2, "decoder_width": 12, "decoder_layers": 2}
    return PGT(scaling, NoKernel() if kernel is None else kernel, **(sizes | options))


class Zero(AbstractKernel):
    def log_influence(self, receiver, source, resolution):
        return jnp.zeros(1)


class Bump(AbstractKernel):
    def log_influence(self, receiver, source, resolution):
        return -5 * jnp.sum((receiver - source) ** 2)[None]


@pytest.mark.parametrize("anchors", [0, 6])
def test_the_kernel_is_the_bias_and_nothing_else(anchors):
    none, zero, bump = (
        field(build(k, anchors=anchors, seed=1), readings(), POINTS)
        for k in (NoKernel(), Zero(), Bump())
    )
    np.testing.assert_allclose(none, zero, atol=1e-6)
    # FiLM starts near the identity, so the context is felt weakly at first; but it is felt.
    assert np.abs(none - bump).max() > 1e-6


def test_a_causal_kernel_cannot_see_the_future():
    """Under the heat kernel a context token is made only of earlier readings."""
    # One block: the global token sees everything, and a second block would see the global token.
    model = build(Heat(0.5).kernel(), blocks=1)
    late = int(np.argmax(readings().points[:, 1]))
    values = readings().values.copy()
    values[late] += 100.0
    keys, moved = (model.encode(o).keys for o in (readings(), changed(readings(), values=values)))
    others = np.arange(9) != late
    np.testing.assert_allclose(keys[others], moved[others], atol=1e-5)
    assert np.abs(keys[late] - moved[late]).max() > 1e-3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"width": 9, "heads": 2}, "multiple of heads"),
        ({"blocks": 0}, "blocks must be a whole number from 1 up"),
        ({"decoder_layers": 0}, "decoder_layers must be a whole number from 1 up"),
        ({"anchors": -1}, "anchors must be a whole number from 0 up"),
        ({"heads": 0}, "heads"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(InputError, match=message):
        build(**options)


@pytest.mark.parametrize(
    "options", [{"attention": "nearest"}, {"attention": "low-rank"}, {"half": True}]
)
def test_cheaper_attention_answers_nearly_as_exact_attention(options):
    domain, observations = DOMAINS["open"], readings(40, fields=1)
    scaling, pde = Scaling.fit(observations, domain), Heat(0.1)
    sizes = {"width": 8, "heads": 2, "blocks": 1, "decoder_width": 8, "decoder_layers": 1}
    exact, cheap = (
        PGT(scaling, pde.kernel(), **sizes, **more) for more in ({}, {"attended": 60} | options)
    )
    z = jnp.asarray(observations.points[0])
    values = [float(m.decode(m.encode(observations), z)[0]) for m in (exact, cheap)]
    assert values[1] == pytest.approx(values[0], abs=0.05 * float(scaling.spread[0]))
    assert count_parameters(exact) == count_parameters(cheap)
