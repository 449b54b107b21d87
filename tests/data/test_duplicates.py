"""Readings of one field at one place: found, refused or averaged."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.data import _duplicates as duplicates


def test_equal_rows_are_grouped_under_the_first():
    rows = np.array([[0.0, 1.0], [2.0, 1.0], [-0.0, 1.0], [2.0, 1.0 + 1e-15]])
    assert duplicates.groups(rows).tolist() == [0, 1, 0, 3]


def test_many_random_rows_are_grouped_as_a_dictionary_would():
    rows = np.random.default_rng(0).integers(0, 4, (200, 3)).astype(float)
    first = {}
    expected = [first.setdefault(tuple(row), i) for i, row in enumerate(rows.tolist())]
    assert duplicates.groups(rows).tolist() == expected


def test_both_rows_are_named_unless_they_read_different_fields():
    first = np.array([0, 1, 0])
    duplicates.check(first, np.array([[True, False], [True, True], [False, True]]), ("u", "v"))
    with pytest.raises(InputError, match="rows 0 and 2 both measure 'v'"):
        duplicates.check(first, np.array([[True, True], [True, True], [False, True]]), ("u", "v"))


def test_the_mean_of_equal_noise_falls_with_the_root_of_the_count():
    first, mask = np.zeros(4, int), np.ones((4, 1), bool)
    values, noise = np.array([[1.0], [2.0], [3.0], [6.0]]), np.full((4, 1), 0.5)
    kept, mean, seen, sigma = duplicates.mean(first, values, mask, noise)
    assert (kept.tolist(), mean.tolist(), seen.tolist()) == ([0], [[3.0]], [[True]])
    assert sigma[0, 0] == pytest.approx(0.5 / 2)


def test_hidden_values_do_not_count_and_one_unknown_noise_makes_it_unknown():
    first, values = np.array([0, 0, 0]), np.array([[2.0], [4.0], [0.0]])
    mask = np.array([[True], [True], [False]])
    _, mean, _, sigma = duplicates.mean(first, values, mask, np.array([[0.3], [0.0], [0.0]]))
    assert (mean[0, 0], sigma[0, 0]) == (3.0, 0.0)


def test_huge_readings_stay_finite():
    values = np.full((2, 1), 1.7e308)
    _, mean, *_ = duplicates.mean(np.zeros(2, int), values, np.ones((2, 1), bool), 0 * values)
    assert mean[0, 0] == 1.7e308
