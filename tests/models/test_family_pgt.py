"""The transformer for many systems: attention weights are those of Γ, and padding is never seen."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.models.family_pgt import FamilyPGT, FamilyPGTSizes
from pgt.models.field_model import UnitReadings
from pgt.models.hypernetwork import octaves
from pgt.nn.layers import Draw, Embedding

SIZES = FamilyPGTSizes(width=8, blocks=1, heads=2, decoder_width=6, layers=2)
POINTS = jnp.asarray(np.random.default_rng(0).uniform(-1, 1, (6, 2)), jnp.float32)
VALUES = jnp.asarray(np.random.default_rng(1).normal(size=(6, 1)), jnp.float32)


@pytest.fixture(scope="module")
def network():
    return FamilyPGT(Embedding((False, False)), 1, 2, SIZES, Draw(0))


def none(receivers, sources):
    return jnp.zeros((1, len(receivers), len(sources)))


def seen(mask, gamma=none):
    return UnitReadings(POINTS, VALUES * mask, mask, gamma, jnp.array([0.3, -0.2]))


def answers(network, readings):
    field = eqx.filter_jit(network.encode)(readings)
    at = jnp.linspace(-1, 1, 10).reshape(5, 2)
    both = jax.vmap(lambda z: (network.decode(field, z), network.spread(field, z)))(at)
    return [np.asarray(part) for part in both]


def test_padding_changes_nothing(network):
    mask = (jnp.arange(6) < 4)[:, None]
    cut = jax.tree.map(lambda a: a[:4], (POINTS, VALUES, mask))
    short = UnitReadings(*cut, none, jnp.array([0.3, -0.2]))
    for a, b in zip(answers(network, seen(mask)), answers(network, short), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_gamma_acts_between_point_and_reading(network):
    """g(z) is softmax(q·k/√d + Γ) v, the global token without a bias; written out with NumPy."""

    def gamma(receivers, sources):
        gaps = jnp.sum((receivers[:, None] - sources) ** 2, axis=-1)
        return jnp.where(sources[:, 0] > 0, -3.0 * gaps, -jnp.inf)[None]

    z = jnp.array([0.2, -0.4])
    field = network.encode(seen(jnp.ones((6, 1), bool), gamma))
    keys, values = np.asarray(field.keys), np.asarray(field.values)[..., :-1]
    place = network.query(octaves(z)) + field.numbers
    asked = np.asarray(network.ask.weight @ place).reshape(2, 4)
    row = np.append(0.0, np.asarray(gamma(z[None], POINTS))[0, 0])
    logits = np.einsum("hk,mhk->hm", asked, keys) / 2 + row
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = np.einsum("hm,mhk->hk", shares, values).ravel()
    assert (shares[:, 1:][:, np.asarray(POINTS[:, 0]) <= 0] == 0).all()
    np.testing.assert_allclose(network._local(field, z), expected, atol=1e-5)
