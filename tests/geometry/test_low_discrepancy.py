import numpy as np
import pytest

import pgt
from pgt.core import machine as memory
from pgt.core.errors import InputError
from pgt.geometry.low_discrepancy import evenly


def test_points_lie_in_the_cube_and_the_first_are_those_of_fewer():
    points = evenly(100, 3)
    assert ((points >= 0) & (points < 1)).all()
    assert (evenly(10, 3) == points[:10]).all()
    assert not np.allclose(evenly(10, 3, seed=1), points[:10])


def largest_gap(points):
    return np.diff(np.sort(np.concatenate([[0.0], points, [1.0]]))).max()


def largest_hole(points):
    """Distance from somewhere in the unit square to the nearest point, where that is largest."""
    side = np.linspace(0.02, 0.98, 25)
    places = np.stack(np.meshgrid(side, side), -1).reshape(-1, 1, 2)
    return np.linalg.norm(places - points, axis=2).min(axis=1).max()


@pytest.mark.parametrize("seed", range(3))
def test_evenly_leaves_no_gaps(seed):
    random = np.random.default_rng(seed).uniform(size=(200, 2))
    # Along a line no two neighbours are further apart than (golden ratio)²/n.
    assert largest_gap(evenly(200, 1, seed)[:, 0]) < 2.62 / 200 < largest_gap(random[:, 0]) / 1.5
    assert largest_hole(evenly(200, 2, seed)) < 0.085 < largest_hole(random) / 1.2


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_evenly_stays_in_the_cube_and_integrates_well(dimension):
    points = evenly(500, dimension)
    assert points.shape == (500, dimension)
    assert ((points >= 0) & (points < 1)).all()
    # The mean of cos²(πx) + ... is d/2; 500 random points miss it by some 0.016 √d.
    mean = np.mean(np.sum(np.cos(np.pi * points) ** 2, axis=1))
    assert abs(mean - dimension / 2) < 0.004 * dimension


def test_more_points_than_memory_holds_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 8e9)
    for count in (10**9, 10**18):
        with pytest.raises(InputError, match=rf"{count} points.*GB"):
            evenly(count, 2)
    with pytest.raises(InputError, match="even"):
        pgt.Domain(x=(0, 1), t=(0, 1)).even(10**400)
