"""Starting weights: the same from the same seed, of the size that was asked for."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.nn.layers import (
    Complex,
    Draw,
    Embedding,
    MovingEmbedding,
    cos,
    first_weights,
    gabor,
    hidden_weights,
    phases,
    sin,
    zeros,
)


def test_one_seed_draws_the_same_arrays_in_the_same_order():
    first, again, other = Draw(3), Draw(3), Draw(4)
    a, b = first.normal((2, 3), 1.0), first.uniform((2, 3), 1.0)
    np.testing.assert_array_equal(again.normal((2, 3), 1.0), a)
    np.testing.assert_array_equal(again.uniform((2, 3), 1.0), b)
    assert np.all(other.normal((2, 3), 1.0) != a)


def test_two_draws_from_one_seed_differ():
    draw = Draw(0)
    assert np.all(draw.normal((4,), 1.0) != draw.normal((4,), 1.0))


def test_scale_is_a_deviation_and_bound_is_a_bound():
    normal, uniform = Draw(0).normal((10_000,), 0.3), Draw(0).uniform((10_000,), 0.3)
    assert np.std(normal) == pytest.approx(0.3, rel=0.05)
    assert np.mean(normal) == pytest.approx(0, abs=0.01)
    assert 0.299 < np.abs(uniform).max() <= 0.3
    assert np.std(uniform) == pytest.approx(0.3 / np.sqrt(3), rel=0.05)


def test_weights_are_in_single_precision():
    for array in (Draw(0).normal((2,), 1.0), Draw(0).uniform((2,), 1.0), zeros(2)):
        assert array.dtype == np.float32
    np.testing.assert_array_equal(zeros(2, 3), np.zeros((2, 3)))


# ------------------------------------------------------------------------------- embedding

POINTS = np.random.default_rng(0).uniform(-1, 1, (6, 3))


def test_without_periodic_axes_nothing_changes():
    seen = Embedding((False, False, False))
    np.testing.assert_array_equal(jax.vmap(seen)(jnp.float32(POINTS)), np.float32(POINTS))
    assert seen.size == 3


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


def test_both_ends_of_a_periodic_axis_are_one_point():
    low, high = (Embedding((True,))(jnp.array([end])) for end in (-1.0, 1.0))
    np.testing.assert_allclose(low, high, atol=1e-6)


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


@pytest.mark.parametrize(("ours", "exact"), BOTH)
def test_of_numbers_without_a_digit_behind_the_point_it_is_some_sine(ours, exact):
    far = np.array([1e7, -1e15, 3e38], np.float32)
    assert (np.abs(np.asarray(ours(jnp.asarray(far)))) <= 1).all()


def test_derivatives_of_all_orders_go_round():
    with jax.enable_x64(True):
        x, derived = jnp.linspace(-4.0, 4.0, 17), [sin]
        for _ in range(4):
            derived.append(jax.grad(derived[-1]))
        found = [jax.vmap(function)(x) for function in derived]
    round_about = [np.sin(x), np.cos(x), -np.sin(x), -np.cos(x), np.sin(x)]
    np.testing.assert_allclose(found, round_about, atol=1e-15)


# ------------------------------------------------------------------------------- sine layers


def assert_uniform(array, bound):
    assert 0.97 * bound < np.abs(array).max() <= bound * (1 + 1e-6)
    assert np.std(array) == pytest.approx(bound / np.sqrt(3), rel=0.1)


@pytest.mark.parametrize("inputs", [1, 3])
def test_first_weights_hold_the_frequency_shared_among_the_inputs(inputs):
    weights = first_weights(inputs, 400, 30.0, Draw(0))
    assert weights.shape == (400, inputs)
    assert_uniform(weights, 30.0 / inputs)


def test_hidden_weights_keep_the_variance_of_an_arcsine():
    weights = hidden_weights(2, 60, Draw(0))
    assert weights.shape == (2, 60, 60)
    assert_uniform(weights, np.sqrt(6 / 60))
    # width · var(w) · var(sine) with var(sine) = 1/2 is the variance before the next sine.
    assert 60 * np.var(weights) / 2 == pytest.approx(1, rel=0.05)


def test_every_phase_is_present():
    drawn = np.asarray(phases(1000, Draw(0)))
    assert_uniform(drawn, np.pi)
    assert np.histogram(drawn, bins=8, range=(-np.pi, np.pi))[0].min() > 80


# ------------------------------------------------------------------------------- gabor


def test_a_wavelet_far_out_is_zero():
    far = np.array([0, -1e3, 1e3, -1e15, 1e15], np.float32)
    wave = gabor(Complex(jnp.asarray(far[::-1]), jnp.asarray(far)), 20.0, 10.0)
    np.testing.assert_array_equal(wave.real, 0.0)
    np.testing.assert_array_equal(wave.imaginary, 0.0)
