"""The run in sentences: what was measured, what was inferred, and who judged it."""

from dataclasses import replace

import numpy as np
import pytest
import report_cases as cases
import verdict_cases as verdicts
from page_reader import text_of

from pgt.core.doubt import HeldOutError
from pgt.core.errors import InputError
from pgt.report.sentences import beside_interpolation
from pgt.uncertainty.held_out import HeldOutPredictions


def test_it_says_what_was_measured_and_inferred():
    text = text_of(cases.wake())
    assert "Sensors read u and v at 600 places and instants" in text
    assert "540 of these rows were fitted and 60 held out" in text
    assert "p was never measured and follows from the equation alone" in text
    assert "viscosity 0.0101 0.0097 to 0.0105" in text
    assert 'name = "navier-stokes-2d"' in text
    assert "never measured" not in text_of(cases.heat())


def test_it_says_which_readings_are_the_judges():
    data = cases.heat()
    assert "held out one by one, at random" in text_of(data)
    settings = {"training": {"hold_out_by": "block"}}
    blocked = replace(data, summary=dict(data.summary) | settings)
    assert "in whole blocks of space and time" in text_of(blocked)
    by_sensor = replace(data, summary=dict(data.summary) | {"training": {"hold_out_by": "sensor"}})
    assert "held out in whole sensors" in text_of(by_sensor)
    readings = data.fitted  # 108, beside the 12 that were held out of the fit
    guess = np.asarray(readings.values) * 1.02
    found = verdicts.heat(judged=HeldOutPredictions(readings, guess, folds=4))
    crossed = cases.judged(data.field, found)
    said = "each reading was predicted by a fit that did not see it: u 2"
    assert f"4-fold cross-validation, folds made of single readings: {said}" in text_of(crossed)
    assert "held out to tell when to stop" in text_of(crossed)
    assert "u at 108 held-out readings" in text_of(crossed)
    with pytest.raises(InputError, match="predictions"):
        replace(crossed.readings, predictions=guess[:3])


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [(0.1, None, "not known"), (0.1, 0.5, "worse, and not by chance"), (0.5, 0.1, "better, and not"),
     (0.1, 0.11, "no certain difference")],
)  # fmt: skip
def test_interpolation_stands_beside_the_error_with_its_significance(ours, theirs, said):
    found = HeldOutError(50, 1.0, 0.1, None, of_spread=ours, interpolated_of_spread=theirs)
    assert said in beside_interpolation(found)
    assert found.is_significant == ("chance" in said or "better" in said)
