"""What is special about a PGT."""

import jax.numpy as jnp
import numpy as np
import pytest
from few_readings import DOMAINS, POINTS, changed, field, readings

from pgt.core.errors import InputError
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.kernels.composition import NoKernel
from pgt.kernels.kernel import AbstractKernel
from pgt.models.pgt import PGT
from pgt.nn.frozen import count_parameters
from pgt.nn.scaling import Scaling
from pgt.physics import Heat, NavierStokes2D


def build(kernel=None, **options):
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    sizes = {"width": 8, "heads": 2, "decoder_width": 12, "decoder_layers": 2}
    return PGT(scaling, NoKernel() if kernel is None else kernel, **(sizes | options))


def test_sizes_of_the_defaults_stay_below_a_million():
    flow = Observations.from_arrays(
        np.random.default_rng(0).uniform(0, 1, (400, 3)), np.ones((400, 3)),
        coords=("x", "y", "t"), fields=("u", "v", "p"),
    )  # fmt: skip
    scaling = Scaling.fit(flow, Domain(x=(0, 1), y=(0, 1), t=(0, 1)))
    assert count_parameters(PGT(scaling, NavierStokes2D(0.01).kernel(), anchors=64)) < 1_000_000


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


def test_log_variance():
    model = build(variance_head=True)
    context = model.encode(readings())
    assert model.log_variance(context, POINTS[0]).shape == (2,)
    plain = build()
    with pytest.raises(InputError, match="variance_head=True"):
        plain.log_variance(plain.encode(readings()), POINTS[0])


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


def test_a_wrong_decoder_is_named():
    with pytest.raises(InputError, match="'film-siren', 'siren', 'film-mlp' or 'mlp'"):
        build(decoder="mpl")
