"""Shapes against areas, volumes, lengths and surfaces that are known."""

import math

import numpy as np
import pytest
from scipy.special import ellipe

from pgt.core.errors import InputError
from pgt.geometry import Ball, Box, Cylinder, Disk, Ellipse, Formula, Polygon, Rectangle

PI = math.pi
SQUARE = ((0, 0), (2, 0), (2, 2), (0, 2))
PLATE = Rectangle((0, 2), (0, 1)) - Disk((1, 0.5), 0.2, name="hole")

# shape, area or volume, length or surface of the boundary
KNOWN = {
    "disk": (Disk((1, 2), 3), 9 * PI, 6 * PI),
    "ellipse": (Ellipse(radii=(2, 1)), 2 * PI, 8 * float(ellipe(0.75))),
    "rectangle": (Rectangle((0, 2), (1, 4)), 6, 10),
    "polygon": (Polygon(SQUARE, [((0.5, 0.5), (1, 0.5), (1, 1))]), 3.875, 9 + math.sqrt(0.5)),
    "annulus": (Disk(radius=2) - Disk(), 3 * PI, 6 * PI),
    "plate": (PLATE, 2 - 0.04 * PI, 6 + 0.4 * PI),
    "L cut out": (Rectangle((-1, 1), (-1, 1)) - Rectangle((0, 1), (-1, 0)), 3, 8),
    "L of two": (Rectangle((-1, 1), (0, 1)) | Rectangle((-1, 0), (-1, 0)), 3, 8),
    "quarter": (Disk() & Rectangle((0, 1), (0, 1)), PI / 4, 2 + PI / 2),
    "placed": (PLATE.scaled(3).rotated(30).moved(3, 1), 9 * (2 - 0.04 * PI), 18 + 1.2 * PI),
    "formula": (Formula("sqrt(x^2 + y^2) - 1", (-2, 2), (-2, 2)), PI, 2 * PI),
    "no distance": (Formula("x^2 + y^2 - 4", (-3, 3), (-3, 3)), 4 * PI, 4 * PI),
    "ball": (Ball((1, 0, 0), 2), 32 / 3 * PI, 16 * PI),
    "cylinder": (Cylinder(radius=2, z=(0, 3)), 12 * PI, 20 * PI),
    "box": (Box((0, 1), (0, 2), (0, 3)), 6, 22),
    "half a ball": (Ball() & Box((-2, 2), (-2, 2), (0, 2)), 2 / 3 * PI, 3 * PI),
    "hollow": (Box((-2, 2), (-2, 2), (-2, 2)) - Ball(), 64 - 4 / 3 * PI, 96 + 4 * PI),
    "tube": (
        Cylinder(radius=2, z=(0, 3)) - Cylinder(radius=1, z=(-1, 4)),
        9 * PI,
        24 * PI,
    ),
    "laid down": (Cylinder(z=(0, 2)).rotated(90, (0, 1, 0)).moved(1, 1, 1), 2 * PI, 6 * PI),
    "formula in space": (
        Formula("x^2 + y^2 + z^2 - 1", *[(-1.5, 1.5)] * 3),
        4 / 3 * PI,
        4 * PI,
    ),
}


@pytest.mark.parametrize("name", KNOWN)
def test_measures_are_right_to_a_thousandth(name):
    shape, measure, boundary = KNOWN[name]
    assert shape.measure() == pytest.approx(measure, rel=1e-3)
    assert shape.walls().weights.sum() == pytest.approx(boundary, rel=1e-3)


@pytest.mark.parametrize("name", KNOWN)
def test_normals_point_outwards_and_have_length_one(name):
    shape = KNOWN[name][0]
    points, normals, _ = shape.walls()
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0)
    step = 1e-3 * np.ptp(points, axis=0).min()
    within, beyond = (shape.inside(points + sign * step * normals) for sign in (-1, 1))
    assert within.mean() > 0.995
    assert beyond.mean() < 0.005  # beside a corner a normal may lead past another wall


@pytest.mark.parametrize("name", KNOWN)
def test_sign_of_the_distance_is_the_inside_test(name):
    shape = KNOWN[name][0]
    points, _, _ = shape.walls()
    low, high = points.min(axis=0), points.max(axis=0)
    places = np.random.default_rng(0).uniform(low, high, (500, len(low)))
    assert ((shape.distance(places) <= 0) == shape.inside(places)).all()
    assert np.abs(shape.distance(points[::97])).max() < 1e-2 * (high - low).max()


def test_walls_are_found_by_name():
    assert PLATE.wall_names == ("rectangle", "hole")
    assert PLATE.walls("hole").weights.sum() == pytest.approx(0.4 * PI)
    # outward is out of the plate, into the hole
    points, normals, _ = PLATE.walls("hole")
    assert (np.sum((points - [1, 0.5]) * normals, axis=1) < 0).all()
    with pytest.raises(InputError, match="'rectangle', 'hole'"):
        PLATE.walls("hol")
