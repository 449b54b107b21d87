"""What a verdict rests on."""

from dataclasses import replace

import pytest
import wavy_result

import pgt
from pgt.core.stage import Stage
from pgt.reconstruction.verdict_evidence import evidence_of


@pytest.fixture
def result():
    return wavy_result.result_with()


def test_what_the_record_knows_is_told(result):
    record = dict(result.record) | {
        "stopped": "budget spent", "fixed_fields": ["p"], "likelihood": "student",
        "stages": [Stage("Gauss-Newton", (2.0, 1.0), 3.0, "patience").plain],
    }  # fmt: skip
    found = evidence_of(replace(result, record=record))
    assert found.free_fields == {}
    assert found.likelihood == "student"
    assert found.descent.stopped == "budget spent"


@pytest.mark.parametrize(
    ("known", "note"),
    [
        ({"deviation": 0.01, "unsettled": ""}, None),
        ({"deviation": 2.0, "unsettled": ""}, "not determined by the readings"),
        ({"deviation": 0.01, "unsettled": "it had not come to rest"}, "it had not come to rest"),
    ],
)
def test_coefficients_are_doubted_without_error_bars_too(result, known, note):
    pde = pgt.Equation(
        "u_t = c*v_x + p_x", "v_t = u_x", "p_t = v_x", coords=("x", "t"),
        c=pgt.Unknown(1.0, positive=True),
    )  # fmt: skip
    record = dict(result.record) | {"learned_coefficients": {"c": known}}
    found = evidence_of(replace(result, pde=pde, members=None, record=record))
    notes = {**found.coefficient_notes, **found.unidentified_coefficients}
    assert set(notes) == (set() if note is None else {"c"})
    assert note is None or note in notes["c"]
