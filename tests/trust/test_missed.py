"""The error of a field by readings that were not fitted."""

import numpy as np
import pytest

from pgt.trust.missed import FARTHER, Missed, error_by_missed

NOISE = np.random.default_rng(1).standard_normal(6000)
FIRST, SECOND = NOISE[:3000], NOISE[3000:]
NONE = np.zeros(0)


def expected(missed: Missed, spread: float = 1.0, far: float = 0.0):
    found = error_by_missed(missed, spread, far)
    assert found is not None
    return found


def test_what_clean_readings_are_missed_by_is_the_error():
    found = expected(Missed(0.02 * FIRST, 1e-4 * SECOND), spread=2.0)
    assert found.value == pytest.approx(0.01, rel=0.05)
    assert found.low < 0.01 < found.high


def test_noise_that_was_given_is_taken_off():
    found = expected(Missed(np.hypot(0.03, 0.05) * FIRST, NONE, noise=0.05))
    assert found.value == pytest.approx(0.03, rel=0.1)


def test_what_neighbours_are_missed_by_alike_is_no_noise():
    """A field that was not followed misses fitted and unfitted readings by the same."""
    followed = expected(Missed(0.1 * FIRST, 0.1 * SECOND, common=0.0))
    not_followed = expected(Missed(0.1 * FIRST, 0.1 * SECOND, common=1.0))
    assert not_followed.value == pytest.approx(0.1, rel=0.05)
    assert followed.value < not_followed.value / 3


def test_no_less_is_stated_than_chance_explains():
    few = expected(Missed(0.1 * FIRST[:8], 0.2 * SECOND))
    assert few.value == pytest.approx(np.sqrt(np.mean((0.1 * FIRST[:8]) ** 2) * np.sqrt(2 / 8)))
    assert few.high > 0.1


def test_far_from_readings_more_is_expected():
    missed = Missed(0.01 * FIRST, NONE)
    near, some = expected(missed), expected(missed, far=0.2)
    assert near.inside is None
    assert some.outside == pytest.approx(FARTHER * near.value)
    assert some.value == pytest.approx(np.sqrt(0.8 + 0.2 * FARTHER**2) * near.value)


@pytest.mark.parametrize("unfitted", [NONE, np.array([np.nan])])
def test_without_readings_nothing_is_said(unfitted):
    assert error_by_missed(Missed(unfitted, FIRST), 1.0) is None
