"""How long each part of a fit may take, decided before it begins."""

import pytest

import pgt
from pgt.training.budget import ITERATIONS, STEPS, TRAINED, budgeted

READINGS = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
SCALING = pgt.Scaling.fit(READINGS, pgt.Domain(x=(0, 1), t=(0, 1)))
SMALL = pgt.PINN(SCALING, width=8, layers=2)
LARGE = pgt.PINN(SCALING, width=100, layers=3)
ENCODING = pgt.PGT(SCALING, pgt.HeatKernel(0.01), width=16, decoder_width=12, decoder_layers=2)


def test_second_order_steps_on_all_weights_need_none_before_them():
    found = budgeted(pgt.Training(), SMALL)
    assert found.steps == 0
    assert found.polish
    assert (found.polish.iterations, found.polish.seconds) == (ITERATIONS, None)


def test_seconds_are_those_of_the_whole_fit():
    small, encoding = (budgeted(pgt.Training(seconds=10.0), m) for m in (SMALL, ENCODING))
    assert small.polish
    assert encoding.polish
    assert (small.steps, small.polish.seconds) == (0, 10.0)
    assert (encoding.seconds, encoding.polish.seconds) == (
        pytest.approx(10 * TRAINED),
        pytest.approx(10 * (1 - TRAINED)),
    )
    assert budgeted(pgt.Training(seconds=10.0), LARGE).seconds == 10.0


def test_other_models_are_trained_first():
    assert budgeted(pgt.Training(), LARGE).steps == STEPS
    assert budgeted(pgt.Training(), ENCODING).steps == STEPS
    assert budgeted(pgt.Training(polish=False), SMALL).steps == STEPS


def test_what_the_user_says_stays():
    asked = pgt.Training(steps=7, polish=pgt.Polish(iterations=3, seconds=2.0))
    assert budgeted(asked, SMALL) == asked
    assert budgeted(asked, ENCODING) == asked
    only = budgeted(pgt.Training(polish=pgt.Polish(iterations=3)), SMALL)
    assert only.polish
    assert (only.steps, only.polish.iterations) == (0, 3)


def test_a_sum_of_sines_has_nothing_to_train():
    asked = pgt.Training(seconds=3.0)
    assert budgeted(asked, pgt.Features(SCALING, count=20)) is asked
