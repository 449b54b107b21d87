import numpy as np
import pytest

from pgt.geometry.contour import level_lines, level_surface
from pgt.geometry.surface import Surface


def test_the_surface_of_a_ball_is_closed_and_seen_from_outside():
    def value(p):
        return np.linalg.norm(p, axis=1) - 1

    corners, triangles = level_surface(value, [-1.3] * 3, [1.3] * 3, 24)
    assert Surface(corners, triangles).measure() == pytest.approx(4 / 3 * np.pi, rel=0.02)


def test_lines_are_in_order():
    (line,) = level_lines(lambda p: np.linalg.norm(p, axis=1) - 1, [-2, -2], [2, 2], 64)
    assert np.linalg.norm(np.diff(line, axis=0), axis=1).max() < 0.1
