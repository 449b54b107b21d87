"""Values that are written as tables."""

import pytest
from pydantic import TypeAdapter, ValidationError

from pgt.config.condition_text import Curve, PositiveUnknown, UnknownCoefficient


def unknown(**keys):
    return {"unknown": True, "initial": 0.5} | keys


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


def test_a_table_may_be_columns_of_a_file(tmp_path):
    (tmp_path / "stream.csv").write_text("date,T\n2024-03-12 10:00,14\n2024-03-12 12:00,16\n")
    of_readings = {"x": "depth", "t": "date"}, {"t": "h since 2024-03-12T09:00:00"}
    curve = Curve.model_validate({"file": "stream.csv", "value": "T"})
    found = curve.table(tmp_path, lambda: of_readings)
    assert float(found({"t": 2.0})) == pytest.approx(15.0)
    curve = Curve.model_validate({"at": [0, 2], "values": [3, 1], "along": "x"})
    assert float(curve.table(tmp_path, lambda: of_readings)({"x": 0.5})) == pytest.approx(2.5)


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
