"""Walls over time: what is seen of them, evenly, with normals and velocities."""

import jax
import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.data.moving_boundary import Means, Swept

HOLE = pgt.shapes.Disk(radius=0.25, name="hole")
BOX = {"x": (-1, 1), "y": (-1, 1), "t": (0, 2)}
AROUND = pgt.Domain(**BOX, shape=-HOLE.moving(x="0.4*sin(2*pi*t)"))


def test_places_are_on_the_wall_at_their_time_with_its_normal_and_velocity():
    wall = AROUND.wall("hole")
    assert isinstance(wall, Swept)
    x, y, t = wall.places.T
    away = np.column_stack([x - 0.4 * np.sin(2 * np.pi * t), y])
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), 0.25)
    np.testing.assert_allclose(wall.normals, -4 * away, atol=1e-9)
    np.testing.assert_allclose(
        wall.velocities[:, 0], 0.8 * np.pi * np.cos(2 * np.pi * t), atol=1e-9
    )
    assert (wall.velocities[:, 1] == 0).all()
    for points in (wall.nodes(40), np.asarray(wall.sample(jax.random.key(0), 400))):
        angle, time = (
            np.arctan2(points[:, 1], points[:, 0] - 0.4 * np.sin(2 * np.pi * points[:, 2])),
            points[:, 2],
        )
        assert np.histogram(time, 4, (0, 2))[0].min() > 0.15 * len(points)
        assert np.histogram(angle, 4, (-np.pi, np.pi))[0].min() > 0.15 * len(points)


def test_the_nearest_place_says_normal_and_velocity():
    wall = AROUND.wall("hole")
    z = np.asarray(wall.places)[77]
    np.testing.assert_allclose(wall.normal(z)[:2], wall.normals[77], atol=1e-6)
    np.testing.assert_allclose(wall.velocity(z), wall.velocities[77], atol=1e-5)
    slope = wall.normal_derivative(z, lambda axis: 1.0 if axis == "x" else 0.0)
    assert float(slope) == pytest.approx(wall.normals[77, 0], abs=1e-6)
    assert wall.free == ("t",)


def test_a_part_of_a_wall_is_chosen_where_it_is_at_its_time():
    assert AROUND.wall("hole", where="x > 0.2").places[:, 0].min() > 0.2
    with pytest.raises(InputError, match="holds nowhere"):
        AROUND.wall("hole", where="x > 0.9")


def test_of_a_wall_only_what_is_in_the_box_and_uncovered_is_seen():
    shape = -(HOLE.moving(x="t") | pgt.shapes.Rectangle((0.5, 2), (-0.1, 0.1), name="slot"))
    wall = pgt.Domain(**BOX, shape=shape).wall("hole")
    x, y, _ = wall.places.T
    assert x.max() <= 1
    assert ((x < 0.5) | (np.abs(y) > 0.1)).all()
    upper = pgt.Domain(**BOX, shape=shape).walls("x", "upper")
    assert (np.abs(upper.places[:, 1]) > 0.1).all()
    beside = np.abs(upper.places[:, 2] - 1) < 0.1  # when the hole is at the end of the box
    assert np.abs(upper.places[beside, 1]).min() > 0.2
    assert (upper.velocities == 0).all()


def test_a_wall_that_grows_has_more_places_where_it_is_larger():
    wall = pgt.Domain(**BOX, shape=-HOLE.moving(factor="0.5 + t")).wall("hole")
    late = np.mean(wall.places[:, 2] > 1)
    assert late == pytest.approx(2 / 3, abs=0.01)  # ∫ 0.5 + t over (1, 2), of that over (0, 2)


def test_walls_of_one_name_share_the_places_by_their_length():
    other = pgt.shapes.Disk((0, 0.7), radius=0.125, name="hole")
    wall = pgt.Domain(**BOX, shape=-(HOLE.moving(x="0.2*t") | other)).wall("hole")
    still = (wall.velocities == 0).all(axis=1)
    assert still.mean() == pytest.approx(1 / 3, abs=0.01)
    assert (wall.places[still, 1] > 0.5).all()
    first = np.asarray(wall.nodes(10))
    assert 0.2 < np.mean(first[:, 1] > 0.5) < 0.5


def test_a_seam_and_the_start_are_those_of_their_time():
    tube = pgt.Domain(
        **BOX, periodic=("x",), shape=-pgt.shapes.Rectangle((-2, 2), (-0.1, 0.1)).moving(y="0.3*t")
    )
    places = tube.seam("x").where.places
    assert (np.abs(places[:, 1] - 0.3 * places[:, 2]) > 0.099).all()
    start = AROUND.start().places
    assert np.linalg.norm(start, axis=1).min() > 0.249


def test_means_are_asked_for_at_their_instants():
    region = AROUND.instants()
    assert isinstance(region, Means)
    assert region.free == ("t",)
    assert len(region.nodes(1000)) == len(region.times)
    np.testing.assert_allclose(region.shares.sum(axis=1), 1.0)
