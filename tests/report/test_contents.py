"""What a report is made of is checked before anything is drawn."""

from dataclasses import replace

import numpy as np
import pytest
import report_cases as cases
import xarray as xr

from pgt.core.errors import InputError
from pgt.report import Tables
from pgt.report.contents import written


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"field": xr.Dataset()}, "no variables"),
        ({"field": xr.Dataset({"u": ("point", [1.0])})}, "x, y, z and t"),
        ({"history": xr.Dataset()}, "step"),
        ({"error_bars": xr.Dataset({"w": ("x", [1.0])}, {"x": [0.0]})}, "same grid"),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(InputError, match=message):
        replace(cases.heat(), **change)


def test_bad_readings_and_tables_are_named():
    with pytest.raises(InputError, match=r"shape \(3, 1\); give \(12, 1\)"):
        replace(cases.heat().readings, predictions=np.zeros((3, 1)))
    with pytest.raises(InputError, match=r"\(low, high\)"):
        Tables(coefficients={"nu": (1.0, (1.0,))})


def test_only_what_no_sensor_read_is_hidden():
    assert cases.wake().hidden == ("p",)
    assert cases.heat().hidden == ()


def test_predictions_that_are_not_finite_make_no_pair():
    readings = cases.heat().readings
    guess = np.array(readings.predictions)
    guess[3] = np.nan
    truth, said = replace(readings, predictions=guess).pairs("u")
    assert len(truth) == len(said) == len(guess) - 1
    np.testing.assert_allclose(truth, np.delete(readings.judges.values[:, 0], 3))


def test_a_number_without_a_dimension_has_no_unit_beside_it():
    assert [written(unit) for unit in ("K", "1", None, "")] == ["K", "", "", ""]
    assert (cases.heat().unit("u"), cases.heat().unit("x")) == ("K", "m")
