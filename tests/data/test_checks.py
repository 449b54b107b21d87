"""What users pass becomes float64 columns; what cannot is named."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.data import _checks


def test_many_random_rows_are_grouped_as_a_dictionary_would():
    rows = np.random.default_rng(0).integers(0, 4, (200, 3)).astype(float)
    first = {}
    expected = [first.setdefault(tuple(row), i) for i, row in enumerate(rows.tolist())]
    assert _checks.first_equal_rows(rows).tolist() == expected


def test_both_rows_are_named_unless_they_read_different_fields():
    first = np.array([0, 1, 0])
    _checks.check_duplicates(
        first, np.array([[True, False], [True, True], [False, True]]), ("u", "v")
    )
    with pytest.raises(InputError, match="rows 0 and 2 both measure 'v'"):
        _checks.check_duplicates(
            first, np.array([[True, True], [True, True], [False, True]]), ("u", "v")
        )


def test_hidden_values_do_not_count_and_one_unknown_noise_makes_it_unknown():
    first, values = np.array([0, 0, 0]), np.array([[2.0], [4.0], [0.0]])
    mask = np.array([[True], [True], [False]])
    _, mean, _, sigma = _checks.mean_of_duplicates(
        first, values, mask, np.array([[0.3], [0.0], [0.0]])
    )
    assert (mean[0, 0], sigma[0, 0]) == (3.0, 0.0)
