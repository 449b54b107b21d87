"""Layers: the same weights from the same seed, periodic axes, and sines to the last digit."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.nn.layers import (
    Draw,
    Embedding,
    MovingEmbedding,
    cos,
    sin,
)


def test_one_seed_draws_the_same_arrays_in_the_same_order():
    first, again, other = Draw(3), Draw(3), Draw(4)
    a, b = first.normal((2, 3), 1.0), first.uniform((2, 3), 1.0)
    np.testing.assert_array_equal(again.normal((2, 3), 1.0), a)
    np.testing.assert_array_equal(again.uniform((2, 3), 1.0), b)
    assert np.all(other.normal((2, 3), 1.0) != a)


# ------------------------------------------------------------------------------- embedding

POINTS = np.random.default_rng(0).uniform(-1, 1, (6, 3))


@pytest.mark.parametrize("periodic", [(True, False, False), (False, True, True)])
def test_a_periodic_axis_is_an_angle_from_minus_pi_to_pi(periodic):
    with jax.enable_x64(True):
        seen = np.asarray(jax.vmap(Embedding(periodic))(jnp.asarray(POINTS)))
    assert seen.shape[1] == Embedding(periodic).size == 3 + sum(periodic)
    columns = iter(seen.T)
    for wraps, unit in zip(periodic, POINTS.T, strict=True):
        if wraps:
            wave = next(columns) + 1j * next(columns)
            np.testing.assert_allclose(wave, np.exp(1j * np.pi * unit), atol=1e-12)
        else:
            np.testing.assert_array_equal(next(columns), unit)


def test_what_is_carried_along_stands_still_for_who_moves_with_it():
    moving = MovingEmbedding((True, False), drift=jnp.array([0.7, 0.0]))
    for time in (-0.5, 0.0, 0.8):
        seen = moving(jnp.array([0.2 + 0.7 * time, time]))
        np.testing.assert_allclose(seen[:2], Embedding((True,))(jnp.array([0.2])), atol=1e-6)
        assert float(seen[2]) == pytest.approx(time)


# ------------------------------------------------------------------------------- sine

BOTH = [pytest.param(sin, np.sin, id="sin"), pytest.param(cos, np.cos, id="cos")]
TURNS = np.linspace(-3000, 3000, 60_001)


@pytest.mark.parametrize(("ours", "exact"), BOTH)
def test_single_precision_is_right_to_the_last_digit_but_one(ours, exact):
    x = TURNS.astype(np.float32)
    np.testing.assert_allclose(jax.jit(ours)(x), exact(x.astype(float)), atol=2.5e-7, rtol=0)


@pytest.mark.parametrize(("ours", "exact"), BOTH)
def test_double_precision_is_right_to_the_last_digit_but_one(ours, exact):
    with jax.enable_x64(True):
        np.testing.assert_allclose(jax.jit(ours)(TURNS), exact(TURNS), atol=6e-16, rtol=0)


@pytest.mark.parametrize(("ours", "exact"), BOTH)
def test_what_is_not_finite_has_none(ours, exact):
    assert np.isnan(np.asarray(ours(jnp.asarray([np.nan, np.inf, -np.inf])))).all()


def test_derivatives_of_all_orders_go_round():
    with jax.enable_x64(True):
        x, derived = jnp.linspace(-4.0, 4.0, 17), [sin]
        for _ in range(4):
            derived.append(jax.grad(derived[-1]))
        found = [jax.vmap(function)(x) for function in derived]
    round_about = [np.sin(x), np.cos(x), -np.sin(x), -np.cos(x), np.sin(x)]
    np.testing.assert_allclose(found, round_about, atol=1e-15)
