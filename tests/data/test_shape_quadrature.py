"""Tiles of shapes, against integrals that are known."""

import numpy as np
import pytest

import pgt
from pgt.data.shape_quadrature import FINE, tiles

CORNERS = np.array([-1.0, -1.0]), np.array([1.0, 1.0])


def required(found):
    assert found is not None
    return found


def test_what_is_steep_beside_a_hole_is_integrated():
    def ring(places):
        r = np.hypot(*places.T)
        return (r > 0.2) & (r < 1)

    places, shares = required(tiles(ring, *CORNERS, 220))
    assert shares.sum() == pytest.approx(1)
    assert 220 <= len(places) < 400
    # ∫ 1/r² over the ring is 2π log 5; points spread evenly miss it by a hundredth
    exact = 2 * np.pi * np.log(5) / (np.pi * (1 - 0.04))
    assert shares @ (1 / np.sum(places**2, axis=1)) == pytest.approx(exact, rel=2e-3)
    x, y = places.T
    assert abs(shares @ (x / (x**2 + y**2))) < 5e-4


def test_every_place_is_inside_also_where_a_wall_bends_around_it():
    def bow(places):
        return np.abs(np.hypot(*places.T) - 0.5) < 0.02

    places, _ = required(tiles(bow, *CORNERS, 8))
    assert bow(places).all()


def test_a_shape_that_the_grid_hardly_sees_has_no_tiles():
    assert tiles(lambda at: np.abs(at[:, 0]) < 0.2 / FINE[2], *CORNERS, 1000) is None


def test_the_mean_that_a_gauge_takes_is_that_of_the_shape():
    domain = pgt.Domain(x=(-2, 2), y=(-1.5, 1.5), shape=-pgt.shapes.Disk((0.3, 0.1), 0.5))
    points, weights = domain.instants().mean_nodes(np.zeros(2))
    x, y = np.asarray(points, float).T - np.array([[0.3], [0.1]])
    places = domain.even(200_000) - np.array([0.3, 0.1])
    exact = np.mean(places[:, 0] / np.sum(places**2, axis=1))
    assert float(weights @ (x / (x**2 + y**2))) == pytest.approx(exact, abs=5e-4)
