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


def test_a_step_of_a_plain_coefficient_is_limited():
    coefficients = CoefficientSteps(Heat(Unknown(0.01)))
    ((raw,), (far,)) = np.ones(1), coefficients.step(np.array([100.0]), np.array([1e9]))
    assert far == pytest.approx(100 * np.e, rel=1e-3)
    assert coefficients.step(np.array([raw]), np.array([-0.1])) == pytest.approx(-0.1, abs=0.1)


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


def test_a_coefficient_at_its_bound_is_at_rest():
    coefficients = CoefficientSteps(Heat(Unknown(0.01, bounds=(0.001, 0.02))))
    raw = np.array([5.0])
    assert are_settled(coefficients.estimates(raw, raw + 3, np.array([2.0])))
    assert not are_settled(coefficients.estimates(raw, raw - 3, np.array([2.0])))


def test_an_equation_without_unknowns_has_no_steps():
    coefficients, nothing = CoefficientSteps(Heat(0.01)), np.zeros(0)
    assert len(coefficients.step(nothing, nothing)) == 0
    assert coefficients.estimates(nothing, nothing, nothing) == {}
