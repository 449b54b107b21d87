"""What may be given for the arguments of a part, said in their annotations.

The signature of a class is the only place that says what it takes. The tables of a run file, the
errors about them and the page that lists their keys are derived from it. Python reads these
annotations as the plain types inside them.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pgt.core.parser import AXES

# How a model may be fitted: methods/plan.py.
MethodName = Literal["closed-form", "solver", "second-order", "first-order"]

LARGEST = 1e30  # beyond it nothing is left of single precision's range; no unit needs it


@dataclass(frozen=True)
class Limits:
    """Between which bounds a number lies.

    >>> from typing import Annotated
    >>> Size = Annotated[int, Limits(at_least=1, at_most=10_000)]
    """

    at_least: float | None = None
    above: float | None = None
    at_most: float | None = None
    below: float | None = None


@dataclass(frozen=True, init=False)
class OneOf:
    """The words, or whole numbers, among which to choose.

    >>> from typing import Annotated
    >>> Side = Annotated[str, OneOf("lower", "upper", "both")]
    """

    choices: tuple[str | int, ...]

    def __init__(self, *choices: str | int):
        object.__setattr__(self, "choices", choices)


@dataclass(frozen=True)
class Powers:
    """The unit of a number, as powers of the units of length and time; times a density where the field
    `pressure` is one of its own and not over density.

    >>> Powers(length=2, time=-1)  # of a diffusivity
    Powers(length=2, time=-1, pressure=None)
    """

    length: int = 0
    time: int = 0
    pressure: str | None = None


@dataclass(frozen=True)
class PartOf:
    """A registered part of this kind, by its name or as a table with its options."""

    kind: str


@dataclass(frozen=True)
class Keyed:
    """What the names stand for where any may be given, and what to write for example."""

    what: str
    example: str


@dataclass(frozen=True)
class Form:
    """How a run file writes what Python has another type for."""

    name: str


@dataclass(frozen=True)
class InUnits:
    """Text that is a number with a unit of its own; that of a run file is converted before."""

    said: ClassVar[str] = "text with its unit such as '1.2e-5 m^2/s'"


_AMOUNT = re.compile(
    r"\s*(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<unit>\S.*?)\s*"
)


def number_and_unit(text: str) -> tuple[float, str] | None:
    """The number that a text begins with, and what stands after it; None where one is missing.

    >>> number_and_unit("1.2e-5 m^2/s"), number_and_unit("2")
    ((1.2e-05, 'm^2/s'), None)
    """
    found = _AMOUNT.fullmatch(text)
    return found and (float(found["number"]), found["unit"])


@dataclass(frozen=True)
class Written:
    """The type that a run file gives, where Python takes more and checks it itself."""

    type: Any


FORMULA = Form("formula")  # text that is parsed
CURVE = Form("curve")  # {at = [...], values = [...]}: values along one coordinate

Number = Annotated[float, Limits(at_least=-LARGEST, at_most=LARGEST)]
Positive = Annotated[float, Limits(above=0, at_most=LARGEST)]
NotNegative = Annotated[float, Limits(at_least=0, at_most=LARGEST)]
Share = Annotated[float, Limits(at_least=0, below=1)]
Count = Annotated[int, Limits(at_least=1, at_most=10**9)]
Size = Annotated[int, Limits(at_least=1, at_most=10_000)]
Seed = Annotated[int, Limits(at_least=0, at_most=2**31 - 1)]
AxisName = Annotated[str, OneOf(*AXES)]


def metadata_of(annotation: Any, kind: type) -> list:
    """Every mark of this kind anywhere in an annotation.

    >>> metadata_of(Positive | None, Limits)
    [Limits(at_least=None, above=0, at_most=1e+30, below=None)]
    """
    own = [mark for mark in getattr(annotation, "__metadata__", ()) if isinstance(mark, kind)]
    inside = getattr(annotation, "__args__", ())
    return own + [mark for part in inside for mark in metadata_of(part, kind)]


def powers_of(target: Callable | None) -> dict[str, Powers]:
    """The units of the arguments of a part that say which they have; of no part, none.

    >>> def lake(depth: Annotated[float, Powers(length=1)], name: str): ...
    >>> powers_of(lake)
    {'depth': Powers(length=1, time=0, pressure=None)}
    """
    arguments = {} if target is None else inspect.signature(target, eval_str=True).parameters
    marks = {name: metadata_of(one.annotation, Powers) for name, one in arguments.items()}
    return {name: found[0] for name, found in marks.items() if found}
