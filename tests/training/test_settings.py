"""Settings of a fit: errors, what a step depends on, and the stored record."""

from dataclasses import replace

import pytest

import pgt
from pgt.training.settings import Polish


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"steps": -1}, r"Training\(steps=-1\): steps must be a whole number from 0 up, or None"),
        ({"batch": 0}, "batch"),
        ({"collocation": -3}, "collocation"),
        ({"check_every": 0}, "check_every"),
        ({"seconds": 0.0}, "seconds must be a number above 0, or None"),
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"learning_rate": float("nan")}, "learning_rate"),
        ({"hold_out": 1.0}, r"in \[0, 1\)"),
        ({"patience": 0.0}, "patience"),
        ({"steps": 2.5}, r"Training\(steps=2.5\): steps must be a whole number"),
        ({"check_every": 1.5}, r"check_every=1.5"),
        ({"learning_rate": 1e30}, "learning_rate must be a number above 0 up to 1000"),
        ({"learning_rate": float("inf")}, "learning_rate must be a finite number above 0"),
        (
            {"sampler": "sobl"},
            r"sampler must be a sampler \('uniform', 'sobol', 'graded', 'residual_adaptive'",
        ),
        ({"weighting": {}}, r"weighting must be a weighting such as pgt.training.Fixed"),
        (
            {"polish": {"iteratons": 3}},
            "Polish has no argument 'iteratons'; its arguments are iterations",
        ),
    ],
)
def test_wrong_settings_are_named(settings, message):
    with pytest.raises(pgt.InputError, match=message):
        pgt.Training(**settings)


def test_names_stand_for_registered_parts():
    told = pgt.Training(
        steps=1e3, sampler="sobol", weighting="gradient_norm", polish={"iterations": 3}
    )
    assert told == pgt.Training(
        steps=1000,
        sampler=pgt.training.Sobol(),
        weighting=pgt.training.GradientNorm(),
        polish=Polish(iterations=3),
    )
    assert pgt.Training(polish=True).polish == Polish()


def test_a_step_does_not_depend_on_budget_and_held_out_readings():
    plain = pgt.Training(batch=7, likelihood="huber")
    budget = {"steps": 3, "seconds": 1.0, "patience": 0.1, "check_every": 2}
    other = replace(
        plain, **budget, hold_out=0.3, hold_out_by="block", precision="float64", polish=False
    )
    assert other.of_a_step() == plain.of_a_step() == plain
    assert hash(other.of_a_step()) == hash(plain)
    assert replace(plain, collocation=8).of_a_step() != plain


def test_an_unknown_optimiser_lists_the_known_ones():
    with pytest.raises(pgt.InputError, match=r"'sgdd'.*'soap'.*or an Optax transformation"):
        pgt.Training(optimiser="sgdd")


def test_an_odd_number_of_samples_is_refused():
    with pytest.raises(pgt.InputError, match="samples come in pairs; write an even number"):
        pgt.Posterior(samples=9)
