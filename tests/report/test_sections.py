"""The sections print the verdict as it is, and every doubt plainly."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import report_cases as cases
import verdict_cases as verdicts
from page_reader import text_of

from pgt.core.doubt import Doubt, HeldOutError, Verdict
from pgt.core.stage import Stage
from pgt.methods.finished_fit import DIVERGED
from pgt.report import Tables
from pgt.uncertainty.convergence import Descent


def test_a_sound_fit_raises_no_doubt():
    assert cases.heat().verdict.doubts == ()
    assert "Nothing in these numbers gives cause for doubt" in text_of(cases.heat())


def test_the_verdict_is_printed_as_it_is():
    """Whatever stands in it: the report decides nothing."""
    doubts = (Doubt("large_error", "It is too warm."), Doubt("far_readings", "One is far & away."))
    errors = {"u": HeldOutError(12, 0.5, 0.25, of_spread=0.75)}
    for converged, answer, card in (
        (True, "Yes. So it is.", "converged yes"),
        (False, "No. So it is.", "converged no"),
        (None, "Cannot be told. So it is.", "converged not known"),
    ):
        verdict = Verdict(converged, "So it is.", errors, doubts)
        text = text_of(replace(cases.heat(), verdict=verdict))
        for words in (answer, card, "Take care It is too warm. One is far & away."):
            assert words in text
        assert "held-out error, of the spread u 75\N{NO-BREAK SPACE}%".replace("\xa0", " ") in text
        assert "u 12 0.5 K 25 % 75 %" in text
    nothing = text_of(replace(cases.heat(), verdict=Verdict(None, "", {})))
    assert "held-out error, of the spread not known interpolation instead not known" in nothing
    errors = {"u": HeldOutError(12, 0.5, 0.25, 0.5, 0.75, 1.5)}
    beside = text_of(replace(cases.heat(), verdict=Verdict(True, "", errors)))
    assert "interpolation instead u 150 %" in beside
    assert "75 % 150 %: worse, and not by chance" in beside
    assert "No readings were held out, so there is no independent measure of error" in nothing


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"keep": [0, 1]}, "Few readings were held out: u (2)"),
        ({"keep": []}, "No reading of u was held out"),
        ({"off": 1.0}, "The held-out error of u is large"),
        ({"off": np.nan}, "12 predictions at held-out readings are not finite"),
        ({"values": {"u": np.full(3, np.nan)}}, "u: not a single finite value"),
        ({"descent": Descent(DIVERGED)}, "The fit has not converged. Training diverged"),
        ({"free_fields": {"p": "a constant"}}, "p was never measured, and the equations"),
        ({"coefficient_notes": {"nu": "at its bound"}}, "nu: at its bound."),
    ],
)
def test_doubts_are_said_plainly(change, words):
    field = verdicts.heat_field()
    fitted, held_out = verdicts.readings_of(field, ("u",), 120)
    given = dict(change)
    held_out = held_out.take(np.asarray(given.pop("keep", np.arange(12)), int))
    found = verdicts.evidence(field, fitted, held_out, **given)
    assert words in text_of(cases.judged(field, found))


def test_suspicious_readings_and_drifting_sensors_are_listed():
    worst = pd.DataFrame({"x": [0.1], "field": ["u"], "misfit": [-20.0], "held_out": [False]})
    sensors = pd.DataFrame({"x": [0.2], "field": ["u"], "offset_t": [9.0]})
    tables = Tables(suspicious=worst, drifting=sensors, noise={"u": 0.021})
    shown = text_of(cases.heat(tables=tables))
    assert "Suspicious readings x field misfit 0.1 u −20" in shown
    assert "Drifting sensors x field offset t 0.2 u 9" in shown
    assert "0.021 K (estimated)" in shown
    nothing = Tables(suspicious=worst.iloc[:0], drifting=sensors.iloc[:0])
    quiet = text_of(cases.heat(tables=nothing))
    assert "Suspicious" not in quiet
    assert "Drifting" not in quiet


def test_every_stage_has_its_row_and_its_curve():
    names = ["Gauss-Newton", "under a prior", "stiffer equation"]
    stages = [Stage(name, (2.0, 1.0, 0.5), 1.5, "patience").plain for name in names]
    data = cases.heat()
    text = text_of(replace(data, summary={**data.summary, "stages": stages}))
    for number, name in enumerate(names, 1):
        assert f"{name} 2 2 to 0.5 1.5 s the held-out error no longer falls" in text
        assert f"{number}. {name}" in text
    assert "under a prior" not in text_of(data)
