"""Values that are written as tables."""

from pathlib import Path

import numpy as np
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


def test_a_table_is_the_pair_that_conditions_take():
    at, values = Curve.model_validate({"at": [0, 0.5, 2], "values": [3, 2, 1]}).table(
        Path(), lambda: ({}, {})
    )
    np.testing.assert_array_equal(at, [0, 0.5, 2])
    np.testing.assert_array_equal(values, [3, 2, 1])
    with pytest.raises(ValidationError, match="two or more places in increasing order"):
        Curve.model_validate({"at": [0, 0], "values": [3, 2]})


def test_only_a_text_takes_a_function():
    with pytest.raises(ValueError, match="equations as text"):
        TypeAdapter(PositiveUnknown).validate_python({"unknown": True, "of": ["x"]})
