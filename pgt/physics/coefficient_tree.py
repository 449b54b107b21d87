"""Coefficients of an equation: numbers, numbers with units, or unknowns that are fitted."""

import math
from typing import TYPE_CHECKING, Annotated, Any

import jax.core
import numpy as np
from jaxtyping import Array, Float

from pgt.core.arguments import MAX_NUMBER, InUnits, Limits, OneOf, Powers
from pgt.core.errors import InputError
from pgt.core.unknown import Unknown, is_unknown
from pgt.physics.unit_conversion import Amount

if TYPE_CHECKING:  # a residual computes with coefficients; no static checker knows of `resolve`
    Coefficient = Any
    Number = float
else:  # `resolve` replaces an unknown by an array
    Coefficient = float | Unknown | Amount | Float[Array | np.ndarray, ""]
    Number = float | Float[Array, ""]  # an array only during tracing

# What a user may give for a coefficient, by its physical dimension.
FINITE = Limits(at_least=-MAX_NUMBER, at_most=MAX_NUMBER)
Given = float | int | Unknown | Annotated[str, InUnits()] | Amount
Diffusivity = Annotated[Given, Limits(above=0, at_most=MAX_NUMBER), Powers(length=2, time=-1)]
# The viscosity is kinematic if the pressure is divided by the density, otherwise dynamic.
Viscosity = Annotated[
    Given, Limits(above=0, at_most=MAX_NUMBER), Powers(length=2, time=-1, pressure="p")
]
Speed = Annotated[Given, Limits(above=0, at_most=MAX_NUMBER), Powers(length=1, time=-1)]
Velocity = Annotated[Given, FINITE, Powers(length=1, time=-1)]
Rate = Annotated[Given, FINITE, Powers(time=-1)]
Ratio = Annotated[Given, FINITE, Powers()]  # a pure number
Dimension = Annotated[int, OneOf(1, 2, 3)]
PlaneOrSpace = Annotated[int, OneOf(2, 3)]


def as_coefficient(where: str, value, positive: bool = False) -> Coefficient:
    """`value` as a float, an `Unknown` or an `Amount`; errors name it by `where`, "Heat(diffusivity)"."""
    value = Amount.read(value)
    if not isinstance(value, Unknown | Amount):
        value = _as_float(where, value)
    number = value.number if isinstance(value, Amount | Unknown) else value
    if positive and not number > 0:
        shown = value.text if isinstance(value, Amount) else float(number)
        raise InputError(
            f"{where} is {shown} but must be above 0; write a positive number or "
            "pgt.Unknown(0.1, positive=True) to learn it."
        )
    return value


def current(value: Coefficient) -> Number:
    """The current number of a coefficient, which is a tracer during tracing."""
    number = value.value if is_unknown(value) else value
    return number if isinstance(number, jax.core.Tracer) else float(number)  # pyright: ignore


def spatial(where: str, dimension: int, least: int = 1) -> tuple[str, ...]:
    """The first `dimension` axes of x, y, z; raise if they are fewer than `least`."""
    if dimension not in range(least, 4):
        choices = {1: "1, 2 or 3", 2: "2 or 3"}[least]
        raise InputError(f"{where}(dimension={dimension}): write {choices}.")
    return ("x", "y", "z")[:dimension]


def _as_float(where, value) -> float:
    wrong_type = isinstance(value, (bool, str))
    try:
        number = math.nan if wrong_type else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not abs(number) <= MAX_NUMBER:
        raise InputError(
            f"{where} is {value!r} but must be a finite number up to {MAX_NUMBER:g} or pgt.Unknown(...) "
            "to learn it."
        )
    return number
