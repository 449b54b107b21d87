"""Effects of sensors against dense matrices: readings and effects in one Gaussian problem."""

from dataclasses import replace

import numpy as np
import pytest

import pgt
from pgt.inference.linear_gaussian import GaussianPosterior, ReducedReadings, Rows
from pgt.inference.sensor_effects import candidates, estimate, shift_of

SIGMA = 0.02
TIMES = np.linspace(0.0, 2.0, 15)


def truth(x, t):
    return 1.0 + 2.0 * x + np.sin(2 * t) * (1 - x)


def readings_of(count, sensors=None, error=lambda x, t, u: 0.0, seed=0, field=truth):
    random = np.random.default_rng(seed)
    x, t = (a.ravel() for a in np.meshgrid(np.linspace(0, 1, count), TIMES, indexing="ij"))
    u = field(x, t) + SIGMA * random.normal(size=len(x))
    u = u + error(x, t, field(x, t))
    return pgt.Observations.from_arrays(
        {"x": x, "t": t}, {"u": u}, noise=SIGMA, sensors=sensors or pgt.Sensors()
    )


def exact(readings, shift):
    """The true field at readings whose times are moved, in place of a fit."""
    x, t = np.asarray(readings.points, float).T
    return truth(x, t + shift)[:, None], np.full(len(x), shift)


def design(readings):
    """A model of six functions that contains the truth."""
    x, t = np.asarray(readings.points, float).T
    functions = [np.ones_like(x), x, np.sin(2 * t), x * np.sin(2 * t), t, x * t]
    return np.stack(functions, axis=1)


def posterior_of(readings, values):
    rows = Rows(
        np.zeros((0, 6)), np.zeros(0), design(readings), values, np.ones(len(values)), SIGMA
    )
    return GaussianPosterior(ReducedReadings(rows), 0.0)


def found_in(readings, known=()):
    by_key = {(one.place, one.field, one.kind): one for one in known}
    return list(candidates(readings, exact, np.ones(1), 2.0, by_key))


def estimated(readings, known=()):
    found = found_in(readings, known)
    shift = shift_of(known, readings, exact)[:, 0]
    values = np.asarray(readings.values)[:, 0] - shift
    return estimate([posterior_of(readings, values)], found)


def jointly(readings, columns, deviations):
    """The posterior mean and covariance of effects, from one least-squares problem for all unknowns."""
    values = np.asarray(readings.values)[:, 0]
    scale = posterior_of(readings, values).scale
    rows = np.concatenate([design(readings), columns], axis=1) / SIGMA
    precision = rows.T @ rows + np.diag(np.r_[np.full(6, 1 / scale), deviations**-2.0])
    covariance = np.linalg.inv(precision)
    mean = covariance @ rows.T @ (values / SIGMA)
    return mean[6:], covariance[6:, 6:]


@pytest.mark.parametrize("kind", ["offset", "gain", "drift", "clock"])
def test_effects_of_a_stated_size_are_those_of_the_joint_posterior(kind):
    others = dict.fromkeys({"offset", "gain", "drift", "clock"} - {kind}, 0.0)
    readings = readings_of(3, pgt.Sensors(**others, **{kind: 0.2}))
    found, result = found_in(readings), estimated(readings)
    columns = np.stack([one.column for one in found], axis=1)
    mean, covariance = jointly(readings, columns, np.full(3, 0.2))
    assert [effect.kind for effect in result.effects] == [kind] * 3
    np.testing.assert_allclose([effect.value for effect in result.effects], mean, rtol=1e-6)
    np.testing.assert_allclose(
        [effect.deviation for effect in result.effects], np.sqrt(np.diag(covariance)), rtol=1e-6
    )
    np.testing.assert_allclose(
        result.errors @ result.errors.T, columns @ covariance @ columns.T, atol=1e-10
    )


def test_the_field_is_as_uncertain_as_in_the_joint_posterior():
    readings = readings_of(3, pgt.Sensors(offset=0.2, gain=0.0, drift=0.0, clock=0.0))
    result = estimated(readings)
    values = np.asarray(readings.values)[:, 0] - shift_of(result.effects, readings, exact)[:, 0]
    alone = posterior_of(readings, np.asarray(readings.values)[:, 0])
    rows = Rows(
        np.zeros((0, 6)), np.zeros(0), design(readings), values, np.ones(45), SIGMA,
        errors=result.errors,
    )  # fmt: skip
    found = GaussianPosterior(ReducedReadings(rows), 0.0)
    columns = np.stack([one.column for one in found_in(readings)], axis=1)
    joint = np.concatenate([design(readings), columns], axis=1) / SIGMA
    prior = np.r_[np.full(6, 1 / alone.scale), np.full(3, 0.2**-2.0)]
    covariance = np.linalg.inv(joint.T @ joint + np.diag(prior))[:6, :6]
    expected = np.sqrt(np.diag(covariance))
    assert (expected > 1.5 * alone.spread(np.eye(6))).any()  # without offsets
    np.testing.assert_allclose(found.spread(np.eye(6)), expected, rtol=0.01)
    drawn = found.draw(4000)
    np.testing.assert_allclose(np.std(drawn, axis=0), expected, rtol=0.1)


def test_the_estimate_does_not_depend_on_what_was_taken_out_before():
    readings = readings_of(3, pgt.Sensors(offset=0.2, gain=0.0, drift=0.0, clock=0.0))
    before = estimated(readings)
    again = estimated(readings, before.effects)
    for old, new in zip(before.effects, again.effects, strict=True):
        assert new.value == pytest.approx(old.value, abs=2e-3)


@pytest.mark.parametrize(
    ("kinds", "error"),
    [
        (["offset"], lambda t, u: 0.2 + 0 * t),
        (["drift"], lambda t, u: 0.2 * (t - 1.0)),
        (["gain", "offset"], lambda t, u: 0.2 * (u - 1.5)),
    ],
)
def test_two_wrong_sensors_of_eight_are_found_with_their_errors(kinds, error):
    places = np.linspace(0, 1, 8)

    def wrong(x, t, u):
        return ((x == places[1]).astype(float) - (x == places[4])) * error(t, u)

    readings = readings_of(8, error=wrong)
    effects = estimated(readings, estimated(readings).effects).effects
    assert {effect.place for effect in effects} == {(places[1],), (places[4],)}
    assert {effect.kind for effect in effects} <= set(kinds)
    x, t = np.asarray(readings.points, float).T
    missed = shift_of(effects, readings, exact)[:, 0] - wrong(x, t, truth(x, t))
    assert np.sqrt(np.mean(missed**2)) < SIGMA / 2


@pytest.mark.parametrize("seed", range(10))
def test_right_sensors_have_no_effects(seed):
    assert estimated(readings_of(8, seed=seed)).effects == ()


def test_half_of_the_sensors_are_not_blamed():
    readings = readings_of(6, error=lambda x, t, u: 0.5 * (x > 0.5))
    assert len(estimated(readings).effects) <= 2


def test_what_effects_add_to_readings():
    readings = readings_of(3, pgt.Sensors(offset=0.2, gain=0.2, drift=0.2, clock=0.2))
    effects = {
        one.effect.kind: one.effect for one in found_in(readings) if one.effect.place == (0.5,)
    }
    x, t = np.asarray(readings.points, float).T
    expected = {
        "offset": 0.1 + 0 * t,
        "gain": 0.1 * truth(x, t),
        "drift": 0.1 * (t - 1.0),
        "clock": truth(x, t + 0.1) - truth(x, t),
    }
    for kind, effect in effects.items():
        one = replace(effect, value=0.1)
        shift = shift_of([one], readings, exact)[:, 0]
        np.testing.assert_allclose(shift, np.where(x == 0.5, expected[kind], 0.0), atol=1e-12)
