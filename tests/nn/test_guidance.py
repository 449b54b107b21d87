"""Cheaper forms of Γ are exact attention where nothing is left out of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.kernels import HeatKernel, NoKernel
from pgt.models.field_model import Gamma
from pgt.nn.attention import Attention
from pgt.nn.guidance import low_rank, nearest
from pgt.nn.layers import Draw
from pgt.nn.scaling import Scaling

COUNT = 24
POINTS = jnp.asarray(np.random.default_rng(0).uniform(-1, 1, (COUNT, 2)), jnp.float32)
TOKENS = jnp.asarray(np.random.default_rng(1).normal(size=(COUNT + 1, 8)), jnp.float32)
VISIBLE = jnp.ones(COUNT, bool).at[5].set(False)


def gamma(kernel):
    one = np.ones(2, np.float32)
    return Gamma(kernel, Scaling(0 * one, one, one[:1], one[:1], 0.2 * one, (False, False)))


def table(kernel):
    bias = jnp.pad(gamma(kernel)(POINTS, POINTS), ((0, 0), (1, 0), (1, 0)))
    return jnp.where(jnp.pad(VISIBLE, (1, 0), constant_values=True), bias, -jnp.inf)


def attended(bias, half=False):
    attention = Attention(8, 2, Draw(0), half)
    return np.asarray(jax.jit(lambda b: attention(TOKENS, TOKENS, b))(bias))


@pytest.mark.parametrize("kernel", [HeatKernel(0.05), NoKernel()], ids=["heat", "none"])
def test_all_neighbors_are_exact_attention(kernel):
    bias = table(kernel)
    np.testing.assert_allclose(
        attended(nearest(bias, POINTS, COUNT + 1)), attended(bias), atol=1e-5
    )


def test_neighbors_are_those_of_most_influence_and_the_global_token():
    bias = table(HeatKernel(0.05))
    found = nearest(bias, POINTS, 6)
    cut = np.full(bias.shape, -np.inf, np.float32)
    for row, which in enumerate(np.asarray(found.index)):
        order = np.argsort(-np.asarray(bias[0, row, 1:]), kind="stable")[:5]
        chosen = {0, *(order + 1).tolist()}
        seen = {k for k in which.tolist() if np.isfinite(bias[0, row, k])}
        assert seen == {k for k in chosen if np.isfinite(bias[0, row, k])}
        cut[0, row, sorted(seen)] = bias[0, row, sorted(seen)]
    np.testing.assert_allclose(attended(found), attended(jnp.asarray(cut)), atol=1e-5)


def test_tokens_of_equal_influence_are_chosen_by_distance():
    found = nearest(table(NoKernel()), POINTS, 4)
    squares = np.sum((np.asarray(POINTS)[:, None] - np.asarray(POINTS)) ** 2, axis=-1)
    squares[:, ~np.asarray(VISIBLE)] = np.inf
    expected = np.sort(np.argsort(squares, axis=1)[:, :3] + 1, axis=1)
    np.testing.assert_array_equal(np.sort(np.asarray(found.index)[1:, 1:], axis=1), expected)


def test_a_bias_of_low_rank_is_its_table():
    """A separable Γ is interpolated exactly; padding stays invisible."""

    def separable(receivers, sources):
        return -(1.0 + receivers[:, :1] ** 2) * (1.0 + sources[:, 0] ** 2)[None, None]

    bias = low_rank(separable, POINTS, POINTS[:5], VISIBLE)
    full = jnp.pad(separable(POINTS, POINTS), ((0, 0), (1, 0), (1, 0)))
    full = jnp.where(jnp.pad(VISIBLE, (1, 0), constant_values=True), full, -jnp.inf)
    np.testing.assert_allclose(attended(bias), attended(full), atol=1e-4)


def test_more_landmarks_interpolate_better():
    exact = attended(table(HeatKernel(2.0)))
    errors = []
    for count in (2, 8, 24):
        places = jnp.asarray(np.random.default_rng(2).uniform(-1, 1, (count, 2)), jnp.float32)
        errors.append(
            np.abs(
                attended(low_rank(gamma(HeatKernel(2.0)), POINTS, places, VISIBLE)) - exact
            ).max()
        )
    assert errors[2] < errors[0]


def test_half_precision_is_close_and_not_equal():
    bias = table(HeatKernel(0.05))
    error = np.abs(attended(bias, half=True) - attended(bias)).max() / np.abs(attended(bias)).max()
    assert 1e-5 < error < 2e-2
