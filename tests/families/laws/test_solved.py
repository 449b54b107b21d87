"""Families that compute their systems."""

import jax
import numpy as np
import pytest

import pgt
from pgt.families.assimilation import as_solved
from pgt.families.laws.solved import (
    as_coefficient,
    ring_field,
)
from pgt.families.laws.wave_sum_laws import HeatFamily


@pytest.mark.parametrize(
    "name",
    [
        "burgers",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("advection_diffusion", "darcy")),
    ],
)
def test_many_at_once_are_those_one_by_one(name):
    family = pgt.families.get(name, nodes=16)
    keys = jax.random.split(jax.random.key(3), 3)
    together, alone = jax.jit(jax.vmap(family.draw))(keys), jax.jit(family.draw)
    for i in range(3):
        one = alone(keys[i])
        size = np.abs(one.values).max()
        np.testing.assert_allclose(together.values[i], one.values, atol=1e-5 * size)
        assert one.coefficients.keys() == together.coefficients.keys()
        for coefficient, value in one.coefficients.items():
            np.testing.assert_allclose(together.coefficients[coefficient][i], value, rtol=1e-6)


@pytest.mark.parametrize("value", ["warm", "0.1", -0.1, 0.0, float("nan"), None, [0.1]])
def test_a_coefficient_that_is_no_number_above_zero_is_refused(value):
    with pytest.raises(pgt.InputError, match="write a number above 0"):
        as_coefficient("diffusivity", value)
    if isinstance(value, float):
        with pytest.raises(pgt.InputError, match="diffusivity is"):
            HeatFamily().draw(jax.random.key(0), {"diffusivity": value})


@pytest.mark.parametrize("name", ["heat", "advection_diffusion", "navier_stokes_2d", "poisson"])
def test_a_finer_grid_has_the_nodes_of_the_coarse_one(name):
    family = as_solved(pgt.families.get(name, nodes=8))
    fine = family.finer(3, 2).axes
    for axis, coarse in family.axes.items():
        np.testing.assert_allclose(fine[axis][:: 2 if axis == "t" else 3], coarse)


NOISE = jax.random.normal(jax.random.key(3), (4000, 2, 8))


def test_a_field_on_a_ring_is_the_same_on_finer_nodes():
    spreads = np.array([1.0, 0.5])
    noise = NOISE[0, :, :2]
    coarse, fine = ring_field(noise, spreads, 8), ring_field(noise, spreads, 32)
    np.testing.assert_allclose(coarse, fine[::4], atol=1e-6)
