"""Steps of unknown coefficients are limited, and coefficients not at rest are reported."""

import numpy as np
import pytest

from pgt.core.unknown import Unknown
from pgt.methods.coefficients import (
    AT_EDGE,
    MAX_LOG_DISTANCE,
    MAX_LOG_STEP,
    MAX_LOG_STEP_AT_REST,
    STILL_MOVING,
    CoefficientSteps,
    are_settled,
    is_at_edge,
)
from pgt.physics import Heat

START = Unknown(0.01, positive=True)


def test_a_step_of_a_logarithm_is_limited():
    raw = np.log([0.01])
    coefficients = CoefficientSteps(Heat(START))
    np.testing.assert_allclose(coefficients.step(raw, raw + 49), raw + MAX_LOG_STEP)
    np.testing.assert_allclose(coefficients.step(raw, raw - 0.3), raw - 0.3)


def test_a_coefficient_stops_at_the_edge_of_the_search():
    coefficients, raw = CoefficientSteps(Heat(START)), np.log([0.01])
    last = raw + MAX_LOG_DISTANCE - 0.1
    np.testing.assert_allclose(coefficients.step(last, last + 5), raw + MAX_LOG_DISTANCE)
    learnt = coefficients.estimates(last, last + 5, np.array([40.0]))
    assert learnt["diffusivity"].unsettled == AT_EDGE
    assert learnt["diffusivity"].deviation == MAX_LOG_DISTANCE
    assert is_at_edge(learnt)


@pytest.mark.parametrize(
    ("step", "deviation", "why"),
    [
        (0.5 * MAX_LOG_STEP_AT_REST, 1e-3, ""),
        (2 * MAX_LOG_STEP_AT_REST, 0.2, STILL_MOVING),
        (0.4, 1.0, ""),
        (0.6, 1.0, STILL_MOVING),
    ],
)
def test_a_coefficient_with_a_small_next_step_is_at_rest(step, deviation, why):
    raw = np.log([0.01])
    learnt = CoefficientSteps(Heat(START)).estimates(raw, raw + step, np.array([deviation]))
    assert learnt["diffusivity"].unsettled == why
    assert are_settled(learnt) is (not why)
