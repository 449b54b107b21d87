"""Numbers that single precision cannot hold are refused, and only those."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.data import Domain, Observations
from pgt.data.single_precision import FARTHEST_ORIGIN, LARGEST_NUMBER, SMALLEST_NUMBER, check_limits

LINE = Domain(x=(0, 1))


def readings(values=(1.0, 2.0), **options):
    return Observations.from_arrays({"x": [0.2, 0.7]}, {"u": values}, **options)


def test_the_limits_are_where_products_still_have_digits():
    assert np.float32(LARGEST_NUMBER) * np.float32(100) < np.finfo(np.float32).max
    assert np.float32(SMALLEST_NUMBER) / np.float32(100) > np.finfo(np.float32).tiny
    near, far = (FARTHEST_ORIGIN + share for share in (0.5, 0.501))  # in double precision
    assert near < far  # a thousandth of the extent is still seen at the farthest offset


@pytest.mark.parametrize("factor", [1.0, 1e29, 1e-29])
def test_what_can_be_computed_with_passes(factor):
    check_limits(readings((factor, 0.0), noise=factor), LINE)
    check_limits(readings(), Domain(x=(0, factor)))
    check_limits(readings(), Domain(x=(9e3, 9e3 + 1)))
    check_limits(readings(), Domain(x=(9e10, 9e10 + 1)))


@pytest.mark.parametrize(
    ("given", "domain", "message"),
    [
        (readings((1.0, -1e31)), LINE, "field 'u', row 1: the largest value is 1e[+]31"),
        (readings((1e-31, 0.0)), LINE, "field 'u', row 0: the largest value is 1e-31"),
        (readings(noise=1e31), LINE, "the largest noise is 1e[+]31"),
        (readings(), Domain(x=(0, 1e31)), "axis x has the length 1e[+]31"),
        (readings(), Domain(x=(0, 1e-31)), "choose a unit in which"),
        (readings(), Domain(x=(1e12, 1e12 + 1)), "Count x from an origin nearer by"),
        (readings(), Domain(x=(-1e12 - 1, -1e12)), "axis x runs over"),
    ],
)
def test_what_cannot_is_named(given, domain, message):
    with pytest.raises(InputError, match=message):
        check_limits(given, domain)


def test_hidden_values_are_not_looked_at():
    hidden = Observations.from_arrays({"x": [0.2, 0.7]}, {"u": [1.0, 2.0], "v": [np.nan, 3.0]})
    check_limits(hidden, LINE)
