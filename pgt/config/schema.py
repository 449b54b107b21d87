"""What every table of a run file has in common, and the kinds of values that occur in them."""

import difflib
from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal, NoReturn

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

TOP_LEVEL = ("observations", "domain", "pde", "conditions", "model", "training", "output", "seed")


def wrong(message: str, *key: str | int) -> NoReturn:
    """Refuse the table being checked, pointing at a key inside it."""
    raise PydanticCustomError("wrong", "{message}", {"message": message, "key": key})


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`; did you mean 'steps'?`, or the list of what there is."""
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
        """What the file says, without what it leaves to the library."""
        return {
            name: value
            for name, value in self
            if name in self.model_fields_set and name != self.chosen_by
        }


def _no_such_key(name: str, known: Iterable[str]) -> str:
    known = list(known)
    if name in TOP_LEVEL and name not in known:
        return (
            f"'{name}' is no part of this table; write it at the top of the file, before the first "
            "[table]."
            if name == "seed"
            else f"'{name}' is a table of its own; write [{name}] on its own line."
        )
    return f"there is no such key{did_you_mean(name, known)}"


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
# Beyond 1e30 a product of two overflows in single precision; no unit of physics needs it.
Number = Annotated[float, Field(ge=-1e30, le=1e30, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, le=1e30, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(ge=0, le=1e30, allow_inf_nan=False)]
Count = Annotated[int, Field(ge=1, le=10**9)]
Size = Annotated[int, Field(ge=1, le=10_000)]
Text = Annotated[str, AfterValidator(_check_text)]
Axis = Literal["x", "y", "z", "t"]
Names = Annotated[tuple[Text, ...], Array, Field(min_length=1), AfterValidator(_check_different)]
Axes = Annotated[tuple[Axis, ...], Array, AfterValidator(_check_different)]
Numbers = Annotated[tuple[Number, ...], Array, Field(min_length=1)]
Bounds = Annotated[
    tuple[Number, ...], Array, Field(min_length=2, max_length=2), AfterValidator(_check_bounds)
]


class UnknownCoefficient(Section):
    """A coefficient to be learnt: {unknown = true, initial = 0.05}."""

    unknown: Annotated[Literal[True], Field(examples=["unknown = true"])]
    initial: Annotated[Number, Field(examples=["initial = 0.05"])]
    positive: bool | None = None
    bounds: Bounds | None = None

    @model_validator(mode="after")
    def _check_initial(self):
        if self.positive and self.initial <= 0:
            wrong("a positive coefficient starts above 0; write for example 0.05.", "initial")
        if self.bounds and not self.bounds[0] < self.initial < self.bounds[1]:
            wrong("the starting value must lie strictly between the bounds.", "initial")
        if self.bounds and self.positive is not None:
            wrong("the bounds already say whether it is positive; remove this key.", "positive")
        return self


def _check_positive(value):
    start = value.initial if isinstance(value, UnknownCoefficient) else value
    if start <= 0:
        key = ("initial",) if isinstance(value, UnknownCoefficient) else ()
        wrong(f"{start:g} is not above 0; write a positive number.", *key)
    if isinstance(value, UnknownCoefficient) and value.positive is None and not value.bounds:
        return value.model_copy(update={"positive": True})
    return value


class Table(Section):
    """Measured values along the one free coordinate of a face: {at = [0, 1], values = [2, 3]}."""

    at: Annotated[Numbers, Field(examples=["at = [0, 0.5, 1]"])]
    values: Annotated[Numbers, Field(examples=["values = [1, 2, 3]"])]

    @model_validator(mode="after")
    def _check_pairs(self):
        if len(self.at) != len(self.values):
            wrong(f"{len(self.values)} values for {len(self.at)} places; write as many.", "values")
        if len(self.at) < 2 or any(b <= a for a, b in zip(self.at, self.at[1:], strict=False)):
            wrong("write two or more places in increasing order, each once.", "at")
        return self


def _by_type(table: str, *, other: str, text: str | None = None) -> Discriminator:
    """Which kind of value was meant: told from its type alone, so that there is one complaint."""

    def tag(value: Any) -> str:
        if isinstance(value, dict):
            return table
        return text if text and isinstance(value, str) else other

    return Discriminator(tag)


# A tag in angle brackets never collides with a key, and is left out of what users read.
Coefficient = Annotated[
    Annotated[Number, Tag("<coefficient>")] | Annotated[UnknownCoefficient, Tag("<unknown>")],
    _by_type("<unknown>", other="<coefficient>"),
]
PositiveCoefficient = Annotated[Coefficient, AfterValidator(_check_positive)]
SourceTerm = Annotated[
    Annotated[Number, Tag("<value>")]
    | Annotated[Text, Tag("<formula>")]
    | Annotated[UnknownCoefficient, Tag("<unknown>")],
    _by_type("<unknown>", text="<formula>", other="<value>"),
]
Value = Annotated[
    Annotated[Number, Tag("<value>")]
    | Annotated[Text, Tag("<formula>")]
    | Annotated[Table, Tag("<table>")],
    _by_type("<table>", text="<formula>", other="<value>"),
]


def by_name(key: str, names: Iterable[str], equations: str | None = None) -> Discriminator:
    """Chooses a section by the name in it: "<heat>", or "<none>" for a name there is not.

    Where there is a key called `equations`, that decides.
    """
    known = frozenset(names)

    def tag(value: Any) -> str:
        if not isinstance(value, dict):
            return "<none>"
        if equations in value:
            return f"<{equations}>"
        name = value.get(key)
        return f"<{name}>" if isinstance(name, str) and name in known else "<none>"

    return Discriminator(tag)
