import numpy as np
import pytest

from pgt.geometry.low_discrepancy import evenly


def test_points_lie_in_the_cube_and_the_first_are_those_of_fewer():
    points = evenly(100, 3)
    assert ((points >= 0) & (points < 1)).all()
    assert (evenly(10, 3) == points[:10]).all()
    assert not np.allclose(evenly(10, 3, seed=1), points[:10])


@pytest.mark.parametrize("dimension", [1, 2, 3, 4])
def test_evenly_stays_in_the_cube_and_integrates_well(dimension):
    points = evenly(500, dimension)
    assert points.shape == (500, dimension)
    assert ((points >= 0) & (points < 1)).all()
    # The mean of cos²(πx) + ... is d/2; 500 random points miss it by some 0.016 √d.
    mean = np.mean(np.sum(np.cos(np.pi * points) ** 2, axis=1))
    assert abs(mean - dimension / 2) < 0.004 * dimension
