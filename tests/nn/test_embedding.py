"""What a network sees of a point: the line as it is, the circle as a circle."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.nn.embedding import Embedding, MovingEmbedding

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
