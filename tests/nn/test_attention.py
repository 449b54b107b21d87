"""Attention is a softmax, also where logits are large and tokens invisible."""

import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.nn.attention import Block, Mlp, Norm, Stack, activate, attend, with_one
from pgt.nn.layers import Draw


def test_attention_is_softmax():
    random = np.random.default_rng(0)
    query, keys, values = (random.normal(size=s) for s in ((2, 4), (5, 2, 4), (5, 2, 4)))
    bias = random.normal(size=(2, 5))
    bias[:, 3] = -np.inf
    logits = np.einsum("hk,mhk->hm", query, keys) / 2 + bias
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    expected = np.einsum("hm,mhk->hk", weights, values)
    query, keys, values, bias = (jnp.asarray(a, jnp.float32) for a in (query, keys, values, bias))
    np.testing.assert_allclose(attend(query, keys, with_one(values), bias), expected, atol=1e-5)
    # Large logits do not overflow, and an invisible value is multiplied by exactly zero.
    poisoned = values.at[3].set(1e30)
    big = attend(100 * query, 100 * keys, with_one(poisoned), bias)
    assert np.isfinite(big).all()
    assert np.abs(big).max() < 10


# ------------------------------------------------------------------------------- the block

X = np.array([1.0, -2.0, 4.0], np.float32)


def test_a_normalised_token_has_no_mean_and_unit_variance():
    token = np.asarray(Norm(3)(jnp.asarray(X)))
    np.testing.assert_allclose(token, (X - X.mean()) / X.std(), rtol=1e-4)
    np.testing.assert_array_equal(Norm(3)(jnp.full(3, 5.0)), 0.0)


def test_an_unknown_activation_is_refused_and_the_known_ones_are_named():
    with pytest.raises(pgt.InputError, match=r"'relu'.*gelu, sine, tanh"):
        activate("relu", jnp.asarray(X))
    with pytest.raises(pgt.InputError, match="'Tanh'"):
        Mlp(3, 4, 2, "Tanh", Draw(0))(jnp.asarray(X))


def test_a_block_adds_attention_and_mlp_of_the_normalised_tokens_side_by_side():
    block = Block(4, 2, Draw(0))
    tokens = jnp.asarray(np.random.default_rng(0).normal(size=(3, 4)), jnp.float32)
    bias = jnp.zeros((1, 3, 3))
    normed = jnp.stack([block.norm(token) for token in tokens])
    mlp = jnp.stack([block.mlp(token) for token in normed])
    expected = tokens + block.attention(normed, normed, bias) + mlp
    np.testing.assert_allclose(block(tokens, bias), expected, rtol=1e-5, atol=1e-6)


def test_a_token_does_not_hear_one_that_is_invisible_to_it():
    block = Block(4, 2, Draw(0))
    tokens = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
    bias = np.zeros((1, 3, 3), np.float32)
    bias[0, 0, 2] = -np.inf
    moved = tokens.copy()
    moved[2, 0] += 1.0
    before, after = (np.asarray(block(jnp.asarray(t), jnp.asarray(bias))) for t in (tokens, moved))
    np.testing.assert_array_equal(before[0], after[0])
    assert np.abs(before[1] - after[1]).max() > 1e-4


# ------------------------------------------------------------------------------- stacks of layers


def test_the_readout_is_linear():
    layers = Stack(
        first_weight=jnp.array([[1.0]]),
        first_bias=jnp.array([0.0]),
        hidden_weight=jnp.zeros((0, 1, 1)),
        hidden_bias=jnp.zeros((0, 1)),
        readout=jnp.array([[100.0]]),
        offset=jnp.array([-1.0]),
        activation="sine",
    )
    assert layers(jnp.array([np.pi / 2])).tolist() == pytest.approx([99.0])
