"""Walls between places."""

import numpy as np
import pytest

import pgt
from pgt.data import Domain
from pgt.data.splits import blocks
from pgt.data.visibility import are_visible, count_cells
from pgt.problem.assembly import held_out_groups

ROOMS = pgt.Domain(x=(0, 2), y=(0, 1), shape=-pgt.shapes.Rectangle(x=(0.95, 1.05), y=(-1, 0.8)))
LEFT, RIGHT, DOOR = [0.8, 0.6], [1.2, 0.6], [1.0, 0.9]


def test_a_wall_hides_what_is_behind_it_and_a_door_does_not():
    here, there = np.array([LEFT, LEFT, RIGHT, LEFT]), np.array([RIGHT, DOOR, DOOR, LEFT])
    assert are_visible(ROOMS, here, there).tolist() == [False, True, True, True]
    assert are_visible(ROOMS, there, here).tolist() == [False, True, True, True]


@pytest.mark.parametrize("seed", [0, 1])
def test_readings_on_two_sides_of_a_wall_are_not_held_out_together(seed):
    rooms = pgt.Domain(x=(0, 2), y=(0, 1), shape=-pgt.shapes.Rectangle(x=(0.9, 1.0), y=(-1, 2)))
    points = rooms.even(60, seed=seed)
    where = dict(zip("xy", points.T, strict=True))
    readings = pgt.Observations.from_arrays(where, {"u": points[:, 0]})
    by_block = pgt.Training(hold_out_by="block")
    plain, found = blocks(readings), held_out_groups(readings, by_block, rooms)
    assert found is not None
    on_the_left = points[:, 0] < 0.95
    assert any(len(np.unique(on_the_left[plain == group])) == 2 for group in plain)
    for group in np.unique(found):
        assert len(np.unique(on_the_left[found == group])) == 1
        assert len(np.unique(plain[found == group])) == 1  # parts of blocks


RANDOM = np.random.default_rng(0)


def test_sensors_that_stand_still_are_no_more_places_than_they_are():
    places = np.repeat(RANDOM.uniform((0, 0), (1, 1), (8, 2)), 50, axis=0)
    times = np.tile(np.linspace(0, 1, 50), 8)[:, None]
    plane = Domain(x=(0, 1), y=(0, 1), t=(0, 1))
    assert not count_cells(np.hstack([places, times]), plane).is_sparse
    assert count_cells(np.hstack([0.2 * places, times]), plane).is_sparse
    steady = Domain(x=(0, 1), y=(0, 1))
    assert count_cells(0.4 * RANDOM.uniform(size=(30, 2)), steady).is_sparse
