"""What an exact case is: an equation and a field that solves it."""

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Array, Float

from pgt.core.types import Point
from pgt.physics.pde import AbstractPDE

Solution = Callable[[Point], Float[Array, " c"]]
XYZ = ("x", "y", "z")


class ExactCase(NamedTuple):
    """An equation, a field that solves it, and the box where that holds."""

    name: str
    pde: AbstractPDE
    solution: Solution
    bounds: dict[str, tuple[float, float]]


def box(*axes: str, **bounds: tuple[float, float]) -> dict[str, tuple[float, float]]:
    """Unit intervals along `axes`, then others as given.

    >>> box("t", x=(-1.0, 1.0))
    {'t': (0.0, 1.0), 'x': (-1.0, 1.0)}
    """
    return dict.fromkeys(axes, (0.0, 1.0)) | bounds
