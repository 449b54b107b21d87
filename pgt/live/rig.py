"""Rigs: sensors on a system whose truth is known, and a model that answers their readings."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.core.numbers import listed
from pgt.families import Pretrained, Simulations, shipped, shipped_names

TIME = "t"
Grid = Float[np.ndarray, "*grid c"]


class CoefficientRange(NamedTuple):
    """A coefficient that the page varies between two bounds."""

    name: str
    low: float
    high: float
    value: float


class RigAnswer(NamedTuple):
    """A field with its band, all at the same nodes; `outside` has sentences on what
    lies outside the model, such as a coefficient outside its range of training."""

    values: Grid
    low: Grid
    high: Grid
    outside: list[str]


class AbstractRig(ABC):
    """Draws the truth of a system, and answers readings with a field and its band.

    `fields` are names, `axes` the nodes of every axis by name, in the order in which points have
    their coordinates. `level` is the nominal coverage of the band; `recent` the number of
    instants that a sensor in the plane keeps (None: all); `reads` the fields that sensors measure
    (empty: all).
    """

    fields: tuple[str, ...]
    axes: dict[str, np.ndarray]
    coefficients: tuple[CoefficientRange, ...]
    level: ClassVar[float] = 0.9
    recent: int | None = None
    reads: tuple[str, ...] = ()

    @abstractmethod
    def truth(self, coefficients: Mapping[str, float], seed: int) -> Grid:
        """The fields at every node; the same seed gives the same initial state."""

    def nearest_coefficients(self, coefficients: Mapping[str, float]) -> dict[str, float]:
        """The coefficients that `truth` uses for these: the nearest ones where few are simulated."""
        return dict(coefficients)

    @abstractmethod
    def answer(
        self,
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n c"],
        coefficients: Mapping[str, float],
        instant: int | None = None,
    ) -> RigAnswer:
        """The fields from readings, NaN where a field was not measured.

        `instant` is an index on the axis of time: the answer then has the nodes of space alone. Without
        it the answer has every node.
        """


def places(axes: Collection[str]) -> list[str]:
    """The two axes of the picture, horizontal first: time if it is one of them, else x.

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
    """Whether the picture shows one instant, which a slider chooses."""
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


# ------------------------------------------------------------------------------- a pretrained network

# A coefficient may leave its range by this factor, so that the page shows the network's doubts.
RANGE_FACTOR = 2.0


class PretrainedRig(AbstractRig):
    """A network trained over a family of systems.

    `pretrained.answer(points, values, coefficients, at)` gives mean, low and high (m, c) at the m
    points `at`, and sentences on what lies outside its training. `family` has `fields`,
    `axes`, `ranges`, `draw(key, coefficients)` and `nearest_coefficients(coefficients)`; `reads` of the
    network are the fields that sensors measure.
    """

    def __init__(self, pretrained: Any, family: Any):
        self.pretrained, self.family = pretrained, family
        self.fields = tuple(family.fields)
        self.axes = {name: np.asarray(line, float) for name, line in family.axes.items()}
        self.reads = tuple(pretrained.reads)
        # Simulations have no truth outside their range.
        beyond = 1.0 if isinstance(family, Simulations) else RANGE_FACTOR
        self.coefficients = tuple(
            CoefficientRange(name, *_beyond(low, high, beyond), _middle(low, high))
            for name, (low, high) in family.ranges.items()
        )

    def truth(self, coefficients: Mapping[str, float], seed: int) -> Grid:
        """The fields that the family draws with this seed."""
        import jax

        return np.asarray(self.family.draw(jax.random.key(seed), dict(coefficients)).values, float)

    def nearest_coefficients(self, coefficients: Mapping[str, float]) -> dict[str, float]:
        """The coefficients of the nearest system of the family."""
        return self.family.nearest_coefficients(coefficients)

    def answer(
        self,
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n c"],
        coefficients: Mapping[str, float],
        instant: int | None = None,
    ) -> RigAnswer:
        """The network's answer at the nodes of the family."""
        at = nodes(self.axes, instant)
        *found, outside = self.pretrained.answer(points, values, dict(coefficients), at)
        shape = (*grid_shape(self.axes, instant), len(self.fields))
        mean, low, high = (np.asarray(part, float).reshape(shape) for part in found)
        return RigAnswer(mean, low, high, list(outside))


def open_model(path: Path) -> PretrainedRig:
    """The rig of a file that `pgt pretrain` wrote, or of a network that comes with the library."""
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; the live page wants the file of a pretrained model, for a fit "
            "of one system cannot answer new readings at once."
        )
    if path.is_file():
        network = Pretrained.load(path)
    elif str(path) in shipped_names():
        network = shipped(str(path))
    else:
        known = ", ".join(shipped_names())
        raise InputError(
            f"{path}: there is no such file; name that of a pretrained model, or one that comes with the "
            f"library: {known}."
        )
    return PretrainedRig(network, network.family)


def _beyond(low: float, high: float, ratio: float) -> tuple[float, float]:
    """A range widened by a factor, if it is positive."""
    return (low / ratio, high * ratio) if low > 0 else (float(low), float(high))


def _middle(low: float, high: float) -> float:
    """The geometric mean of positive bounds, else the arithmetic mean."""
    return float(np.sqrt(low * high) if low > 0 else (low + high) / 2)
