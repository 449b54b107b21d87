"""Whether readings scatter by what their given noise says."""

from dataclasses import replace

import numpy as np
import pytest
import verdict_cases as cases

from pgt.uncertainty.verdict import judge


def known(given: float, n: int = 120, **more):
    """A field that is known exactly, read with σ = 0.05 of its spread; `given` times that is said."""
    field = cases.heat_field()
    sigma = given * 0.05 * float(field.u.std())
    fitted, held_out = cases.readings_of(field, ("u",), n)
    fitted, held_out = (
        replace(part, noise=np.full_like(part.values, sigma)) for part in (fitted, held_out)
    )
    return cases.evidence(field, fitted, held_out, **more)


@pytest.mark.parametrize("given", [0.1, 0.2, 5.0, 20.0])
def test_a_noise_that_readings_contradict_is_doubted(given):
    (doubt,) = judge(known(given, n=1000)).doubts
    assert doubt.kind == "contradicted_noise"
    ratio = doubt.numbers["observed"] / doubt.numbers["given"]
    assert ratio == pytest.approx(1 / given, rel=0.3)
    said = " times the noise that was given" if given < 1 else "the field is smoother"
    assert said in doubt.sentence
    assert " K" in doubt.sentence
    assert not doubt.is_grave


@pytest.mark.parametrize("given", [0.7, 1.0, 1.5])
def test_a_noise_that_is_about_right_is_not(given):
    assert judge(known(given, n=1000)).doubts == ()


def test_few_readings_contradict_nothing():
    assert "contradicted_noise" not in judge(known(0.4, n=10)).kinds


def test_what_a_field_is_wrong_by_is_no_noise():
    """Neighbours are missed alike by a field that is off; so they are not by noise."""
    evidence = known(1.0, n=1000)
    x = evidence.misfits["x"].to_numpy()
    off = evidence.misfits["misfit"] + 10 * np.sin(9 * x)
    assert (off.abs() > 3).mean() > 0.5
    wrong = replace(evidence, misfits=evidence.misfits.assign(misfit=off))
    assert "contradicted_noise" not in judge(wrong).kinds


def test_readings_far_away_are_told_by_the_noise_that_they_show():
    """By a noise that is ten times too small, all of them would be."""
    evidence = known(0.1, n=1000)
    assert (evidence.misfits["misfit"].abs() > 5).sum() > 100
    assert "far_readings" not in judge(evidence).kinds
