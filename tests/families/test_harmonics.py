"""The period of a run, found from it."""

import numpy as np
import pytest

from pgt.families.harmonics import cycle_of, waves

T = np.linspace(3.0, 19.0, 81)
PATTERNS = np.random.default_rng(0).normal(size=(5, 7, 2))


def run(period, drift=0.0):
    """Two harmonics of a period, with patterns of their own, that may grow a little."""
    along = waves((T - T[0]) / period, 2, np) * np.append(1.0, np.full(4, 1.0))
    along[:, 1:] *= np.exp(drift * (T - T[0]))[:, None]
    return np.tensordot(along, PATTERNS, 1)


@pytest.mark.parametrize("period", [1.7, 6.1, 9.3])
def test_the_period_and_the_harmonics_are_found(period):
    found = cycle_of(run(period), T, 3)
    assert found.period == pytest.approx(period, rel=1e-5)
    expected = np.concatenate([PATTERNS[:3], 0 * PATTERNS[:1], PATTERNS[3:], 0 * PATTERNS[:1]])
    np.testing.assert_allclose(found.modes, expected, atol=1e-4)
    assert found.rest < 1e-4


def test_a_run_that_grows_slowly_has_not_twice_the_period():
    found = cycle_of(run(6.1, drift=0.01), T, 6)
    assert found.period == pytest.approx(6.1, rel=0.02)
    assert 0.001 < found.rest < 0.1


def test_what_stands_still_has_a_mean_alone():
    found = cycle_of(np.broadcast_to(PATTERNS[0], (81, 7, 2)), T, 2)
    np.testing.assert_allclose(found.modes[0], PATTERNS[0], rtol=1e-6)
    assert not found.modes[1:].any()
    assert found.rest == 0
