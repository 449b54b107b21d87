"""What an equation says of itself, beside its formula."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pgt.core.arguments import Powers


@dataclass(frozen=True)
class About:
    """Where to begin with an equation, and which units fit it. `pgt init` and the errors say so.

    Parameters
    ----------
    equation
        In text, with the names of the arguments.
    coefficients
        Good starting values by argument.
    box, measured, conditions
        The domain, what to measure in it, and what may be known besides, as tables of a run file.
    units
        Of the fields that stand beside lengths and times.
    fields
        The names of all fields in this text; a user may give them others.

    >>> About("u_t = spread*u_xx", {"spread": 0.01}, box={"x": (0, 1), "t": (0, 1)}).measured
    ('u',)
    """

    equation: str
    coefficients: Mapping[str, Any] = field(default_factory=dict)
    box: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    measured: tuple[str, ...] = ("u",)
    conditions: tuple[Mapping[str, Any], ...] = ()
    units: Mapping[str, Powers] = field(default_factory=dict)
    fields: tuple[str, ...] = ("u",)


FLAT_ENDS = {"kind": "dirichlet", "axis": "x", "u": 0}
