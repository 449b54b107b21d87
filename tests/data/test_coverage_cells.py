"""In how much of a domain there are readings."""

import numpy as np
import pytest

from pgt.data import Domain
from pgt.data.coverage_cells import cells

SQUARE = Domain(x=(0, 2), t=(0, 1))
RANDOM = np.random.default_rng(0)


def test_readings_all_over_fill_the_cells():
    found = cells(RANDOM.uniform((0, 0), (2, 1), (200, 2)), SQUARE)
    assert found.in_words == "16 of 16 cells hold a reading"
    assert not found.is_sparse


@pytest.mark.parametrize("part", [(1.0, 0.5), (1.0, 1.0), (2.0, 0.5)])
def test_a_part_without_readings_is_seen(part):
    assert cells(RANDOM.uniform((0, 0), part, (60, 2)), SQUARE).is_sparse


def test_few_readings_are_not_sparse_by_their_number_alone():
    for seed in range(20):
        points = np.random.default_rng(seed).uniform((0, 0), (2, 1), (12, 2))
        assert not cells(points, SQUARE).is_sparse


def test_sensors_that_stand_still_are_no_more_places_than_they_are():
    places = np.repeat(RANDOM.uniform((0, 0), (1, 1), (8, 2)), 50, axis=0)
    times = np.tile(np.linspace(0, 1, 50), 8)[:, None]
    plane = Domain(x=(0, 1), y=(0, 1), t=(0, 1))
    assert not cells(np.hstack([places, times]), plane).is_sparse
    assert cells(np.hstack([0.2 * places, times]), plane).is_sparse
    steady = Domain(x=(0, 1), y=(0, 1))
    assert cells(0.4 * RANDOM.uniform(size=(30, 2)), steady).is_sparse
