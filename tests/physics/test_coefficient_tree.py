"""Coefficients: numbers or unknowns, and nothing else."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown
from pgt.physics.coefficient_tree import as_coefficient, current, spatial


def test_whole_and_numpy_numbers_become_floats_and_unknowns_stay():
    for value in (2, 2.0, np.float32(2), np.array(2)):
        assert type(as_coefficient("here", value)) is float
        assert as_coefficient("here", value) == 2.0
    learnt = Unknown(0.3, positive=True)
    assert as_coefficient("here", learnt, positive=True) is learnt
    assert current(learnt) == pytest.approx(0.3)


@pytest.mark.parametrize("value", [True, "2", None, [1.0, 2.0], float("-inf")])
def test_what_is_not_a_number_is_shown_in_the_error(value):
    with pytest.raises(InputError, match=r"^Heat\(a\) is .* must be a finite number") as caught:
        as_coefficient("Heat(a)", value)
    assert repr(value) in str(caught.value)


def test_zero_is_not_positive():
    assert as_coefficient("here", 0) == 0.0
    for value in (0, Unknown(0.0)):
        with pytest.raises(InputError, match=r"is 0.0 but must be above 0"):
            as_coefficient("here", value, positive=True)


def test_axes_come_in_order():
    assert [spatial("here", n) for n in (1, 2, 3)] == [("x",), ("x", "y"), ("x", "y", "z")]
    with pytest.raises(InputError, match=r"^Heat\(dimension=0\): write 1, 2 or 3"):
        spatial("Heat", 0)
    assert spatial("here", 2, least=2) == ("x", "y")
    with pytest.raises(InputError, match=r"^Stokes\(dimension=1\): write 2 or 3"):
        spatial("Stokes", 1, least=2)
