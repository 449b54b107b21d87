"""Annotations that state which values the arguments of a part may have.

The signature of a class is the only place that declares its arguments. The tables of a run file, the
errors about them and the documentation of their keys are derived from it. For Python these annotations
are the plain types inside them.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

# Coordinates in their order. r and θ are names like any other where a domain has no such axis.
AXES = ("r", "θ", "x", "y", "z", "t")
# How a model may be fitted: methods/plan.py.
MethodName = Literal["closed-form", "solver", "second-order", "first-order"]

MAX_NUMBER = 1e30  # the largest number that is accepted; beyond it single precision soon overflows


@dataclass(frozen=True)
class Limits:
    """The bounds of a number.

    >>> from typing import Annotated
    >>> Size = Annotated[int, Limits(at_least=1, at_most=10_000)]
    """

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None


@dataclass(frozen=True, init=False)
class OneOf:
    """The words, or whole numbers, from which a value is chosen.

    >>> from typing import Annotated
    >>> Side = Annotated[str, OneOf("lower", "upper", "both")]
    """

    choices: tuple[str | int, ...]

    def __init__(self, *choices: str | int):
        object.__setattr__(self, "choices", choices)


@dataclass(frozen=True)
class Powers:
    """The unit of a number, as powers of the units of length and time.

    It is multiplied by a density where the field `pressure` is a pressure and not one over density.

    >>> Powers(length=2, time=-1)  # of a diffusivity
    Powers(length=2, time=-1, pressure=None)
    """

    length: int = 0
    time: int = 0
    pressure: str | None = None


@dataclass(frozen=True)
class PartOf:
    """A registered part of this kind, given by its name or as a table with its options."""

    kind: str


@dataclass(frozen=True)
class Keyed:
    """A description of what freely chosen names stand for, with an example."""

    what: str
    example: str


@dataclass(frozen=True)
class Form:
    """The form in which a run file writes a value that has another type in Python."""

    name: str


@dataclass(frozen=True)
class InUnits:
    """Text that is a number with a unit of its own; in a run file it is converted before the check."""

    said: ClassVar[str] = "text with its unit such as '1.2e-5 m^2/s'"


_AMOUNT = re.compile(
    r"\s*(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>\S.*?)\s*"
)


def number_and_unit(text: str) -> tuple[float, str] | None:
    """The number at the beginning of a text and the unit after it; None where one is missing.

    >>> number_and_unit("1.2e-5 m^2/s"), number_and_unit("2")
    ((1.2e-05, 'm^2/s'), None)
    """
    found = _AMOUNT.fullmatch(text)
    return found and (float(found["number"]), found["unit"])


@dataclass(frozen=True)
class Written:
    """The type of a value in a run file, where Python accepts more types and checks them itself."""

    type: Any


FORMULA = Form("formula")  # text that is parsed
CURVE = Form("curve")  # {at = [...], values = [...]}: values along one coordinate

Number = Annotated[float, Limits(at_least=-MAX_NUMBER, at_most=MAX_NUMBER)]
Positive = Annotated[float, Limits(above=0, at_most=MAX_NUMBER)]
NotNegative = Annotated[float, Limits(at_least=0, at_most=MAX_NUMBER)]
Share = Annotated[float, Limits(at_least=0, below=1)]
Count = Annotated[int, Limits(at_least=1, at_most=10**9)]
Size = Annotated[int, Limits(at_least=1, at_most=10_000)]
Seed = Annotated[int, Limits(at_least=0, at_most=2**31 - 1)]
AxisName = Annotated[str, OneOf(*AXES)]


def metadata_of(annotation: Any, kind: type) -> list:
    """Every mark of this kind in an annotation, at any depth.

    >>> metadata_of(Positive | None, Limits)
    [Limits(at_least=None, above=0, at_most=1e+30, below=None)]
    """
    own = [mark for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, kind)]
    inside = getattr(annotation, "__args__", ())
    return own + [mark for part in inside for mark in metadata_of(part, kind)]


def powers_of(target: Callable | None) -> dict[str, Powers]:
    """The units of the arguments of a part that are annotated with `Powers`; empty for None.

    >>> def lake(depth: Annotated[float, Powers(length=1)], name: str): ...
    >>> powers_of(lake)
    {'depth': Powers(length=1, time=0, pressure=None)}
    """
    arguments = {} if target is None else inspect.signature(target, eval_str=True).parameters
    marks = {name: metadata_of(one.annotation, Powers) for name, one in arguments.items()}
    return {name: found[0] for name, found in marks.items() if found}
