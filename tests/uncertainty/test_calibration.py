"""Error bars that hold: conformal factors on data whose truth is known."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.uncertainty.calibration import (
    Calibration,
    MemberCount,
    Predicted,
    calibrate,
    leave_one_out,
)


def predicted(misfit, spread, noise=None):
    return Predicted(np.asarray(misfit), np.zeros(len(misfit)), np.asarray(spread), noise)


# ------------------------------------------------------------------------------- factors


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("wrong", [0.2, 1.0, 5.0])
def test_new_readings_are_held_as_often_as_promised_however_wrong_the_spread(level, wrong):
    # Student-t misfits, whose spread is misjudged by a factor; 19 readings, so that the promise is
    # exact: the chance is ⌈20 · level⌉ / 20.
    random, repetitions = np.random.default_rng(0), 2000
    scale = random.uniform(0.5, 2, size=(repetitions, 219))
    misfits = scale * random.standard_t(3, size=scale.shape)
    held = np.empty(repetitions)
    for row in range(repetitions):
        found = calibrate(predicted(misfits[row, :19], wrong * scale[row, :19], 0.0))
        half = found.half_width(wrong * scale[row, 19:], level, 0.0)
        held[row] = (np.abs(misfits[row, 19:]) <= half).mean()
    # One calibration's coverage is Beta distributed, and counted on 200 readings.
    error = np.sqrt(level * (1 - level) * (1 / 21 + 1 / 200) / repetitions)
    assert held.mean() == pytest.approx(level, abs=4 * error)


@pytest.mark.parametrize(("count", "level"), [(9, 0.8), (9, 0.9), (19, 0.95), (40, 0.5), (3, 0.7)])
def test_the_factor_is_the_smallest_score_that_enough_others_do_not_exceed(count, level):
    scores = np.sort(np.random.default_rng(count).exponential(size=count))
    enough = [s for s in scores if (scores <= s).sum() >= level * (count + 1) - 1e-9]
    assert Calibration(scores, 0.0).factor(level) == (enough[0] if enough else None)


# ------------------------------------------------------------------------------- noise


def test_mistakes_are_named():
    for call, message in (
        (lambda: Calibration(np.ones(3), 0.0).factor(1.0), "between 0 and 1"),
        (lambda: predicted([1.0, np.nan], [1.0, 1.0]), "readings.*2 finite numbers"),
        (lambda: predicted([1.0, 2.0], [1.0, -1.0]), "spread.*0 or more"),
        (lambda: predicted([1.0, 2.0], [1.0, 1.0], np.inf), "noise.*2 finite numbers"),
    ):
        with pytest.raises(InputError, match=message):
            call()


# ------------------------------------------------------------------------------- left out in turn


def test_left_out_in_turn_is_what_a_fit_without_the_reading_says():
    """A ridge regression, refitted without each of its readings."""
    random = np.random.default_rng(2)
    design, sigma = random.standard_normal((30, 4)), 0.3
    y = design @ random.standard_normal(4) + sigma * random.standard_normal(30)

    def posterior(rows):
        covariance = np.linalg.inv(design[rows].T @ design[rows] / sigma**2 + np.eye(4))
        return covariance @ design[rows].T @ y[rows] / sigma**2, covariance

    mean, covariance = posterior(np.arange(30))
    spread = np.sqrt(np.einsum("ij,jk,ik->i", design, covariance, design))
    found = leave_one_out(Predicted(y, design @ mean, spread, sigma))
    for row in range(30):
        without, covariance = posterior(np.delete(np.arange(30), row))
        assert found.mean[row] == pytest.approx(design[row] @ without)
        assert found.spread[row] ** 2 == pytest.approx(design[row] @ covariance @ design[row])


@pytest.mark.parametrize("noise", [0.0, 1.0, 20.0])
def test_few_members_are_allowed_for_once_with_noise_and_without(noise):
    # Without noise the scores know that the spread is uncertain, with much of it they cannot.
    random = np.random.default_rng(5)
    drawn = random.normal(size=(8, 40_000))
    error = drawn.mean(axis=0) + random.normal(size=40_000)
    readings = error + noise * random.normal(size=40_000)
    spread = drawn.std(axis=0, ddof=1)
    found = calibrate(Predicted(readings, np.zeros(40_000), spread, noise, MemberCount(8)))
    held = (np.abs(error) <= found.field_factor(0.9) * spread).mean()
    assert held == pytest.approx(0.9, abs=0.02)
