"""Families over one axis of space and time."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.families.laws.line import MODES, AbstractLine, amplitudes, ring_field, smooth_state

LINES = {"heat": False, "wave": False, "advection_diffusion": True, "burgers": True}


@pytest.mark.parametrize("name", LINES)
def test_a_ring_has_one_node_where_a_line_has_two_ends(name):
    family = pgt.families.get(name, nodes=8, times=5)
    assert isinstance(family, AbstractLine)
    assert family.domain.periodic == (("x",) if LINES[name] else ())
    assert family.axes["x"][-1] == (0.875 if LINES[name] else 1.0)
    assert family.axes["t"].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


NOISE = jax.random.normal(jax.random.key(3), (4000, 2, 8))


def test_amplitudes_fall_with_the_mode():
    found = np.asarray(amplitudes(NOISE))
    assert found.shape == (4000, 2, 8)
    np.testing.assert_allclose(found.std((0, 1)), 1 / (1 + (MODES / 3) ** 2), rtol=0.05)


def test_states_of_one_period_close_and_have_no_mean():
    x = np.arange(32) / 32
    found = np.asarray(jax.vmap(lambda noise: smooth_state(noise, x))(NOISE[:50]))
    assert np.abs(found.mean(1)).max() < 1e-5
    shifted = np.asarray(jax.vmap(lambda noise: smooth_state(noise, x + 1))(NOISE[:50]))
    np.testing.assert_allclose(found, shifted, atol=1e-4)


def test_a_field_on_a_ring_is_the_same_on_finer_nodes():
    spreads = np.array([1.0, 0.5])
    noise = NOISE[0, :, :2]
    coarse, fine = ring_field(noise, spreads, 8), ring_field(noise, spreads, 32)
    np.testing.assert_allclose(coarse, fine[::4], atol=1e-6)


def test_single_precision_comes_back_after_double():
    spreads = np.array([1.0, 0.5])
    with jax.enable_x64(True):
        double = eqx.filter_jit(lambda noise: ring_field(noise, spreads, 8))(jnp.ones((2, 2)))
    single = jax.jit(lambda noise: ring_field(noise, spreads, 8))(np.ones((2, 2), np.float32))
    assert (double.dtype, single.dtype) == (np.float64, np.float32)
