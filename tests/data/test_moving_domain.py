"""A shape that moves through a box: areas, points and walls at each time, and Reynolds' theorem."""

import jax
import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.data.moving_domain import Passage
from pgt.data.shaped_domain import nodes_inside
from pgt.geometry.shape import Boundary

HOLE = pgt.shapes.Disk(radius=0.25, name="hole")
AROUND = pgt.Domain(
    x=(-1, 1), y=(-1, 1), t=(0, 1), shape=-HOLE.moving(x="0.4*sin(2*pi*t)", y="0.1*t")
)
BOX = {"x": (-1, 1), "y": (-1, 1), "t": (0, 1)}


def centre(t):
    return np.column_stack([0.4 * np.sin(2 * np.pi * t), 0.1 * t])


def test_points_are_inside_at_their_time():
    for points in (
        AROUND.even(2000),
        np.asarray(AROUND.sample(jax.random.key(0), 2000), float),
        np.asarray(AROUND.near_walls(jax.random.key(0), 2000, 0.05), float),
        AROUND.quadrature(2000)[0],
    ):
        away = np.linalg.norm(points[:, :2] - centre(points[:, 2]), axis=1)
        assert AROUND.contains(points).all()
        assert away.min() > 0.25 - 1e-6
        assert np.abs(points[:, 2].mean() - 0.5) < 0.03
    near = AROUND.near_walls(jax.random.key(0), 2000, 0.05)
    assert np.median(AROUND.distance(np.asarray(near, float))) > -0.15


def test_the_volume_is_that_of_all_instants_together():
    assert AROUND.volume == pytest.approx(4 - np.pi / 16, rel=1e-6)
    weights = AROUND.quadrature(100)[1]
    assert weights.sum() == pytest.approx(AROUND.volume)
    grows = pgt.Domain(**BOX, shape=HOLE.moving(factor="1 + t"))
    assert grows.volume == pytest.approx(np.pi / 16 * 7 / 3, rel=1e-6)
    leaves = pgt.Domain(**BOX, shape=-HOLE.moving(x="3*t"))  # half of it is out at t = 1/3
    assert leaves.volume == pytest.approx(4 - np.pi / 16 / 3, rel=1e-3)


def test_a_domain_of_one_instant_is_one_that_stands_still():
    still = AROUND.at(0.25)
    assert not still.moves
    assert still.axes == ("x", "y")
    assert still.contains([[0.4, 0.0], [-0.4, 0.0]]).tolist() == [False, True]
    assert AROUND.at(0.25).volume == pytest.approx(4 - np.pi / 16)
    assert pgt.Domain(x=(0, 1), t=(0, 1)).at(0.5) == pgt.Domain(x=(0, 1))
    with pytest.raises(InputError, match="has a time"):
        still.at(0.0)


@pytest.mark.parametrize(
    "shape",
    [
        -HOLE.moving(x="0.4*sin(2*pi*t)", factor="1 + 0.5*t"),
        pgt.shapes.Ellipse(radii=(0.6, 0.2), name="hole").moving(degrees="90*t", x="0.2*t^2"),
        pgt.shapes.Disk(radius=0.9, name="rim")
        - HOLE.moving(x="0.3*cos(2*pi*t)", y="0.3*sin(2*pi*t)"),
    ],
    ids=["grows", "turns", "circles"],
)
def test_what_is_inside_changes_by_what_its_walls_sweep_over(shape):
    """Reynolds: d/dt ∫ g dV = ∫ ∂g/∂t dV + ∫ g w·n dS, with w the velocity of the walls."""
    domain, t, step = pgt.Domain(**BOX, shape=shape), 0.3, 0.02

    def g(points, t):
        return np.exp(points[:, 0] - 0.5 * t) * np.cos(points[:, 1])

    def total(at):
        places, weights = nodes_inside(domain._body().at(at), 500, 200)
        return weights @ g(places, at)

    places, weights = nodes_inside(domain._body().at(t), 500, 200)
    swept = weights @ (-0.5 * g(places, t))
    for name in domain.wall_names:
        found = Boundary.joined(domain.at(t).boundary(name))
        points = np.column_stack([found.points, np.full(len(found.points), t)])
        across = np.sum(domain.wall_velocity(name, points) * found.normals, axis=1)
        swept += found.weights @ (across * g(found.points, t))
    # to the fourth order in the step
    near, far = ((total(t + k * step) - total(t - k * step)) / (2 * k * step) for k in (1, 2))
    assert swept == pytest.approx((4 * near - far) / 3, abs=1e-4)
    assert abs(swept) > 0.01


def test_a_mean_over_space_is_that_of_its_instant():
    region = AROUND.instants()
    for z in region.nodes(5):
        points, shares = region.mean_nodes(z)
        away = np.linalg.norm(np.asarray(points)[:, :2] - centre(z[2:]), axis=1)
        assert away.min() > 0.24
        mean = -np.pi / 16 * centre(z[2:])[0] / (4 - np.pi / 16)
        np.testing.assert_allclose(np.asarray(shares @ points[:, :2]), mean, atol=1e-4)
    assert region.sample(jax.random.key(0), 99).shape == (8, 3)


def test_far_from_zero_it_is_the_same():
    far = pgt.Domain(
        x=(999, 1001), y=(-1, 1), t=(5e4, 5e4 + 1), shape=-HOLE.moving(x="1000 + 0.4*(t - 50000)")
    )
    local = far.moved([1000.0, 0.0, 5e4])
    points = np.array([[0.4, 0, 1], [0.4, 0, 0], [0, 0, 0]], float)
    assert local.contains(points).tolist() == [False, True, False]
    assert local.at(1.0).contains(points[:, :2]).tolist() == [False, False, True]


def test_it_goes_through_json():
    assert pgt.Domain.from_dict(AROUND.to_dict()) == AROUND


def test_space_works_as_the_plane_does():
    ball = pgt.shapes.Ball(radius=0.5, name="ball").moving(z="0.2*t")
    domain = pgt.Domain(**BOX, z=(-1, 1), shape=-ball)
    assert domain.volume == pytest.approx(8 - np.pi / 6, rel=1e-4)
    wall = domain.wall("ball")
    away = wall.places[:, :3] - np.array([0, 0, 0.2]) * wall.places[:, 3:]
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), 0.5)
    np.testing.assert_allclose(wall.normals, -2 * away, atol=1e-9)
    np.testing.assert_allclose(wall.velocities, [[0, 0, 0.2]] * len(away), atol=1e-12)
    assert domain.walls("z", "lower").places.shape[1] == 4


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: pgt.Domain(x=(0, 1), y=(0, 1), shape=HOLE.moving(x="t")), "has no time"),
        (lambda: pgt.Domain(**BOX, shape=HOLE.moving(x="9*t")), r"at t = 0\.25, .* nothing of"),
        (lambda: pgt.Domain(**BOX, shape=-HOLE.moving(x="9 + t")), "no wall of the shape lies in"),
        (lambda: pgt.Domain(**BOX, shape=HOLE.moving(x="log(t)")), "at t = 0 it is -inf"),
        (lambda: pgt.Domain(**BOX, z=(0, 1), shape=HOLE.moving(x="t")), "in 2 dimensions"),
        (
            lambda: pgt.Domain(**BOX, periodic=("x",), shape=-HOLE.moving(x="t")),
            "at t = .* not the same at both ends",
        ),
        (lambda: AROUND.boundary("hole"), r"ask domain\.at\(t\)"),
        (lambda: AROUND.wall("cylinder"), "there is no wall 'cylinder'"),
        (lambda: AROUND.wall_velocity("rim", np.zeros((1, 3))), "there is no wall 'rim'"),
        (lambda: AROUND.wall_velocity("hole", np.zeros((1, 2))), "points have shape"),
        (lambda: AROUND.at(float("nan")), "finite number"),
        (lambda: AROUND.quadrature(0), "1 point or more"),
        (lambda: AROUND.instants({"x": 0.0, "y": 0.0}), "x = 0, y = 0, t = 0 is outside the shape"),
    ],
)
def test_what_makes_no_sense_is_refused(build, words):
    with pytest.raises(InputError, match=words):
        build()


def test_one_that_stands_still_is_none_of_this():
    with pytest.raises(AttributeError):
        pgt.Domain(**BOX, shape=-HOLE).wall("hole").velocities  # noqa: B018
    assert isinstance(AROUND._body(), Passage)
