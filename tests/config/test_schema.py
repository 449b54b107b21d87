"""What all tables of a run file have in common."""

import pytest
from pydantic import ValidationError

from pgt.config import schema


class Spoon(schema.Section):
    name: str = "spoon"
    length: int
    width: int = 3


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"lenght": 3}, "did you mean 'length'?"),
        ({"seed": 3}, "write it at the top of the file"),
        ({"pde": {}}, r"write \[pde\] on its own line"),
        ({}, r"add for example length = \.\.\."),
        ({"length": "3"}, "valid integer"),
    ],
)
def test_tables_have_exactly_their_keys(table, message):
    with pytest.raises(ValidationError, match=message):
        Spoon.model_validate(table)


def test_a_close_name_is_offered_and_else_all():
    assert schema.did_you_mean("stps", ["steps", "batch"]) == "; did you mean 'steps'?"
    assert schema.did_you_mean("q", ["steps", "batch"]) == "; write one of steps, batch."
    assert schema.did_you_mean("q", []) == "."
