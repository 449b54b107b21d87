"""Who answers the page: a rig of sensors on a system whose truth can be drawn."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from pgt.ground.errors import InputError
from pgt.ground.numbers import listed

TIME = "t"
Grid = Float[np.ndarray, "*grid c"]


class Coefficient(NamedTuple):
    """A coefficient that the page may turn between two bounds."""

    name: str
    low: float
    high: float
    value: float


class Answer(NamedTuple):
    """A field with its band, all at the same nodes; `outside` says in sentences what is strange to
    the rig, such as a coefficient that it was not trained on."""

    values: Grid
    low: Grid
    high: Grid
    outside: list[str]


class Rig(ABC):
    """Draws the truth of a system, and answers readings with a field and its band.

    `fields` are names, `axes` the nodes of every axis by name, in the order in which points have
    their coordinates. `level` is the share of the truth that the band should hold; `recent` the number
    of instants that a sensor in the plane remembers, all of them where it is None; `reads` the fields
    that sensors measure, all of them where it names none.
    """

    fields: tuple[str, ...]
    axes: dict[str, np.ndarray]
    coefficients: tuple[Coefficient, ...]
    level: ClassVar[float] = 0.9
    recent: int | None = None
    reads: tuple[str, ...] = ()

    @abstractmethod
    def truth(self, coefficients: Mapping[str, float], seed: int) -> Grid:
        """The fields at every node; the same seed gives the same initial state."""

    def settled(self, coefficients: Mapping[str, float]) -> dict[str, float]:
        """The coefficients of the truth for these: where few are simulated, the nearest."""
        return dict(coefficients)

    @abstractmethod
    def answer(
        self,
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n c"],
        coefficients: Mapping[str, float],
        instant: int | None = None,
    ) -> Answer:
        """The fields from readings, NaN where a field was not measured.

        `instant` is an index on the axis of time: the answer then has the nodes of space alone. Without
        it the answer has every node.
        """


def places(axes: Collection[str]) -> list[str]:
    """The two axes of the picture, horizontal first: time runs to the right, otherwise x does.

    >>> places("xt"), places("xyt")
    (['t', 'x'], ['x', 'y'])
    """
    space = [name for name in axes if name != TIME]
    if len(space) == 2:
        return space
    if len(space) == 1 and TIME in axes:
        return [TIME, *space]
    raise InputError(
        f"the live page draws x and t, x and y, or x, y and t; this model is over {listed(axes)}."
    )


def has_instants(axes: Collection[str]) -> bool:
    """Whether the picture is that of one instant, chosen by a slider."""
    return TIME in axes and TIME not in places(axes)


def nodes(axes: Mapping[str, np.ndarray], instant: int | None = None) -> np.ndarray:
    """The points (m, d) of a grid, the last axis fastest; those of one instant where it is given.

    >>> nodes({"x": np.array([0.0, 1.0]), "t": np.array([2.0, 3.0])}, instant=1)
    array([[0., 3.],
           [1., 3.]])
    """
    lines = [
        line[[instant]] if name == TIME and instant is not None else line
        for name, line in axes.items()
    ]
    return np.stack([part.ravel() for part in np.meshgrid(*lines, indexing="ij")], axis=-1)


def grid_shape(axes: Mapping[str, np.ndarray], instant: int | None = None) -> tuple[int, ...]:
    """The nodes along every axis, time left out where an instant is chosen."""
    return tuple(len(line) for name, line in axes.items() if name != TIME or instant is None)
