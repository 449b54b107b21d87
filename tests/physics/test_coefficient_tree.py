"""Coefficients: numbers or unknowns, and nothing else."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.core.unknown import Unknown
from pgt.physics.coefficient_tree import as_coefficient, current


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
