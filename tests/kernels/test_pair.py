"""A pair of points: separation, lag, floors, masks, and which coefficients are refused."""

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.kernels._pair import (
    SIMULTANEOUS,
    displacement_and_lag,
    floored_lag,
    has_begun,
    known_positive,
    length,
    require_dimension,
    require_positive,
    visible_where,
)

RESOLUTION = np.array([0.1, 0.5])


def test_time_is_the_last_axis_and_runs_from_source_to_receiver():
    displacement, lag = displacement_and_lag(np.array([3.0, 1.0, 5.0]), np.array([1.0, 4.0, 3.0]))
    np.testing.assert_array_equal(displacement, [2.0, -3.0])
    assert lag == 2.0


@pytest.mark.parametrize(
    ("lag", "causal", "elapsed"),
    [(2.0, True, 2.0), (0.25, True, 0.5), (-2.0, True, 0.5), (-2.0, False, 2.0)],
)
def test_elapsed_time_is_floored_at_the_resolution(lag, causal, elapsed):
    assert floored_lag(jnp.asarray(lag), RESOLUTION, causal) == elapsed


def test_a_source_has_begun_up_to_a_small_part_of_the_resolution():
    allowance = SIMULTANEOUS * RESOLUTION[-1]
    assert has_begun(jnp.asarray(-0.9 * allowance), RESOLUTION)
    assert not has_begun(jnp.asarray(-1.1 * allowance), RESOLUTION)


def test_length_is_euclidean_and_has_no_slope_at_zero():
    assert length(jnp.array([3.0, -4.0])) == 5.0
    np.testing.assert_allclose(jax.grad(length)(jnp.array([3.0, -4.0])), [0.6, -0.8], rtol=1e-6)
    np.testing.assert_array_equal(jax.grad(length)(jnp.zeros(2)), [0.0, 0.0])


def test_what_is_invisible_has_no_influence_and_no_gradient():
    value, slope = jax.value_and_grad(lambda x: visible_where(x > 0, 2 * x)[0])(-1.0)
    assert (value, slope) == (-np.inf, 0.0)
    assert visible_where(jnp.asarray(True), jnp.asarray(-3.0)).tolist() == [-3.0]


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf, "fast", np.array([1.0, 0.0])])
def test_what_is_not_a_positive_number_is_known_not_to_be(value):
    assert not known_positive(value)
    with pytest.raises(InputError, match=r"SimpleNamespace\(speed=.*finite number above 0"):
        require_positive(SimpleNamespace(speed=value), "speed")


def test_a_traced_coefficient_cannot_be_looked_at_and_passes():
    seen = []
    jax.make_jaxpr(lambda value: seen.append(known_positive(value)))(-1.0)
    assert seen == [True]


def test_a_space_of_four_axes_is_refused_with_the_remedy():
    with pytest.raises(InputError, match=r"4 spatial axes; .* Give the spatial axes as \(x, t\)\."):
        require_dimension(SimpleNamespace(), 4, "(x, t)")
    for dimension in (1, 2, 3):
        require_dimension(SimpleNamespace(), dimension, "(x, t)")
