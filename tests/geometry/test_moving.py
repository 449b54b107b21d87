"""Shapes that move: where they are, and how fast their walls move, by finite differences."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.geometry import Ball, Box, Disk, Ellipse, Formula, Moving, Polygon, Rectangle

RANDOM = np.random.default_rng(0)
TIMES = RANDOM.uniform(0.0, 2.0, 200)
KITE = Polygon([(0, 0), (0.4, 0.1), (0.5, 0.6), (-0.1, 0.3)], name="kite")
SHAPES = [
    Disk(radius=0.5).moving(x="0.3*sin(2*pi*t)", y=0.1),
    Ellipse((0.2, 0), (0.6, 0.2)).moving(degrees="90*t", factor="1 + 0.2*sin(t)"),
    KITE.scaled(2).moving(degrees="30*t^2").moved(1, 2).moving(x="exp(-t)").rotated(40),
    Formula("x^4 + y^4 - 0.1", x=(-1, 1), y=(-1, 1)).moving(y="t"),
    Ball(radius=0.4).moving(x="t", z="t^2", factor="1 + t"),
    Box((0, 1), (0, 2), (0, 0.5)).moving(degrees="50*t", axis=(1, 2, 2), y="sqrt(1 + t)"),
]


def seen(shape, t):
    """Points of the only wall at rest, where they are at times, and with these."""
    (leaf,) = shape.leaves()
    own = leaf.own(512)
    own = own.take(RANDOM.integers(0, len(own.points), len(t)))
    return leaf, own, lambda at: leaf.carried(own, at)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.wall_names[0])
def test_a_wall_is_as_fast_as_its_places_are(shape):
    leaf, _, carried = seen(shape, TIMES)
    here, step = carried(TIMES).points, 1e-5
    found = leaf.velocity(np.column_stack([here, TIMES]))
    along = (carried(TIMES + step).points - carried(TIMES - step).points) / (2 * step)
    np.testing.assert_allclose(found, along, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.wall_names[0])
def test_every_instant_is_a_shape_that_stands_still(shape):
    _, _, carried = seen(shape, TIMES)
    points, normals, _ = carried(TIMES)
    timed = np.column_stack([points + 0.01 * RANDOM.normal(size=points.shape), TIMES])
    k = shape.dimension
    still = [
        shape.at(t).distance(place[None])[0] for *place, t in timed for place in [np.array(place)]
    ]
    np.testing.assert_allclose(shape.distance(timed), still, atol=1e-9)
    inside = [bool(shape.at(t).inside(np.array(place)[None])[0]) for *place, t in timed]
    assert shape.inside(timed).tolist() == inside
    assert np.abs(shape.distance(np.column_stack([points, TIMES]))).max() < 1e-6
    assert (shape.distance(np.column_stack([points + 1e-3 * normals, TIMES])) > 0).mean() > 0.98
    assert len(shape.at(0.5).bounds()[0]) == k


def test_what_grows_has_the_area_that_its_factor_says():
    shape = Disk(radius=0.5).moving(x="t", factor="1 + t")
    assert shape.at(1.0).measure() == pytest.approx(np.pi, rel=1e-9)
    assert shape.at(0.5).walls().weights.sum() == pytest.approx(np.pi * 1.5, rel=1e-9)


def test_what_is_put_together_asks_those_that_move_at_their_time():
    plate = (Rectangle((0, 4), (0, 1)) - Disk((1, 0.5), 0.2, name="hole").moving(x="t")) | Disk(
        (5, 0.5), 0.1
    )
    assert plate.moves
    assert plate.wall_names == ("rectangle", "hole", "disk")
    points = np.array([[1, 0.5, 0], [1, 0.5, 1], [2, 0.5, 1], [5, 0.5, 9.0]])
    assert plate.inside(points).tolist() == [False, True, False, True]
    assert not plate.at(1.0).moves
    assert (-plate).inside(points).tolist() == [True, False, True, False]
    assert (plate & Rectangle((0, 2), (0, 1))).inside(points).tolist() == [
        False,
        True,
        False,
        False,
    ]


def test_times_may_be_counted_from_elsewhere():
    shape = (-Disk().moving(x="t^2")).moved(0, 1)
    later = shape.counted_from(2.0)
    np.testing.assert_allclose(later.at(1.0).shape.shape.shift, (9.0, 0.0))
    assert Disk().counted_from(2.0) == Disk()


def test_a_formula_is_looked_at_wherever_it_comes():
    shape = Formula("x^2 + y^2 - 1").moving(x="10*t").within([-2, -2, 0], [2, 2, 1])
    lower, upper = shape.shape.bounds()
    np.testing.assert_allclose([lower, upper], [[-12, -2], [2, 2]])


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: Disk().moving(), "say how it moves"),
        (lambda: Disk().moving(x="sin(2*pi*s)"), "unknown name 's'"),
        (lambda: Disk().moving(x="x"), "unknown name 'x'"),
        (lambda: Disk().moving(x=[1.0]), "write a number"),
        (lambda: Disk().moving(z="t"), "moves along x and y"),
        (lambda: Ball().moving(degrees="t"), "name the axis"),
        (lambda: Moving("disk", x="t"), "is no shape"),
        (lambda: Formula("x - t"), "write the shape at rest, and how it moves"),
        (lambda: Disk().moving(x="t").walls(), r"ask shape\.at\(t\)"),
        (lambda: Disk().moving(x="t").measure(), r"ask shape\.at\(t\)"),
        (lambda: Disk().moving(factor="1 - t").at(1.0), "nothing is left of it"),
        (lambda: Disk().moving(x="t").leaves()[0].boundary(9), "a boundary at an instant"),
        (lambda: Disk().moving(x="1/t").within([0, 0, 0], [1, 1, 1]), "at t = 0 it is inf"),
        (lambda: Disk().moving(factor="t").within([0, 0, 0], [1, 1, 1]), "it is 0; .* above 0"),
    ],
)
def test_what_cannot_move_so_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()
