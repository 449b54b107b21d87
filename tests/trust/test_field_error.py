"""The error of the field over the whole domain, as far as it can be known without the truth."""

import numpy as np
import pytest

import pgt
from pgt.trust.field_error import (
    LEAST_ROUNDED,
    OWN_ERROR_FITTED,
    OWN_ERROR_SOLVED,
    TRUSTED,
    UNSURE,
    calibration,
    expected_errors,
    is_exact,
    least_calibration,
    near_readings,
    own_error,
    places,
)

PLATE = pgt.Domain(x=(0, 2), y=(-1, 1), t=(0, 3))


@pytest.mark.parametrize("domain", [PLATE, pgt.Domain(x=(0, 2)), pgt.Domain(t=(0, 3))])
def test_places_stand_for_all_of_the_domain(domain):
    points, weights, _ = places(domain)
    assert domain.contains(points).all()
    assert weights.sum() == pytest.approx(1)
    unit = (points - domain.lower) / domain.extent
    np.testing.assert_allclose(weights @ unit, 0.5, atol=0.01)  # ∫ x
    np.testing.assert_allclose(weights @ unit**2, 1 / 3, atol=0.01)  # ∫ x²
    assert (unit.min(axis=0) < 0.02).all()
    assert (unit.max(axis=0) > 0.98).all()


def test_the_first_and_the_last_instant_are_asked_about():
    """Fields are often known worst there; they count for little, as they do on a grid of some fifty."""
    points, weights, instants = places(PLATE)
    low, high = PLATE.bounds("t")
    by_instant = weights.reshape(instants, -1).sum(axis=1)
    assert np.ptp(points[:, -1]) > 0.999 * (high - low)
    assert points[:, -1].min() > low
    np.testing.assert_allclose(by_instant[[0, -1]], 0.02, atol=0.005)
    assert weights @ points[:, -1] == pytest.approx((low + high) / 2)


def test_places_are_in_a_shape_that_moves_at_each_instant():
    hole = pgt.Disk((0.5, 0), 0.3).moving(x="0.3*t")
    points, weights, instants = places(pgt.Domain(x=(0, 2), y=(-1, 1), t=(0, 3), shape=-hole))
    assert np.hypot(points[:, 0] - 0.5 - 0.3 * points[:, 2], points[:, 1]).min() > 0.299
    assert len(np.unique(points[:, 2])) == instants
    assert weights.sum() == pytest.approx(1)


def test_draws_of_known_size_give_that_size():
    where = places(PLATE)
    points, weights, _ = where
    random = np.random.default_rng(0)
    wave = np.sin(3 * points[:, 0])
    spread = np.sqrt(weights @ (wave - weights @ wave) ** 2)
    deviations = 0.1 * spread * random.standard_normal((200, len(points), 1))
    found = expected_errors(deviations, wave[:, None], where, ("u",))["u"]
    assert found.value == pytest.approx(0.1, rel=0.02)
    assert found.low == pytest.approx(0.1 / UNSURE, rel=0.1)
    assert found.high == pytest.approx(0.1 * UNSURE, rel=0.1)
    kappa = calibration(np.full(50, 3.0))
    missed = expected_errors(kappa * deviations, wave[:, None], where, ("u",))["u"]
    assert missed.value == pytest.approx(0.3 / np.sqrt(1 + 0.3**2), rel=0.02)  # the draws vary, too


def test_what_is_open_at_every_instant_does_not_count():
    where = places(PLATE)
    points = where.points
    values = np.cos(points[:, :1])
    drift = np.stack([np.sin(k * points[:, 2]) for k in (1, 2, 5)])[..., None]
    fixed = expected_errors(drift, values, where, ("p",))["p"]
    free = expected_errors(drift, values, where, ("p",), free=("p",))["p"]
    assert fixed.value > 0.5
    assert free.value < 1e-12


def test_places_far_from_readings_are_told_apart():
    where = places(PLATE)
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
    found = expected_errors(deviations, points[:, :1], where, ("u",), near=near)["u"]
    assert found.outside == pytest.approx(100 * found.inside)
    reverse = np.where(near, 0.1, 0.01)[None, :, None]  # nobody knows better where nobody looked
    found = expected_errors(reverse, points[:, :1], where, ("u",), near=near)["u"]
    assert (found.inside, found.outside) == (None, None)
    assert found.value > 0.01


def test_a_reading_behind_a_wall_is_not_near():
    wall = pgt.Rectangle(x=(0.95, 1.05), y=(-2, 2))
    box, rooms = (pgt.Domain(x=(0, 2), y=(-1, 1), shape=s) for s in (None, -wall))
    x, y = np.meshgrid(np.linspace(0.1, 0.9, 5), np.linspace(-0.9, 0.9, 10))
    left = pgt.Observations.from_arrays({"x": x.ravel(), "y": y.ravel()}, {"u": x.ravel()})
    points = np.array([[0.5, 0.0], [1.1, 0.0]])
    assert near_readings(points, left, box).tolist() == [True, True]
    assert near_readings(points, left, rooms).tolist() == [True, False]


def test_readings_can_raise_but_not_lower_what_is_expected():
    assert calibration(np.zeros(0)) == 1
    assert calibration(np.full(9, 0.1)) == TRUSTED[0]
    assert calibration(np.full(9, 2.0)) == pytest.approx(2)
    assert calibration(np.array([np.nan, 1e9])) == TRUSTED[1]


def test_what_is_held_up_by_the_digits_of_readings_may_be_lowered_too():
    rounded, free = (least_calibration(noise, solved=True) for noise in (1e-14, 1e-12))
    assert (rounded, free) == (LEAST_ROUNDED, TRUSTED[0])
    assert least_calibration(1e-14, solved=False) == TRUSTED[0]
    assert calibration(np.full(9, 0.25), rounded) == pytest.approx(0.5)
    assert calibration(np.full(9, 1e-6), rounded) == LEAST_ROUNDED
    assert calibration(np.full(9, 0.25), free) == 1


def test_a_models_own_error_counts_where_readings_are_exact():
    assert own_error(0.05, solved=False) == own_error(0.05, solved=True) == 1
    assert is_exact(1e-9)
    assert not is_exact(0.05)
    assert own_error(1e-9, solved=True) == OWN_ERROR_SOLVED
    assert own_error(1e-9, solved=False) == OWN_ERROR_FITTED


def test_of_a_steady_field_one_constant_is_open_and_of_one_in_time_alone_all_instants_count():
    steady, alone = pgt.Domain(x=(0, 2), y=(-1, 1)), pgt.Domain(t=(0, 3))
    where = places(steady)
    assert where.instants == places(alone).instants == 1
    assert len(np.unique(places(alone).points)) == len(places(alone).points)
    tilt = where.points[None, :, :1]  # which is no constant
    found = expected_errors(-tilt, where.points[:, :1], where, ("p",), free=("p",))["p"]
    assert found.value == pytest.approx(1)


def test_between_standing_sensors_a_field_is_known_no_better_than_at_them():
    where = places(PLATE)
    deviations = np.full((3, len(where.points), 1), 1e-9)
    found = expected_errors(deviations, where.points[:, :1], where, ("u",), at_least=0.3)["u"]
    assert (found.value, found.low, found.high) == (0.3, 0.3 / UNSURE, 0.3 * UNSURE)


def test_an_error_is_never_relative_to_the_spread_of_a_field_that_collapsed():
    """A network that came out as a constant would state an error of 1e13."""
    where = places(PLATE)
    flat, random = np.full((len(where.points), 1), 7.0), np.random.default_rng(0)
    deviations = 0.3 * random.standard_normal((64, *flat.shape))
    read = expected_errors(deviations, flat, where, ("u",), shown={"u": 0.6})["u"]
    assert read.value == pytest.approx(0.5, rel=0.1)
    hidden = expected_errors(deviations, flat, where, ("p",))["p"]
    assert hidden.value == pytest.approx(1, rel=0.1)


def test_an_error_is_relative_to_the_field_that_may_be_the_true_one():
    """Beside a nearly flat answer, a field that is as rough as its error misses all of itself."""
    where = places(PLATE)
    wave = np.sin(3 * where.points[:, :1])
    found = expected_errors(np.stack([wave, -wave]), 0.2 * wave, where, ("u",))["u"]
    assert 0.8 < found.value < 1.3
