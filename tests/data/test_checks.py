"""What users pass is checked: names, noise, readings outside and repeated places."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.data import Domain, _checks
from pgt.data._checks import as_noise, check_axis, check_names


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


def test_names_are_strings_each_once():
    assert check_names("fields", "u") == ("u",)
    for names, message in (((), "is empty"), (("u", " "), "not a name"), (("u", "u"), "twice")):
        with pytest.raises(InputError, match=f"`fields`.*{message}"):
            check_names("fields", names)


def test_noise_is_told_by_number_field_or_reading():
    mask = np.array([[True, False], [True, True]])
    np.testing.assert_array_equal(as_noise(None, ("u", "v"), mask), np.zeros((2, 2)))
    np.testing.assert_array_equal(as_noise(0.5, ("u", "v"), mask), 0.5 * mask)
    np.testing.assert_array_equal(as_noise({"u": [1, 2]}, ("u", "v"), mask), [[1, 0], [2, 0]])
    with pytest.raises(InputError, match="row 1, is -1"):
        as_noise([[1, 1], [-1, 1]], ("u", "v"), mask)


def test_readings_outside_are_counted_and_the_first_shown():
    domain, half = Domain(x=(0, 1)), np.zeros(5)
    check_axis("x", np.array([0.0, 1.0 + 1e-12, 0.5, 1.0, 0.2]), half, domain)
    with pytest.raises(InputError, match=r"4 reading.*row 0: x = -1, row 1: x = 2, row 2: x = 3"):
        check_axis("x", np.array([-1.0, 2.0, 3.0, 4.0, 0.5]), half, domain)
    with pytest.raises(InputError, match=r"x = 0\.9 ± 0\.2"):
        check_axis("x", np.full(5, 0.9), half + 0.2, domain)
