"""The error of the field over the whole domain, as far as it can be known without the truth."""

import numpy as np
import pytest

import pgt
from pgt.uncertainty.field_error import (
    INTERVAL_FACTOR,
    calibration_factor,
    domain_points,
    near_readings,
    stated_errors,
)

PLATE = pgt.Domain(x=(0, 2), y=(-1, 1), t=(0, 3))


@pytest.mark.parametrize("domain", [PLATE, pgt.Domain(x=(0, 2)), pgt.Domain(t=(0, 3))])
def test_places_stand_for_all_of_the_domain(domain):
    points, weights, _ = domain_points(domain)
    assert domain.contains(points).all()
    assert weights.sum() == pytest.approx(1)
    unit = (points - domain.lower) / domain.extent
    np.testing.assert_allclose(weights @ unit, 0.5, atol=0.01)  # ∫ x
    np.testing.assert_allclose(weights @ unit**2, 1 / 3, atol=0.01)  # ∫ x²
    assert (unit.min(axis=0) < 0.02).all()
    assert (unit.max(axis=0) > 0.98).all()


def test_draws_of_known_size_give_that_size():
    where = domain_points(PLATE)
    points, weights, _ = where
    random = np.random.default_rng(0)
    wave = np.sin(3 * points[:, 0])
    spread = np.sqrt(weights @ (wave - weights @ wave) ** 2)
    deviations = 0.1 * spread * random.standard_normal((200, len(points), 1))
    found = stated_errors(deviations, wave[:, None], where, ("u",))["u"]
    assert found.value == pytest.approx(0.1, rel=0.02)
    assert found.low == pytest.approx(0.1 / INTERVAL_FACTOR, rel=0.1)
    assert found.high == pytest.approx(0.1 * INTERVAL_FACTOR, rel=0.1)
    kappa = calibration_factor(np.full(50, 3.0))
    missed = stated_errors(kappa * deviations, wave[:, None], where, ("u",))["u"]
    assert missed.value == pytest.approx(0.3 / np.sqrt(1 + 0.3**2), rel=0.02)  # the draws vary, too


def test_places_far_from_readings_are_told_apart():
    where = domain_points(PLATE)
    points, weights, _ = where
    quarter = pgt.Observations.from_arrays(
        PLATE.lower + PLATE.extent * np.random.default_rng(1).uniform(0, 0.5, (60, 3)),
        np.zeros((60, 1)),
        coords=("x", "y", "t"),
        fields=("u",),
    )
    near = near_readings(points, quarter, PLATE)
    assert 0.05 < weights @ near < 0.6
    deviations = np.where(near, 0.01, 1.0)[None, :, None]
    found = stated_errors(deviations, points[:, :1], where, ("u",), near=near)["u"]
    assert found.outside == pytest.approx(100 * found.inside)
    reverse = np.where(near, 0.1, 0.01)[None, :, None]  # nobody knows better where nobody looked
    found = stated_errors(reverse, points[:, :1], where, ("u",), near=near)["u"]
    assert (found.inside, found.outside) == (None, None)
    assert found.value > 0.01


def test_a_reading_behind_a_wall_is_not_near():
    wall = pgt.shapes.Rectangle(x=(0.95, 1.05), y=(-2, 2))
    box, rooms = (pgt.Domain(x=(0, 2), y=(-1, 1), shape=s) for s in (None, -wall))
    x, y = np.meshgrid(np.linspace(0.1, 0.9, 5), np.linspace(-0.9, 0.9, 10))
    left = pgt.Observations.from_arrays({"x": x.ravel(), "y": y.ravel()}, {"u": x.ravel()})
    points = np.array([[0.5, 0.0], [1.1, 0.0]])
    assert near_readings(points, left, box).tolist() == [True, True]
    assert near_readings(points, left, rooms).tolist() == [True, False]


def test_an_error_that_readings_show_is_the_least_that_is_stated():
    where = domain_points(PLATE)
    deviations = np.full((3, len(where.points), 1), 1e-9)
    found = stated_errors(deviations, where.points[:, :1], where, ("u",), floors={"u": 0.3})["u"]
    assert (found.value, found.low, found.high) == (
        0.3,
        0.3 / INTERVAL_FACTOR,
        0.3 * INTERVAL_FACTOR,
    )
