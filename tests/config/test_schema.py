"""What all tables of a run file have in common."""

import pytest
from pydantic import TypeAdapter, ValidationError

from pgt.config import schema


class Spoon(schema.Section):
    name: str = "spoon"
    length: int
    width: int = 3


def test_given_is_what_the_file_says():
    assert Spoon.model_validate({"name": "spoon", "length": 3}).given() == {"length": 3}
    assert Spoon.model_validate({"length": 1, "width": 3}).given() == {"length": 1, "width": 3}


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


def test_a_table_made_of_keys_keeps_those_of_its_base():
    fork = schema.table("Fork", Spoon, {"prongs": (int, 4)})
    assert fork.model_validate({"length": 1}).prongs == 4
    assert list(fork.model_fields) == ["name", "length", "width", "prongs"]


def test_arrays_are_kept_as_tuples():
    assert TypeAdapter(schema.Bounds).validate_python([0.0, 1.0]) == (0.0, 1.0)
    assert TypeAdapter(schema.Names).validate_python(["u", "v"]) == ("u", "v")


def test_a_key_decides_before_a_name_does():
    tag = schema.by_name("name", ["heat"], ["equations"]).discriminator
    nowhere = f"<{schema.NO_SUCH}>"
    assert tag({"name": "heat"}) == "<heat>"
    assert tag({"name": "heat", "equations": []}) == "<equations>"
    assert [tag(value) for value in ({"name": "haet"}, {"name": 3}, {}, 3)] == [nowhere] * 4
