import numpy as np
import pytest

from pgt.geometry import Box, Polygon
from pgt.geometry.placement import Placed, direction, turning

KITE = Polygon([(0, 0), (0.4, 0.1), (0.5, 0.6), (-0.1, 0.3)])


def test_points_go_there_and_back():
    placed = Placed(KITE, (1, 2), 30, None, 2.5)
    points = np.random.default_rng(0).normal(size=(20, 2))
    np.testing.assert_allclose(placed.back(placed.forth(points)), points, atol=1e-12)


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 2, 2)])
def test_a_turn_keeps_lengths_and_its_axis(axis):
    matrix = Placed(Box((0, 1), (0, 1), (0, 1)), degrees=50, axis=axis).matrix
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(matrix @ direction(axis), direction(axis), atol=1e-12)
    assert np.trace(turning(3, direction(axis))) == 0
