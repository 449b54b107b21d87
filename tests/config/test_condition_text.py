"""Values that are written as tables."""

from pathlib import Path

import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

import pgt
from pgt.config.condition_text import Curve, Formula, PositiveUnknown, UnknownCoefficient


def unknown(**keys):
    return {"unknown": True, "initial": 0.5} | keys


def test_an_unknown_coefficient_starts_where_the_file_says():
    plain = UnknownCoefficient.model_validate(unknown()).value()
    assert (float(plain.value), plain.positive, plain.bounds) == (0.5, False, None)
    bounded = UnknownCoefficient.model_validate(unknown(bounds=[0, 1])).value()
    assert isinstance(bounded, pgt.Unknown)
    assert bounded.bounds == (0, 1)


def test_what_must_be_positive_is_so_unless_bounds_say_more():
    check = TypeAdapter(PositiveUnknown).validate_python
    assert check(unknown()).value().positive
    assert check(unknown(bounds=[0.1, 1])).positive is None
    assert check(unknown(positive=False)).positive is False


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"initial": 0, "positive": True}, "starts above 0"),
        ({"initial": 1, "bounds": [0, 1]}, "strictly between the bounds"),
        ({"positive": True, "bounds": [0, 1]}, "the bounds already say"),
    ],
)
def test_contradictions_are_refused(keys, message):
    with pytest.raises(ValidationError, match=message):
        UnknownCoefficient.model_validate(unknown(**keys))


def test_a_table_is_the_pair_that_conditions_take():
    at, values = Curve.model_validate({"at": [0, 0.5, 2], "values": [3, 2, 1]}).table(
        Path(), lambda: ({}, {})
    )
    np.testing.assert_array_equal(at, [0, 0.5, 2])
    np.testing.assert_array_equal(values, [3, 2, 1])
    with pytest.raises(ValidationError, match="two or more places in increasing order"):
        Curve.model_validate({"at": [0, 0], "values": [3, 2]})


def test_a_table_may_be_columns_of_a_file(tmp_path):
    (tmp_path / "stream.csv").write_text("date,T\n2024-03-12 10:00,14\n2024-03-12 12:00,16\n")
    of_readings = {"x": "depth", "t": "date"}, {"t": "h since 2024-03-12T09:00:00"}
    curve = Curve.model_validate({"file": "stream.csv", "value": "T"})
    found = curve.table(tmp_path, lambda: of_readings)
    assert float(found({"t": 2.0})) == pytest.approx(15.0)
    curve = Curve.model_validate({"at": [0, 2], "values": [3, 1], "along": "x"})
    assert float(curve.table(tmp_path, lambda: of_readings)({"x": 0.5})) == pytest.approx(2.5)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"file": "a.csv"}, 'name the column of values, value = "T"'),
        ({"file": "a.csv", "value": "T", "at": [0, 1]}, "the values are in the file"),
        ({"at": [0, 1]}, r"write \{at = \[0, 1\], values"),
        ({"value": "T"}, 'add file = "series.csv"'),
    ],
)
def test_a_table_is_written_in_one_way(keys, message):
    with pytest.raises(ValidationError, match=message):
        Curve.model_validate(keys)


def test_formulas_are_parsed_and_kept_as_text():
    check = TypeAdapter(Formula).validate_python
    assert check("2*sin(pi*x)") == "2*sin(pi*x)"
    with pytest.raises(ValidationError, match="expected `\\)`"):
        check("2*sin(pi*x")


def test_an_unknown_function_is_one_of_some_coordinates():
    written = {"unknown": True, "of": ["x", "y"], "positive": True, "initial": 2.0}
    found = UnknownCoefficient.model_validate(written).value()
    assert (found.axes, found.positive, found.initial) == (("x", "y"), True, 2.0)
    assert UnknownCoefficient.model_validate({"unknown": True, "of": ["t"]}).value().axes == ("t",)


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"of": ["x"], "bounds": [0, 1]}, "no bounds"),
        ({"of": ["x"], "initial": 2.0}, "positive"),
        ({}, "initial = 0.05"),
    ],
)
def test_what_is_neither_number_nor_function_is_refused(keys, said):
    with pytest.raises(ValueError, match=said):
        UnknownCoefficient.model_validate({"unknown": True} | keys)


def test_only_a_text_takes_a_function():
    with pytest.raises(ValueError, match="equations as text"):
        TypeAdapter(PositiveUnknown).validate_python({"unknown": True, "of": ["x"]})
