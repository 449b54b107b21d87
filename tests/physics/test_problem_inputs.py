"""Tables, texts and bounds where their meaning is plain."""

import numpy as np
import pandas as pd
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.physics.problem_inputs import as_problem

BOX = {"x": (0, 1), "t": (0, 1)}
COLUMNS = {"x": [0.2, 0.4], "t": [0.0, 0.5], "u": [1.0, np.nan], "battery": [3.3, 3.2]}


def same(left, right):
    assert (left.coords, left.fields) == (right.coords, right.fields)
    np.testing.assert_array_equal(left.points, right.points)
    np.testing.assert_array_equal(left.values, right.values)
    np.testing.assert_array_equal(left.mask, right.mask)


def test_a_table_is_read_by_its_columns():
    points = {axis: COLUMNS[axis] for axis in ("x", "t")}
    readings = pgt.Observations.from_arrays(points, {"u": COLUMNS["u"]})
    dataset = pd.DataFrame(COLUMNS).rename_axis("point").to_xarray().set_coords(["x", "t"])
    for given in (readings, COLUMNS, pd.DataFrame(COLUMNS), dataset):
        found, _, domain = as_problem(given, pgt.Heat(0.1), BOX)
        same(found, readings)
        assert domain == pgt.Domain(x=(0, 1), t=(0, 1))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"x": [0.1], "u": [1.0]}, "no column 't'; their columns are x, u"),
        ({"x": [0.1], "t": [0.1], "T": [1.0]}, "none of the fields u; their columns are x, t, T"),
        (pd.DataFrame(), "no column 'x'; their columns are none"),
    ],
)
def test_a_table_without_a_column_is_refused(table, message):
    with pytest.raises(InputError, match=message):
        as_problem(table, pgt.Heat(0.1), BOX)


def test_units_that_the_equation_cannot_add_up_are_refused_before_a_fit():
    units = {"x": "m", "y": "m", "t": "s", "u": "km/h", "v": "km/h"}
    points, values = {axis: [0.1, 0.9] for axis in "xyt"}, {"u": [1.0, 2.0], "v": [0.0, 1.0]}
    readings = pgt.Observations.from_arrays(points, values, units=units)
    box = dict.fromkeys("xyt", (0, 1))
    with pytest.raises(InputError, match=r"'u' is in 'km/h' .* in 'm s-1' by the equation.*0\.27"):
        as_problem(readings, pgt.NavierStokes2D(0.01), box)
    as_problem(readings, pgt.NavierStokes2D(0.01, convection=0.5), box)  # a factor between units
