"""Values that a run file writes as tables, and their conversion to objects of the library."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from pgt.config.schema import AsFound, Axis, Bounds, Names, Number, Numbers, Section, Text, wrong
from pgt.core.errors import InputError
from pgt.core.parser import parse
from pgt.core.unknown import Unknown
from pgt.data.domain import AXES
from pgt.physics.interpolation_table import Table, made_table
from pgt.physics.unknown_function import UnknownFunction

# The names of the axes in the file of readings, and their units.
OfReadings = Callable[[], tuple[Mapping[str, str], Mapping[str, str]]]


class UnknownCoefficient(Section):
    """A coefficient to be learnt: {unknown = true, initial = 0.05}.

    In equations as text also a function: {unknown = true, of = ["x", "y"], positive = true}.
    """

    unknown: Annotated[Literal[True], Field(examples=["unknown = true"])]
    initial: Annotated[Number | None, Field(examples=["initial = 0.05"])] = None
    of: Names | None = None
    positive: bool | None = None
    bounds: Bounds | None = None

    @model_validator(mode="after")
    def _check_initial(self):
        if self.of is not None:
            return self._check_function()
        if self.initial is None:
            wrong("this is missing; add for example initial = 0.05", "initial")
        if self.positive and self.initial <= 0:
            wrong("a positive coefficient starts above 0; write for example 0.05.", "initial")
        if self.bounds and not self.bounds[0] < self.initial < self.bounds[1]:
            wrong("the starting value must lie strictly between the bounds.", "initial")
        if self.bounds and self.positive is not None:
            wrong("the bounds already say whether it is positive; remove this key.", "positive")
        return self

    def _check_function(self):
        if self.bounds:
            wrong("a function may be positive but has no bounds; remove this key.", "bounds")
        try:
            self.value()
        except InputError as error:
            wrong(str(error), "of" if self.initial is None else "initial")
        return self

    def value(self) -> Unknown | UnknownFunction:
        """The unknown coefficient or function with its starting value."""
        if self.of is not None:
            return UnknownFunction(*self.of, positive=bool(self.positive), initial=self.initial)
        bounds = (self.bounds[0], self.bounds[1]) if self.bounds else None
        return Unknown(self.initial or 0.0, bool(self.positive), bounds)


class Curve(Section):
    """Measured values: {at = [0, 1], values = [2, 3]} along the one free coordinate of a face, or columns
    of a file, {file = "stream.csv", t = "date", value = "T"}."""

    at: Annotated[Numbers | None, Field(examples=["at = [0, 0.5, 1]"])] = None
    values: Annotated[Numbers | None, Field(examples=["values = [1, 2, 3]"])] = None
    along: Axis | None = None
    file: AsFound | None = None
    value: AsFound | None = None
    r: AsFound | None = None
    x: AsFound | None = None
    y: AsFound | None = None
    z: AsFound | None = None
    t: AsFound | None = None
    unit: Text | None = None

    @model_validator(mode="after")
    def _check_pairs(self):
        of_file = {name: getattr(self, name) for name in ("value", "r", "x", "y", "z", "t", "unit")}
        if self.file is not None:
            for name in ("at", "values", "along"):
                if getattr(self, name) is not None:
                    wrong("the values are in the file; remove this key.", name)
            if self.value is None:
                wrong('this is missing; name the column of values, value = "T"', "value")
            return self
        for name, given in of_file.items():
            if given is not None:
                wrong('this is about a file; add file = "series.csv"', name)
        if self.at is None or self.values is None:
            missing = "at" if self.at is None else "values"
            wrong("this is missing; write {at = [0, 1], values = [2, 3]}", missing)
        if len(self.at) != len(self.values):
            wrong(f"{len(self.values)} values for {len(self.at)} places; write as many.", "values")
        if len(self.at) < 2 or any(b <= a for a, b in zip(self.at, self.at[1:], strict=False)):
            wrong("write two or more places in increasing order, each once.", "at")
        return self

    def table(self, folder: Path, of_readings: OfReadings) -> Any:
        """The table as conditions and equations accept it.

        A relative path starts in `folder`. Columns and units of axes that are left out are those of the
        readings.
        """
        if self.file is None:
            at, values = np.array(self.at), np.array(self.values)
            if self.along is None:
                return at, values
            return made_table("the table", (at,), values, (self.along,))
        columns, units = of_readings()
        axes: dict[str, Any] = {
            axis: name for axis in AXES if (name := getattr(self, axis, None)) is not None
        }
        if not axes:
            axis = "t" if "t" in columns else next(iter(columns))
            axes = {axis: columns[axis]}
        known = {axis: unit for axis, unit in units.items() if axis in axes}
        own = {} if self.unit is None else {"value": self.unit}
        return Table(folder / self.file, str(self.value), units=known | own, **axes)


def _check_positive(value: UnknownCoefficient) -> UnknownCoefficient:
    if value.of is not None:
        wrong("a function stands in equations as text only; write equations = [...].", "of")
    if value.initial is None or value.initial <= 0:
        wrong(f"{value.initial:g} is not above 0; write a positive number.", "initial")
    if value.positive is None and not value.bounds:
        return value.model_copy(update={"positive": True})
    return value


def _check_formula(text: str) -> str:
    try:
        parse(text)
    except InputError as error:
        wrong(str(error))
    return text


PositiveUnknown = Annotated[UnknownCoefficient, AfterValidator(_check_positive)]
Formula = Annotated[Text, AfterValidator(_check_formula)]
