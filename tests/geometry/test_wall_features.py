import numpy as np
import pytest

from pgt.geometry import Disk, Formula, Polygon, Rectangle
from pgt.geometry.wall_features import corners_of, holes_of

PLATE = Rectangle((0, 2), (0, 1), name="plate")


def test_holes_are_what_was_taken_out():
    found = holes_of(PLATE - Disk((0.5, 0.5), 0.2) - Disk((1.5, 0.5), 0.1))
    assert found.centres.tolist() == [[0.5, 0.5], [1.5, 0.5]]
    assert found.radii == pytest.approx([0.2, 0.1])
    assert not len(holes_of(PLATE & Disk((1, 0.5), 0.7)).radii)


def test_holes_of_a_polygon_and_of_a_formula_are_holes():
    turn = np.linspace(0, 2 * np.pi, 64, endpoint=False)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    corners = [(0, 0), (4, 0), (4, 2), (0, 2)]
    plate = Polygon(corners, holes=[(1, 1) + 0.5 * circle, (3, 1.2) + 0.2 * circle])
    found = holes_of(plate & Rectangle((-1, 5), (-1, 3)))
    assert found.centres == pytest.approx(np.array([[1, 1], [3, 1.2]]), abs=1e-3)
    assert found.radii == pytest.approx([0.5, 0.2], rel=2e-3)
    two = Formula("((x - 1)^2 + (y - 0.5)^2 - 0.09)*((x - 3)^2 + (y - 1)^2 - 0.04)")
    around = (-two).within(np.zeros(2), np.array([4.0, 2.0])) & Rectangle((0, 4), (0, 2))
    assert holes_of(around).centres == pytest.approx(np.array([[1, 0.5], [3, 1]]), abs=2e-3)


def test_corners_are_those_that_point_into_the_domain():
    wedge = Polygon([(0.8, 0.4), (1.2, 0.4), (1.0, 0.7)])
    found = corners_of(PLATE - wedge)
    assert len(found.angles) == 3
    tip = int(np.argmax(found.places[:, 1]))
    assert found.places[tip].tolist() == [1.0, 0.7]
    # the domain lies above the tip, and takes all of the turn but the wedge's own angle
    assert np.degrees(found.directions[tip]) == pytest.approx(90, abs=1)
    assert found.angles[tip] == pytest.approx(2 * np.pi - 2 * np.arctan2(0.2, 0.3), abs=0.02)
    assert not len(corners_of(PLATE).angles)
