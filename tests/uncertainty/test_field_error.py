"""The error of the field over the whole domain, as far as it can be known without the truth.

Where a posterior is surer than the readings around let it be.

The error of a field by readings that were not fitted.
"""

import numpy as np
import pytest

import pgt
from pgt.uncertainty.field_error import (
    EXTRAPOLATION_FACTOR,
    INTERVAL_FACTOR,
    KAPPA_RANGE,
    LOCAL_READINGS,
    MAX_LOCAL_EXCESS,
    MIN_KAPPA_AT_ROUNDING,
    MODEL_ERROR_CLOSED_FORM,
    MODEL_ERROR_NETWORK,
    Misfits,
    calibration_factor,
    domain_points,
    error_from_held_out,
    is_exact,
    local_excess,
    min_calibration_factor,
    model_error_factor,
    near_readings,
    stated_errors,
    widen,
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


def test_the_first_and_the_last_instant_are_asked_about():
    """Fields are often known worst there; they count for little, as they do on a grid of some fifty."""
    points, weights, instants = domain_points(PLATE)
    low, high = PLATE.bounds("t")
    by_instant = weights.reshape(instants, -1).sum(axis=1)
    assert np.ptp(points[:, -1]) > 0.999 * (high - low)
    assert points[:, -1].min() > low
    np.testing.assert_allclose(by_instant[[0, -1]], 0.02, atol=0.005)
    assert weights @ points[:, -1] == pytest.approx((low + high) / 2)


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


def test_what_is_open_at_every_instant_does_not_count():
    where = domain_points(PLATE)
    points = where.points
    values = np.cos(points[:, :1])
    drift = np.stack([np.sin(k * points[:, 2]) for k in (1, 2, 5)])[..., None]
    fixed = stated_errors(drift, values, where, ("p",))["p"]
    free = stated_errors(drift, values, where, ("p",), undetermined=("p",))["p"]
    assert fixed.value > 0.5
    assert free.value < 1e-12


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


def test_readings_can_raise_but_not_lower_what_is_expected():
    assert calibration_factor(np.zeros(0)) == 1
    assert calibration_factor(np.full(9, 0.1)) == KAPPA_RANGE[0]
    assert calibration_factor(np.full(9, 2.0)) == pytest.approx(2)
    assert calibration_factor(np.array([np.nan, 1e9])) == KAPPA_RANGE[1]


def test_what_is_held_up_by_the_digits_of_readings_may_be_lowered_too():
    rounded, free = (min_calibration_factor(noise, is_closed_form=True) for noise in (1e-14, 1e-12))
    assert (rounded, free) == (MIN_KAPPA_AT_ROUNDING, KAPPA_RANGE[0])
    assert min_calibration_factor(1e-14, is_closed_form=False) == KAPPA_RANGE[0]
    assert calibration_factor(np.full(9, 0.25), rounded) == pytest.approx(0.5)
    assert calibration_factor(np.full(9, 1e-6), rounded) == MIN_KAPPA_AT_ROUNDING
    assert calibration_factor(np.full(9, 0.25), free) == 1


def test_a_models_own_error_counts_where_readings_are_exact():
    assert (
        model_error_factor(0.05, is_closed_form=False)
        == model_error_factor(0.05, is_closed_form=True)
        == 1
    )
    assert is_exact(1e-9)
    assert not is_exact(0.05)
    assert model_error_factor(1e-9, is_closed_form=True) == MODEL_ERROR_CLOSED_FORM
    assert model_error_factor(1e-9, is_closed_form=False) == MODEL_ERROR_NETWORK


def test_of_a_steady_field_one_constant_is_open_and_of_one_in_time_alone_all_instants_count():
    steady, alone = pgt.Domain(x=(0, 2), y=(-1, 1)), pgt.Domain(t=(0, 3))
    where = domain_points(steady)
    assert where.instants == domain_points(alone).instants == 1
    assert len(np.unique(domain_points(alone).points)) == len(domain_points(alone).points)
    tilt = where.points[None, :, :1]  # which is no constant
    found = stated_errors(-tilt, where.points[:, :1], where, ("p",), undetermined=("p",))["p"]
    assert found.value == pytest.approx(1)


def test_between_standing_sensors_a_field_is_known_no_better_than_at_them():
    where = domain_points(PLATE)
    deviations = np.full((3, len(where.points), 1), 1e-9)
    found = stated_errors(deviations, where.points[:, :1], where, ("u",), floor=0.3)["u"]
    assert (found.value, found.low, found.high) == (
        0.3,
        0.3 / INTERVAL_FACTOR,
        0.3 * INTERVAL_FACTOR,
    )


def test_an_error_is_never_relative_to_the_spread_of_a_field_that_collapsed():
    """A network that came out as a constant would state an error of 1e13."""
    where = domain_points(PLATE)
    flat, random = np.full((len(where.points), 1), 7.0), np.random.default_rng(0)
    deviations = 0.3 * random.standard_normal((64, *flat.shape))
    read = stated_errors(deviations, flat, where, ("u",), reading_spreads={"u": 0.6})["u"]
    assert read.value == pytest.approx(0.5, rel=0.1)
    hidden = stated_errors(deviations, flat, where, ("p",))["p"]
    assert hidden.value == pytest.approx(1, rel=0.1)


def test_an_error_is_relative_to_the_field_that_may_be_the_true_one():
    """Beside a nearly flat answer, a field that is as rough as its error misses all of itself."""
    where = domain_points(PLATE)
    wave = np.sin(3 * where.points[:, :1])
    found = stated_errors(np.stack([wave, -wave]), 0.2 * wave, where, ("u",))["u"]
    assert 0.8 < found.value < 1.3


@pytest.mark.parametrize("count", [50, 500])
def test_noise_is_hardly_ever_taken_for_more(count):
    """Not at any place: what is added there would be most of what is stated for the whole field."""
    random = np.random.default_rng(0)
    places, read = random.uniform(size=(500, 2)), random.uniform(size=(count, 2))
    found = [
        (local_excess(places, read, random.standard_normal(count)) > 1).any() for _ in range(100)
    ]
    assert np.mean(found) < 0.05


def test_few_readings_say_nothing_and_none_says_everything():
    line = np.linspace(0, 1, LOCAL_READINGS)[:, None]
    assert (local_excess(line, line, np.full(LOCAL_READINGS, 9.0)) == 1).all()
    more = np.linspace(0, 1, 20)[:, None]
    assert (local_excess(more, more, np.full(20, 1e6)) == MAX_LOCAL_EXCESS).all()
    astray = np.where(np.arange(20) < 10, np.nan, 2.0)  # those that are not known do not count
    assert local_excess(more, more, astray) == pytest.approx(4.0)


def test_more_than_chance_is_the_fields():
    deviations = np.random.default_rng(1).standard_normal((4000, 2, 2))
    found = widen(deviations, 2.0, np.array([1.0, 9.0]), np.array([0.0, 5.0]))
    sizes = np.sqrt(np.mean(found**2, axis=0))
    assert sizes[0] == pytest.approx([2.0, 2.0], rel=0.05)
    assert sizes[1] == pytest.approx([3.0, np.sqrt(9 + 8 * 25)], rel=0.05)


NOISE = np.random.default_rng(1).standard_normal(6000)
FIRST, SECOND = NOISE[:3000], NOISE[3000:]
NONE = np.zeros(0)


def expected(missed: Misfits, spread: float = 1.0, far: float = 0.0):
    found = error_from_held_out(missed, spread, far)
    assert found is not None
    return found


def test_what_clean_readings_are_missed_by_is_the_error():
    found = expected(Misfits(0.02 * FIRST, 1e-4 * SECOND), spread=2.0)
    assert found.value == pytest.approx(0.01, rel=0.05)
    assert found.low < 0.01 < found.high


def test_noise_that_was_given_is_taken_off():
    found = expected(Misfits(np.hypot(0.03, 0.05) * FIRST, NONE, noise=0.05))
    assert found.value == pytest.approx(0.03, rel=0.1)


def test_what_neighbours_are_missed_by_alike_is_no_noise():
    """A field that was not followed misses fitted and unfitted readings by the same."""
    followed = expected(Misfits(0.1 * FIRST, 0.1 * SECOND, common_share=0.0))
    not_followed = expected(Misfits(0.1 * FIRST, 0.1 * SECOND, common_share=1.0))
    assert not_followed.value == pytest.approx(0.1, rel=0.05)
    assert followed.value < not_followed.value / 3


def test_no_less_is_stated_than_chance_explains():
    few = expected(Misfits(0.1 * FIRST[:8], 0.2 * SECOND))
    assert few.value == pytest.approx(np.sqrt(np.mean((0.1 * FIRST[:8]) ** 2) * np.sqrt(2 / 8)))
    assert few.high > 0.1


def test_far_from_readings_more_is_expected():
    missed = Misfits(0.01 * FIRST, NONE)
    near, some = expected(missed), expected(missed, far=0.2)
    assert near.inside is None
    assert some.outside == pytest.approx(EXTRAPOLATION_FACTOR * near.value)
    assert some.value == pytest.approx(np.sqrt(0.8 + 0.2 * EXTRAPOLATION_FACTOR**2) * near.value)


@pytest.mark.parametrize("unfitted", [NONE, np.array([np.nan])])
def test_without_readings_nothing_is_said(unfitted):
    assert error_from_held_out(Misfits(unfitted, FIRST), 1.0) is None
