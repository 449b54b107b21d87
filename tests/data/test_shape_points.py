import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.data.bounds import Bounds
from pgt.data.shape_points import (
    find_tiles,
    pick_places,
    sample_near_walls,
    tabulate_places,
    weigh_by_distance,
)
from pgt.geometry import Disk, Intersection, Rectangle

SPACE = Bounds(("x", "y"), ((-1.0, 1.0), (-1.0, 1.0)))
CASE = Rectangle(*SPACE.limits)
STILL = Intersection(Disk(radius=0.8), CASE)


def test_what_is_spread_evenly_in_the_unit_cube_is_so_inside():
    table = tabulate_places(SPACE, STILL)
    unit = np.random.default_rng(0).uniform(size=(4000, 3))
    places = pick_places(table, unit)
    assert STILL.inside(places).all()
    np.testing.assert_allclose(pick_places(table, jnp.asarray(unit[:9])), places[:9], atol=1e-6)
    inner = np.hypot(*places.T) < 0.4
    assert inner.mean() == pytest.approx(0.25, abs=0.03)


def test_close_to_walls_there_are_more():
    found = sample_near_walls(
        jax.random.key(0), 2000, *weigh_by_distance(SPACE, STILL, STILL, 0.02)
    )
    assert np.median(np.abs(STILL.distance(np.asarray(found, float)))) < 0.04


CORNERS = np.array([-1.0, -1.0]), np.array([1.0, 1.0])


def required(found):
    assert found is not None
    return found


def test_what_is_steep_beside_a_hole_is_integrated():
    def ring(places):
        r = np.hypot(*places.T)
        return (r > 0.2) & (r < 1)

    places, shares = required(find_tiles(ring, *CORNERS, 220))
    assert shares.sum() == pytest.approx(1)
    assert 220 <= len(places) < 400
    # ∫ 1/r² over the ring is 2π log 5; points spread evenly miss it by a hundredth
    exact = 2 * np.pi * np.log(5) / (np.pi * (1 - 0.04))
    assert shares @ (1 / np.sum(places**2, axis=1)) == pytest.approx(exact, rel=2e-3)
    x, y = places.T
    assert abs(shares @ (x / (x**2 + y**2))) < 5e-4


PLATE = pgt.Domain(x=(0, 2), y=(0, 1), shape=-pgt.shapes.Disk((1, 0.5), 0.2))


def test_polynomials_are_integrated_exactly_and_smooth_fields_nearly():
    points, weights = PLATE.quadrature(1000)
    x, y = points.T
    assert weights.sum() == pytest.approx(PLATE.volume, rel=1e-9)
    assert (weights > 0).all()
    # over the plate, less the disk: its second moment is π r⁴ / 4
    exact = 2 / 3 * 4 - np.pi * 0.04 * (1 + 0.04 / 4)
    assert x**2 @ weights == pytest.approx(exact, rel=1e-6)
    # the disk's share of a harmonic field is its value in the middle
    wave = np.exp(x) * np.cos(y)
    whole = (np.e**2 - 1) * np.sin(1)
    assert wave @ weights == pytest.approx(whole - np.pi * 0.04 * np.e * np.cos(0.5), rel=1e-5)
