"""What a report is made of is checked before anything is drawn."""

from dataclasses import replace

import numpy as np
import pytest
import report_cases as cases
import xarray as xr

from pgt.core.errors import InputError
from pgt.report import Tables


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
