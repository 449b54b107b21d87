"""Functions of a shape: harmonic, and their derivatives those of finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.local import Local

SQUARE = pgt.Rectangle((-1, 1), (-1, 1), name="outer")
ROOM = pgt.Domain(
    x=(-1, 1),
    y=(-1, 1),
    shape=SQUARE - pgt.Rectangle((0, 1), (-1, 0), name="corner") - pgt.Disk((-0.5, 0.5), 0.2),
)


@pytest.fixture(scope="module")
def local():
    found = Local.of(ROOM)
    assert found is not None
    return found


def test_there_are_functions_of_every_hole_and_corner(local):
    assert local.count == 17 + 16
    timed = Local.of(pgt.Domain(t=(0, 1), x=(-1, 1), y=(-1, 1), shape=ROOM.shape))
    assert timed is not None
    assert timed.count == 7 * local.count
    assert timed(jnp.zeros((5, 3)) + 0.3).shape == (5, timed.count)


def test_a_box_and_a_smooth_outline_need_none():
    assert Local.of(pgt.Domain(x=(0, 1), y=(0, 1))) is None
    assert Local.of(pgt.Domain(x=(-1, 1), y=(-1, 1), shape=pgt.Disk())) is None


def test_functions_are_harmonic_in_the_domain_and_of_order_one(local):
    with jax.enable_x64(True):
        places = jnp.asarray(ROOM.even(100))
        assert np.abs(np.asarray(local(places))).max() < 10
        curvature = np.asarray(local(places, (0, 0)) + local(places, (1, 1)))
        size = np.abs(np.asarray(local(places, (0, 0)))) + 1
        assert np.abs(curvature / size).max() < 1e-8


def test_derivatives_are_those_of_differences(local):
    with jax.enable_x64(True):
        z, step = jnp.array([0.3, 0.4]), jnp.array([0.0, 1e-6])
        slope = (local(z + step) - local(z - step)) / 2e-6
        assert np.asarray(local(z, (1,))) == pytest.approx(np.asarray(slope), abs=1e-6)


@pytest.mark.slow
def test_a_field_that_is_singular_at_a_corner_is_found(local):
    def singular(points):
        x, y = points.T
        angle = np.arctan2(y, x) % (2 * np.pi)
        return np.hypot(x, y) ** (2 / 3) * np.sin(2 * angle / 3)

    room = pgt.Domain(
        x=(-1, 1), y=(-1, 1), shape=SQUARE - pgt.Rectangle((0, 1), (-1, 0), name="corner")
    )
    places, asked = room.even(40), room.even(200, seed=3)
    readings = pgt.Observations.from_arrays(
        {"x": places[:, 0], "y": places[:, 1]}, {"u": singular(places)}
    )
    model = pgt.Features(pgt.Scaling.fit(readings, room), count=100, band=4.0, domain=room)
    held = [pgt.Dirichlet(wall="corner", u=0.0)]
    result = pgt.reconstruct(readings, pgt.Laplace(), room, held, model=model)
    found = result.at({"x": asked[:, 0], "y": asked[:, 1]}).u
    assert np.abs(found.to_numpy() - singular(asked)).max() < 1e-4
