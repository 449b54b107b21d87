"""When a second model is asked, and which of the two answers is kept."""

import dataclasses

import numpy as np
import pytest

import pgt
from pgt.reconstruction.rival import in_time_left, needs_rival, predicts_better
from pgt.training.assemble import assemble
from pgt.training.features import FEWEST_TO_CHOOSE
from pgt.training.fit import Outcome
from pgt.training.loop import Fit

DOMAIN, EQUATION = pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Heat(0.01)
READINGS = pgt.sample(pgt.datasets.heat(), n=FEWEST_TO_CHOOSE)
TASK = assemble(READINGS, EQUATION, DOMAIN, training=pgt.Training(seconds=30.0))


def expecting(value):
    return {"u": {"value": value, "low": value / 2, "high": 2 * value}}


def missing_by(error):
    return Outcome(Fit(TASK.model, EQUATION, 0.0), error)


def test_a_network_is_asked_where_sines_are_poor_and_readings_can_tell():
    assert needs_rival(TASK, expecting(0.1))
    assert not needs_rival(TASK, expecting(1e-6))
    assert not needs_rival(TASK, None)
    assert needs_rival(TASK, expecting(0.1), spent=20.0)
    assert not needs_rival(TASK, expecting(0.1), spent=25.0)  # of thirty seconds
    hurried = assemble(READINGS, EQUATION, DOMAIN, training=pgt.Training(seconds=20.0))
    assert not needs_rival(hurried, expecting(0.1))  # a network would compile until they are over
    few = assemble(READINGS.take(np.arange(20)), EQUATION, DOMAIN)
    assert not needs_rival(few, expecting(0.1))


def test_a_model_that_the_user_named_has_no_rival():
    named = assemble(READINGS, EQUATION, DOMAIN, model=TASK.model)
    assert named.rival is None
    assert not needs_rival(named, expecting(0.1))


def test_the_rival_is_a_network_for_the_same_readings_in_the_time_that_is_left():
    assert TASK.rival is not None
    rival = TASK.rival()
    assert isinstance(rival.model, pgt.PINN)
    assert len(rival.problem.observations) + len(rival.held_out) == len(READINGS)
    for spent, left in ((10.0, 20.0), (29.0, 10.0)):  # a third of the time at least
        polish = in_time_left(rival, spent).training.polish
        assert polish
        assert polish.seconds == pytest.approx(left)
    unlimited = dataclasses.replace(rival, training=pgt.Training())
    assert in_time_left(unlimited, 10.0) is unlimited


def test_it_must_predict_better_than_chance_explains():
    eight, many = READINGS.take(np.arange(8)), READINGS
    assert predicts_better(missing_by(0.4), missing_by(1.0), eight)
    assert not predicts_better(missing_by(0.6), missing_by(1.0), eight)  # 1 - 2/√16 = 0.5
    assert predicts_better(missing_by(0.6), missing_by(1.0), many)
    assert not predicts_better(missing_by(None), missing_by(1.0), eight)
