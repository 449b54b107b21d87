"""The verdict, from evidence made by hand: every doubt has its kind, its numbers and its sentence.

What is doubted of places far from readings.
"""

import dataclasses
import typing
from dataclasses import replace

import numpy as np
import pytest
import verdict_cases as cases

from pgt.core.doubt import FieldError, Kind
from pgt.core.stage import Stage
from pgt.data import Observations
from pgt.data.visibility import Cells
from pgt.methods.finished_fit import (
    BUDGET_SPENT,
    DIVERGED,
    HELD_OUT_ERROR_STALLED,
)
from pgt.uncertainty.convergence import Descent
from pgt.uncertainty.held_out import HeldOutPredictions
from pgt.uncertainty.misfits import misfit_table
from pgt.uncertainty.verdict import Evidence, judge, undetermined_places

NAN = float("nan")
KINDS = set(typing.get_args(Kind))


def heat(keep=slice(None), off=0.0, noise=None, **more) -> Evidence:
    """A fit of the heat equation; `off` is its error at those held-out readings that are kept."""
    field = cases.heat_field()
    fitted, held_out = cases.readings_of(field, ("u",), 120)
    if noise is not None:
        fitted = dataclasses.replace(fitted, noise=np.full_like(fitted.values, noise))
    return cases.evidence(field, fitted, held_out.take(np.arange(12)[keep]), off, **more)


def one(evidence: Evidence, kind: str):
    """The only doubt of a kind."""
    (found,) = [doubt for doubt in judge(evidence).doubts if doubt.kind == kind]
    return found


# ------------------------------------------------------------------------------- the whole


def test_a_sound_fit_raises_no_doubt():
    verdict = judge(heat())
    assert verdict.converged is True
    assert (verdict.doubts, verdict.kinds, verdict.folds) == ((), (), None)
    assert "stopped falling" in verdict.reason
    assert set(verdict.held_out) == {"u"}


def test_a_coefficient_that_means_nothing_is_grave():
    verdict = judge(heat(unidentified_coefficients={"r": "its terms are gone"}))
    assert (verdict.kinds, verdict.exit_code) == (("unidentified_coefficient",), 4)
    assert str(verdict.doubts[0]) == "r: its terms are gone."


def test_the_most_serious_comes_first_and_each_says_what_it_is():
    everything = heat(
        keep=slice(5), off=2.0, descent=Descent(DIVERGED), values={"u": np.full(3, NAN)},
        free_fields={"p": "a constant"}, coefficient_notes={"nu": "at its bound"},
    )  # fmt: skip
    verdict = judge(everything)
    assert verdict.kinds == (
        "not_converged", "not_finite", "large_error", "far_readings", "few_held_out",
        "undetermined_field", "doubtful_coefficient",
    )  # fmt: skip
    assert set(verdict.kinds) <= KINDS
    assert all(doubt.sentence.endswith((".", '"student".')) for doubt in verdict.doubts)
    assert [str(doubt) for doubt in verdict.doubts] == [d.sentence for d in verdict.doubts]


# ------------------------------------------------------------------------------- converged


@pytest.mark.parametrize(
    ("descent", "converged"),
    [
        (Descent(HELD_OUT_ERROR_STALLED), True),
        (Descent(BUDGET_SPENT, np.exp(-np.linspace(0, 5, 40))), False),
        (Descent(BUDGET_SPENT, np.ones(40)), True),
        (Descent(BUDGET_SPENT), None),
        (Descent(DIVERGED), False),
    ],
)
def test_a_fit_that_was_on_its_way_is_doubted(descent, converged):
    verdict = judge(heat(descent=descent))
    assert verdict.converged is converged
    assert ("not_converged" in verdict.kinds) is (converged is False)
    if converged is False:
        assert verdict.doubts[0].sentence == f"The fit has not converged. {verdict.reason}"


@pytest.mark.parametrize("descent", [Descent(HELD_OUT_ERROR_STALLED), Descent(BUDGET_SPENT)])
def test_a_field_that_does_not_explain_the_readings_has_not_converged(descent):
    verdict = judge(heat(off=2.0, descent=descent))
    assert verdict.held_out["u"].of_spread > 0.9
    assert verdict.converged is False
    assert "of the spread of its readings: the field explains them no better" in verdict.reason
    assert verdict.kinds[0] == "not_converged"


# ------------------------------------------------------------------------------- doubts


def test_interpolation_that_is_better_is_a_doubt():
    fine = heat(off=0.1)
    truth = np.asarray(fine.judged.readings.values)
    for simple, better in ((truth * 1.001, True), (truth * 2, False)):
        judged = dataclasses.replace(fine.judged, interpolated=simple)
        verdict = judge(dataclasses.replace(fine, judged=judged))
        assert ("worse_than_interpolation" in verdict.kinds) is better
        found = verdict.held_out["u"]
        assert found.interpolated_relative == pytest.approx(0.001 if better else 1.0)
        if better:
            (doubt,) = [d for d in verdict.doubts if d.kind == "worse_than_interpolation"]
            assert "interpolation without physics" in str(doubt)
            assert "and by more than chance explains" in str(doubt)
            assert doubt.numbers["of_spread"] == found.of_spread
            assert doubt.is_grave is (found.of_spread > 0.05)


# ------------------------------------------------------------------------------- sensors


def probed(outliers=(), offset=0.0) -> Evidence:
    """Eight probes at thirty instants; some readings planted far away, the second probe off."""
    random = np.random.default_rng(0)
    x, t = np.repeat(np.linspace(0.1, 0.9, 8), 30), np.tile(np.linspace(0, 1, 30), 8)
    truth = np.sin(3 * x) * np.exp(-t)
    values = truth + 0.02 * random.standard_normal(x.size)
    values[list(outliers)] += 0.4
    values[30:60] += offset
    readings = Observations.from_arrays({"x": x, "t": t}, {"u": values})
    nobody, said = readings.take(np.zeros(0, int)), truth[:, None]
    table = misfit_table((readings, said), (nobody, said[:0]))
    judged = HeldOutPredictions(readings, said, folds=2)
    return Evidence(readings, nobody, judged, cases.RESTED, misfits=table)


def test_far_readings_and_drifting_sensors_are_named():
    evidence = probed(outliers=[7], offset=0.03)
    doubt = one(evidence, "far_readings")
    assert "One reading is farther from the field" in doubt.sentence
    assert "x = 0.1, t = 0.2414" in doubt.sentence
    assert doubt.numbers == {
        "readings": 1, "field": "u", "x": pytest.approx(0.1), "t": pytest.approx(7 / 29),
        "sigmas": pytest.approx(0.4 / 0.02, rel=0.3),
    }  # fmt: skip
    assert "One sensor (x = 0.2143: u 0.0355 too high) differs" in (
        one(evidence, "drifting_sensors").sentence
    )
    assert one(evidence, "drifting_sensors").numbers == {"sensors": 1}
    assert "2 readings are farther" in one(probed(outliers=[7, 101]), "far_readings").sentence
    known = replace(evidence, named=lambda table: table.assign(sensor="TC3", line="14"))
    assert " (sensor TC3, line 14), by " in one(known, "far_readings").sentence
    assert "One sensor (TC3: u 0.0355 too high)" in one(known, "drifting_sensors").sentence
    assert judge(probed()).kinds == ()


def test_a_field_that_is_not_determined_everywhere_is_doubted_and_it_says_where():
    unsure = FieldError(0.4, 0.2, 0.8, inside=0.01, outside=0.7)
    found = one(heat(field_error={"u": unsure}), "undetermined_places")
    assert found.numbers == {"field": "u", "expected": 0.4}
    assert "40\xa0%" in found.sentence
    assert "far from them 70\xa0%" in found.sentence
    assert judge(heat(field_error={"u": FieldError(0.1, 0.05, 0.2)})).doubts == ()


def test_an_equation_that_is_not_fulfilled_is_doubted():
    found = one(heat(relative_residuals={"heat": 0.34}), "large_residual")
    assert found.numbers == {"equation": "heat", "share": 0.34}
    assert "34\xa0% of the size of its terms" in found.sentence
    assert judge(heat(relative_residuals={"heat": 0.01, "mass": NAN})).doubts == ()


# ------------------------------------------------------------------------------- the exit code


def test_a_sound_fit_ends_with_0_and_a_grave_doubt_with_4():
    assert judge(heat()).exit_code == 0
    assert judge(heat(relative_residuals={"heat": 0.15})).exit_code == 0  # doubtful, but not grave
    for grave in (
        {"relative_residuals": {"heat": 0.9}},
        {"field_error": {"u": FieldError(0.5, 0.2, 1.0)}},
        {"cells": Cells(4, 16, 15.0)},
    ):
        verdict = judge(heat(**grave))
        # An equation that does not hold has no solution to converge to.
        converged = None if "relative_residuals" in grave else True
        assert (verdict.converged, verdict.exit_code) == (converged, 4)


@pytest.mark.parametrize(
    ("more", "grave"),
    [
        ({}, True),
        ({"conditions": ("ic", "bc")}, False),
        ({"field_error": {"u": FieldError(0.001, 0.0005, 0.002)}}, False),
        ({"field_error": {"u": FieldError(0.1, 0.05, 0.2)}}, True),
    ],
)
def test_a_part_of_the_domain_without_readings_is_said(more, grave):
    doubt = one(heat(cells=Cells(4, 16, 15.0), **more), "unread_places")
    assert doubt.sentence.startswith("4 of 16 cells hold a reading")
    assert doubt.is_grave is grave
    assert "unread_places" not in judge(heat(cells=Cells(14, 16, 15.0))).kinds


def stage(*costs):
    return Stage("Gauss-Newton", costs, 1.0, "iterations")


def test_a_fit_at_the_noise_has_converged_though_its_cost_still_fell():
    falling = Descent(BUDGET_SPENT, stages=[stage(16.0, 8.0, 4.0, 2.0, 1.0)])
    fine = heat(off=0.1, descent=falling)
    simple = np.asarray(fine.judged.readings.values) + 0.5
    fine = dataclasses.replace(
        fine, judged=dataclasses.replace(fine.judged, interpolated=simple),
        relative_residuals={"heat": 0.01}, field_error={"u": FieldError(0.02, 0.01, 0.04)},
    )  # fmt: skip
    assert judge(fine).converged is True
    assert "is the noise of the readings" in judge(fine).reason
    for change in (
        {"relative_residuals": {"heat": 0.2}},
        {"field_error": {"u": FieldError(0.9, 0.5, 1.5)}},
        {"field_error": {}},
        {"judged": dataclasses.replace(fine.judged, interpolated=None)},
        {"descent": Descent(DIVERGED)},
    ):
        assert judge(dataclasses.replace(fine, **change)).converged is False


def test_a_fit_that_the_clock_ended_is_told_to_take_more_seconds():
    """Where that is what it lacked, and not where its readings have no more to tell."""
    stages = [stage(16.0, 8.0, 4.0, 2.0, 1.0)]
    ended = judge(heat(descent=Descent(BUDGET_SPENT, stages=stages, exhausted_seconds=60.0)))
    assert ended.converged is False
    assert "The seconds ran out" in ended.reason
    assert "seconds=240" in ended.reason
    counted = judge(heat(descent=Descent(BUDGET_SPENT, stages=stages)))
    assert "seconds" not in counted.reason
    rested = judge(
        heat(descent=Descent(BUDGET_SPENT, stages=[stage(*[1.0] * 30)], exhausted_seconds=60.0))
    )
    assert rested.converged is True
    assert "seconds" not in rested.reason


def test_a_contradicted_condition_is_named_and_grave_where_it_matters():
    wall = {"condition": "Dirichlet at the lower end of x", "sigmas": 6.1, "change": 0.13}
    wall |= {"violation": 0.01}
    verdict = judge(heat(contradicted_conditions=[wall]))
    (doubt,) = verdict.doubts
    assert "Dirichlet at the lower end of x" in str(doubt)
    assert "6.1" in str(doubt)
    assert verdict.exit_code == 4
    assert judge(heat(contradicted_conditions=[wall | {"change": 0.01}])).exit_code == 0


def test_a_sensor_at_fault_is_named_by_its_place_and_cause():
    sensor = {"place": (0.25,), "cause": "clock", "evidence": 4.2}
    doubt = one(heat(displaced_sensor=sensor), "displaced_sensor")
    assert "x = 0.25" in doubt.sentence
    assert "clock" in doubt.sentence
    assert (doubt.numbers["cause"], doubt.numbers["evidence"]) == ("clock", 4.2)


@pytest.mark.parametrize(
    ("value", "inside", "outside", "grave"),
    [
        (0.12, 0.01, 0.15, False),
        (0.08, 0.02, 0.13, False),
        (0.25, 0.01, 0.3, True),
        (0.25, None, None, True),
        (0.12, 0.09, 0.15, None),  # not much worse than near them
        (0.12, None, None, None),  # all of the domain is near readings
        (0.03, 0.01, 0.2, None),  # a corner
        (0.06, 0.01, 0.09, None),
    ],
)
def test_a_part_that_is_known_less_well_is_doubted(value, inside, outside, grave):
    error = FieldError(value, value / 2, 2 * value, inside, outside)
    found = [doubt.is_grave for doubt in undetermined_places({"u": error})]
    assert found == ([] if grave is None else [grave])
