"""Values that a run file writes as tables, and what the library makes of them."""

from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from pgt.config.schema import Bounds, Number, Numbers, Section, Text, wrong
from pgt.ground.errors import InputError
from pgt.ground.parser import parse
from pgt.ground.unknown import Unknown


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

    def value(self) -> Unknown:
        """The coefficient, at its starting value."""
        bounds = (self.bounds[0], self.bounds[1]) if self.bounds else None
        return Unknown(self.initial, bool(self.positive), bounds)


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

    def value(self) -> tuple[np.ndarray, np.ndarray]:
        """The pair that conditions take."""
        return np.array(self.at), np.array(self.values)


def _check_positive(value: UnknownCoefficient) -> UnknownCoefficient:
    if value.initial <= 0:
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
