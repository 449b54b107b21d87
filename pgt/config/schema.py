"""The base class of all tables of a run file, and the types of their values."""

import difflib
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, NoReturn

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    create_model,
    model_validator,
)
from pydantic_core import PydanticCustomError

from pgt.core.arguments import MAX_NUMBER

SCALARS = ("seed", "method")
TOP_LEVEL = (
    "observations", "domain", "pde", "conditions", "model", "training", "sensors", "output", *SCALARS,
)  # fmt: skip


def wrong(message: str, *key: str | int) -> NoReturn:
    """Raise for the table that is being checked; `key` is the place inside it."""
    raise PydanticCustomError("wrong", "{message}", {"message": message, "key": key})


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The hint "; did you mean 'steps'?", or the list of known names."""
    known = list(known)
    close = difflib.get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; write one of {', '.join(known)}." if known else "."


class Section(BaseModel):
    """A table of the run file: exactly these keys, exactly these types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    chosen_by: ClassVar[str] = "name"  # the key that says which class it is

    @model_validator(mode="before")
    @classmethod
    def _check_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data  # pydantic says that a table is needed
        if cls.model_config.get("extra") == "forbid":
            for name in data:
                if name not in cls.model_fields:
                    wrong(_no_such_key(name, cls.model_fields), name)
        for name, field in cls.model_fields.items():
            if field.is_required() and name not in data:
                example = (field.examples or [f"{name} = ..."])[0]
                wrong(f"this is missing; add for example {example}", name)
        return data

    def given(self) -> dict[str, Any]:
        """The values that the file gives, by key, without the key that chooses the class."""
        return {
            name: value
            for name, value in self
            if name in self.model_fields_set and name != self.chosen_by
        }


def table(name: str, base: type[Section], keys: dict[str, Any]) -> Any:
    """A section with these keys, beside those of `base`: each a type and a default, or `...` for none."""
    return create_model(name, __base__=base, **keys)


def _no_such_key(name: str, known: Iterable[str]) -> str:
    known = list(known)
    if name in TOP_LEVEL and name not in known:
        return (
            f"'{name}' is no part of this table; write it at the top of the file, before the first "
            "[table]."
            if name in SCALARS
            else f"'{name}' is a table of its own; write [{name}] on its own line."
        )
    return f"there is no such key{did_you_mean(name, known)}"


def _check_as_found(text: str) -> str:
    if not text.strip("\t "):
        wrong("the text is empty; write something between the quotes.")
    if "\0" in text:
        wrong("the text holds NUL, one of the control characters; leave it out.")
    return text


def _check_text(text: str) -> str:
    if not text.strip():
        wrong("the text is empty; write something between the quotes.")
    if not text.isprintable():
        wrong("the text holds line breaks or other control characters; write it on one line.")
    return text


def _check_different(names: tuple[str, ...]) -> tuple[str, ...]:
    for index, name in enumerate(names):
        if name in names[:index]:
            wrong(f"'{name}' stands here twice; name it once.", index)
    return names


def _check_bounds(pair: tuple[float, ...]) -> tuple[float, ...]:
    low, high = pair
    if not low < high:
        wrong(f"the lower bound {low:g} is not below the upper one {high:g}; write [lower, upper].")
    return pair


Array = Field(strict=False)  # TOML's arrays are lists; kept as tuples
Number = Annotated[float, Field(ge=-MAX_NUMBER, le=MAX_NUMBER, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=MAX_NUMBER, allow_inf_nan=False)]
Text = Annotated[str, AfterValidator(_check_text)]
# The name of a file, or what a file calls something: any characters that it has.
AsFound = Annotated[str, AfterValidator(_check_as_found)]
Files = Annotated[tuple[AsFound, ...], Array, Field(min_length=1), AfterValidator(_check_different)]
Axis = Literal["r", "θ", "x", "y", "z", "t"]
Names = Annotated[tuple[Text, ...], Array, Field(min_length=1), AfterValidator(_check_different)]
Axes = Annotated[tuple[Axis, ...], Array, AfterValidator(_check_different)]
Numbers = Annotated[tuple[Number, ...], Array, Field(min_length=1)]
Bounds = Annotated[
    tuple[Number, ...], Array, Field(min_length=2, max_length=2), AfterValidator(_check_bounds)
]


NO_SUCH = "?|name"  # a tag that no name can be


def by_name(key: str, names: Iterable[str], others: Iterable[str] = ()) -> Discriminator:
    """Chooses a section by the name in it: "<heat>", or `NO_SUCH` for a name there is not.

    Where there is one of the `others` among the keys, that decides.
    """
    known, alone = frozenset(names), tuple(others)

    def tag(value: Any) -> str:
        if not isinstance(value, dict):
            return f"<{NO_SUCH}>"
        for other in alone:
            if other in value:
                return f"<{other}>"
        name = value.get(key)
        return f"<{name}>" if isinstance(name, str) and name in known else f"<{NO_SUCH}>"

    return Discriminator(tag)
