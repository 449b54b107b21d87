"""Families that compute their systems."""

import jax
import numpy as np
import pytest

import pgt
from pgt.families.heat import HeatFamily


def test_coefficients_that_are_given_are_those_of_the_system():
    system = HeatFamily().draw(jax.random.key(0), {"diffusivity": 0.5})  # outside of the range, too
    assert float(system.coefficients["diffusivity"]) == 0.5
    drawn = HeatFamily().draw(jax.random.key(0), {})
    assert 0.003 <= float(drawn.coefficients["diffusivity"]) <= 0.1


def test_the_state_does_not_depend_on_the_coefficients():
    one, other = (HeatFamily().draw(jax.random.key(0), {"diffusivity": v}) for v in (0.01, 0.02))
    np.testing.assert_array_equal(one.values[:, 0], other.values[:, 0])
    assert not np.allclose(one.values[:, -1], other.values[:, -1])


@pytest.mark.parametrize("bounds", [(0.1, 0.01), (0.0, 0.1)])
def test_ranges_go_upwards_from_above_zero(bounds):
    with pytest.raises(pgt.InputError, match="diffusivity"):
        HeatFamily(diffusivity=bounds)
