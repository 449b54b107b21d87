"""Functions of a shape that moves: those of one instant, carried along."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.core import serialise
from pgt.models.features import Multipoles
from pgt.models.local import Local, Together
from pgt.models.moving_basis import groups

BOX = {"x": (-1, 1), "y": (-1, 1), "t": (0, 2)}
HOLE = pgt.shapes.Ellipse((0.1, 0), (0.3, 0.2), name="hole")
MOTION = {"x": "0.2*t", "y": "0.1*sin(t)", "degrees": "40*t", "factor": "1 + 0.1*t"}
AROUND = pgt.Domain(**BOX, shape=-HOLE.moving(**MOTION).moved(0.05, 0))


def test_a_place_is_carried_to_where_the_wall_carries_it():
    (group,) = (each for each in groups(AROUND) if each.carry)
    (leaf,) = AROUND.shape.leaves()
    own = leaf.own(64)
    t = np.linspace(0, 2, len(own.points))
    with jax.enable_x64(True):
        found = group.carry(jnp.asarray(leaf.carried(own, t).points), jnp.asarray(t - 1))
    np.testing.assert_allclose(found, leaf.carried(own, np.full(len(t), 1.0)).points, atol=1e-9)
    assert group.leaves[0].wall == "hole"


def test_at_every_time_they_are_as_those_of_the_shape_then():
    moving = Local.of(AROUND)
    assert isinstance(moving, Local)
    still = Local.of(AROUND.at(1.0))
    z = jnp.asarray(np.random.default_rng(0).uniform(-1, 1, (20, 2)))
    now = jnp.concatenate([z, jnp.zeros((20, 1))], axis=1)
    np.testing.assert_allclose(moving.still(now), still.still(z), rtol=1e-4, atol=1e-5)


def test_harmonic_functions_stay_harmonic_and_change_as_their_hole_moves():
    local = Local.of(pgt.Domain(**BOX, shape=-pgt.shapes.Disk(radius=0.2).moving(**MOTION)))
    with jax.enable_x64(True):
        z = jnp.array([[0.7, 0.6, 0.3], [-0.6, 0.4, -0.8]])
        along = [(0, 0), (1, 1), (2,), ()]
        ask = jax.jit(lambda z: [local(z, axes).reshape(2, local.in_space, -1) for axes in along])
        xx, yy, slope, _ = ask(z)
        harmonic = slice(0, 9)  # log r, and the windings of one to four
        assert float(jnp.abs(xx + yy)[:, harmonic].max() / jnp.abs(xx).max()) < 1e-9
        rise = ask(z.at[:, 2].add(1e-5))[-1] - ask(z.at[:, 2].add(-1e-5))[-1]
        np.testing.assert_allclose(slope, rise / 2e-5, atol=1e-5)


def test_what_moves_differently_is_carried_apart():
    two = -(
        pgt.shapes.Disk((-0.5, 0), 0.1).moving(y="0.1*t")
        | pgt.shapes.Disk((0.5, 0), 0.1).moving(y="-0.1*t")
    )
    found = Local.of(pgt.Domain(**BOX, shape=two & -pgt.shapes.Disk((0, 0.7), 0.1)))
    assert isinstance(found, Together)
    assert len(found.parts) == 3
    assert sum(part.carry is None for part in found.parts) == 1
    assert found.count == found.in_space * (1 + 2 * len(found.beats))
    assert len(found.within(6.0, False).beats) == len(found.beats)
    assert jax.eval_shape(found, jax.ShapeDtypeStruct((4, 3), jnp.float32)).shape == (
        4,
        found.count,
    )
    as_one = -(pgt.shapes.Disk((-0.5, 0), 0.1) | pgt.shapes.Disk((0.5, 0), 0.1)).moving(y="0.1*t")
    assert isinstance(Local.of(pgt.Domain(**BOX, shape=as_one)), Local)


def test_corners_and_balls_move_too():
    square = pgt.shapes.Rectangle((-0.2, 0.2), (-0.2, 0.2)).moving(degrees="45*t")
    found = Local.of(pgt.Domain(**BOX, shape=-square))
    assert len(found.angles) == 4
    ball = pgt.Domain(**BOX, z=(-1, 1), shape=-pgt.shapes.Ball(radius=0.3).moving(z="0.2*t"))
    assert Multipoles.of(ball).carry is not None


def test_they_are_stored_and_brought_back(tmp_path):
    local = Local.of(AROUND)
    serialise.save(tmp_path, "local", local)
    z = jnp.array([[0.7, 0.6, 0.3]])
    np.testing.assert_array_equal(serialise.load(tmp_path, "local")(z), local(z))


@pytest.mark.slow
@pytest.mark.parametrize("far", [0.0, 5e4])
def test_a_field_that_winds_around_a_hole_that_moves_is_found(far, optimised):
    """u = log r about the middle of the hole, harmonic at every time, also one far from zero."""
    hole = pgt.shapes.Disk(radius=0.25, name="hole").moving(x=f"0.4*sin(t - {far})")
    domain = pgt.Domain(x=(-1, 1), y=(-1, 1), t=(far, far + 2), shape=-hole)

    def exact(x, y, t):
        return np.log(np.hypot(x - 0.4 * np.sin(t - far), y))

    points, asked = domain.even(60), domain.even(500, seed=1)
    readings = pgt.Observations.from_arrays(
        dict(zip("xyt", points.T, strict=True)), {"u": exact(*points.T)}
    )
    result = pgt.reconstruct(
        readings, "u_xx + u_yy = 0", domain, [pgt.Dirichlet(wall="hole", u=np.log(0.25))],
        model=pgt.Features(pgt.Scaling.fit(readings, domain), count=150, band=3.0, domain=domain),
    )  # fmt: skip
    found = result.at(dict(zip("xyt", asked.T, strict=True))).u.to_numpy()
    assert np.abs(found - exact(*asked.T)).max() < 1e-5


@pytest.mark.slow
def test_so_is_one_around_a_ball_that_moves(optimised):
    ball = pgt.shapes.Ball(radius=0.3, name="ball").moving(z="0.2*t")
    domain = pgt.Domain(x=(-1, 1), y=(-1, 1), z=(-1, 1), t=(0, 1), shape=-ball)

    def exact(points):
        return 1 / np.linalg.norm(points[:, :3] - points[:, 3:] * [0, 0, 0.2], axis=1)

    points, asked = domain.even(80), domain.even(500, seed=1)
    where = dict(zip("xyzt", points.T, strict=True))
    readings = pgt.Observations.from_arrays(where, {"u": exact(points)})
    result = pgt.reconstruct(
        readings, "u_xx + u_yy + u_zz = 0", domain, [pgt.Dirichlet(wall="ball", u=1 / 0.3)],
        model=pgt.Features(pgt.Scaling.fit(readings, domain), count=100, band=2.0, domain=domain),
    )  # fmt: skip
    found = result.at(dict(zip("xyzt", asked.T, strict=True))).u.to_numpy()
    assert np.abs(found - exact(asked)).max() < 1e-6
    flux = result.integrals.flux("ball", t=[0.0, 1.0]).flux.to_numpy()
    assert flux == pytest.approx(-4 * np.pi, rel=1e-4)
