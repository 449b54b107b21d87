import time

import numpy as np
import pytest
import shapely

from pgt.core.errors import InputError
from pgt.geometry import Polygon

SQUARE = [(0, 0), (2, 0), (2, 2), (0, 2)]


def star(corners: int) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, corners, endpoint=False)
    radius = 1 + 0.3 * np.sin(7 * angle)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def test_a_million_points_take_less_than_a_second_and_agree_with_shapely():
    polygon = Polygon(star(1000))
    places = np.random.default_rng(0).uniform(-1.3, 1.3, (10**6, 2))
    began = time.process_time()
    inside = polygon.inside(places)
    seconds = time.process_time() - began
    assert seconds < 2.0  # 0.2 on a free core; others may be at work here
    known = shapely.Polygon(star(1000))
    shapely.prepare(known)
    assert (inside == shapely.contains_xy(known, *places.T)).all()


def test_distance_is_that_from_the_nearest_edge():
    found = Polygon(SQUARE).distance(np.array([[1.0, 1.5], [3.0, 3.0], [1.0, -1.0]]))
    assert found == pytest.approx([-0.5, np.sqrt(2), 1.0])


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]), r"\(0, 0\) to \(1, 1\) crosses"),
        (lambda: Polygon([(0, 0), (1, 0)]), "three different corners"),
        (lambda: Polygon([]), "pairs of numbers"),
        (lambda: Polygon([(0, 0), (1, 1), (2, 2)]), "on one line"),
        (lambda: Polygon([(0, 0), (1, 0), (np.nan, 1)]), "corner 2 is not finite"),
        (lambda: Polygon(SQUARE, [[(-1, -1), (3, -1), (3, 3), (-1, 3)]]), "hole 0 is not inside"),
        (lambda: Polygon(SQUARE, [[(1, 1), (3, 1), (3, 1.5), (1, 1.5)]]), "crosses"),
        (lambda: Polygon("square"), "pairs of numbers"),
        (lambda: Polygon(SQUARE, [[(1, 1), (1.5, 1), (1, 1.5)]] * 2), "lies on that from"),
        (lambda: Polygon([(0, 0), (1, 0), (1, 1), (1, 0.5), (1, 1), (0, 1)]), "lies on that from"),
    ],
)
def test_what_is_no_polygon_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()


@pytest.mark.parametrize("holes", [None, 1, "abc", {1: 2}, np.array(1.0), [None], [1.0]], ids=repr)
def test_holes_that_are_none_are_refused(holes):
    with pytest.raises(InputError, match="hole"):
        Polygon([(0, 0), (1, 0), (1, 1)], holes=holes)
