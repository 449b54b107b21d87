"""Attention is a softmax, also where logits are large and tokens invisible."""

import jax.numpy as jnp
import numpy as np

from pgt.nn.attention import attend, with_one


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
