"""Values that are written as tables."""

import pytest
from pydantic import TypeAdapter, ValidationError

from pgt.config.condition_text import PositiveUnknown, UnknownCoefficient


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
