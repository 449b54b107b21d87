"""sin and cos by series, against the C library's, with all their derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.nn.sine import cos, sin

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
