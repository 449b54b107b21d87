import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.geometry import Ball, Box, Cylinder, Disk, Ellipse, Rectangle


def test_distance_from_an_ellipse_is_that_from_its_nearest_point():
    ellipse = Ellipse((0.3, -0.1), (2, 0.7))
    places = np.random.default_rng(0).uniform(-3, 3, (200, 2))
    rim = ellipse.boundary(20000).points
    nearest = np.linalg.norm(places[:, None] - rim, axis=2).min(axis=1)
    assert np.abs(ellipse.distance(places)) == pytest.approx(nearest, abs=1e-3)


def test_distance_from_a_rectangle_is_round_its_corners():
    found = Rectangle((0, 2), (0, 1)).distance(np.array([[3.0, 2.0], [1.0, 0.5], [-1.0, 0.5]]))
    assert found == pytest.approx([np.sqrt(2), -0.5, 1.0])


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Disk(radius=0), r"Disk\(radius\)=0: write a finite number above 0"),
        (lambda: Disk(radius=float("nan")), "finite"),
        (lambda: Disk(radius="large"), "write a number"),
        (lambda: Disk(radius=10**400), "write a number"),
        (lambda: Disk(centre=(0, 0, 0)), "write 2 numbers"),
        (lambda: Disk(name=""), "write a word"),
        (lambda: Ellipse(radii=(1, -1)), "above 0"),
        (lambda: Rectangle((1, 0), (0, 1)), "first number must be below"),
        (lambda: Rectangle(3, (0, 1)), "write 2 numbers"),
    ],
)
def test_what_is_no_shape_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()


def test_distance_from_a_cylinder_and_a_box():
    places = np.array([[0.0, 0.0, 0.5], [2.0, 0.0, 0.5], [2.0, 0.0, 2.0]])
    assert Cylinder().distance(places) == pytest.approx([-0.5, 1.0, np.sqrt(2)])
    box = Box((-1, 1), (-1, 1), (0, 1))
    assert box.distance(places) == pytest.approx([-0.5, 1.0, np.sqrt(2)])


@pytest.mark.parametrize("shape", [Ball(), Cylinder(), Box((0, 1), (0, 2), (0, 3))])
def test_the_first_points_of_a_surface_fill_it_as_evenly_as_all(shape):
    whole = shape.boundary(4096)
    part = whole.take(slice(0, 512))
    assert part.points.mean(axis=0) == pytest.approx(whole.points.mean(axis=0), abs=0.02)
    assert part.normals.mean(axis=0) == pytest.approx(np.zeros(3), abs=0.03)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Ball(radius=-1), "above 0"),
        (lambda: Ball(centre=(0, 0)), "write 3 numbers"),
        (lambda: Cylinder(z=(1, 1)), "first number must be below"),
        (lambda: Box((0, 1), (0, 1), (1, 0)), "first number must be below"),
    ],
)
def test_what_is_no_solid_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()
