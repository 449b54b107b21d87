"""Steps of unknown coefficients: no farther than may be believed, and said where they end."""

import numpy as np
import pytest

from pgt.ground.unknown import Unknown
from pgt.physics import Heat
from pgt.training.coefficients import (
    EDGE,
    FAR,
    MOVING,
    REST,
    STEP,
    Coefficients,
    are_settled,
    is_at_edge,
)

START = Unknown(0.01, positive=True)


def test_a_logarithm_moves_by_one_at_most():
    raw = np.log([0.01])
    coefficients = Coefficients(Heat(START))
    np.testing.assert_allclose(coefficients.step(raw, raw + 49), raw + STEP)
    np.testing.assert_allclose(coefficients.step(raw, raw - 0.3), raw - 0.3)


def test_a_multiple_of_a_unit_grows_by_a_factor():
    coefficients = Coefficients(Heat(Unknown(0.01)))
    ((raw,), (far,)) = np.ones(1), coefficients.step(np.array([100.0]), np.array([1e9]))
    assert far == pytest.approx(100 * np.e, rel=1e-3)
    assert coefficients.step(np.array([raw]), np.array([-0.1])) == pytest.approx(-0.1, abs=0.1)


def test_no_coefficient_leaves_what_is_searched():
    coefficients, raw = Coefficients(Heat(START)), np.log([0.01])
    last = raw + FAR - 0.1
    np.testing.assert_allclose(coefficients.step(last, last + 5), raw + FAR)
    learnt = coefficients.learnt(last, last + 5, np.array([40.0]))
    assert learnt["diffusivity"].unsettled == EDGE
    assert learnt["diffusivity"].deviation == FAR
    assert is_at_edge(learnt)


@pytest.mark.parametrize(
    ("step", "deviation", "why"),
    [(0.5 * REST, 1e-3, ""), (2 * REST, 0.2, MOVING), (0.4, 1.0, ""), (0.6, 1.0, MOVING)],
)
def test_rest_is_a_step_that_nobody_would_see(step, deviation, why):
    raw = np.log([0.01])
    learnt = Coefficients(Heat(START)).learnt(raw, raw + step, np.array([deviation]))
    assert learnt["diffusivity"].unsettled == why
    assert are_settled(learnt) is (not why)


def test_at_its_bound_a_coefficient_is_at_rest():
    coefficients = Coefficients(Heat(Unknown(0.01, bounds=(0.001, 0.02))))
    raw = np.array([5.0])
    assert are_settled(coefficients.learnt(raw, raw + 3, np.array([2.0])))
    assert not are_settled(coefficients.learnt(raw, raw - 3, np.array([2.0])))


def test_known_equations_have_none():
    coefficients, nothing = Coefficients(Heat(0.01)), np.zeros(0)
    assert len(coefficients.step(nothing, nothing)) == 0
    assert coefficients.learnt(nothing, nothing, nothing) == {}
