"""What a model is: readings in, a field that can be asked anywhere out."""

import abc
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import equinox as eqx
import numpy as np
from jaxtyping import Array, Float, PyTree

from pgt.core.errors import InputError
from pgt.core.types import Point
from pgt.data.observations import Observations
from pgt.nn.scaling import Scaling


class Halves(NamedTuple):
    """`decode` in two steps, decode(context, z) = answer(look(context, z), z); only the second uses
    what is tunable."""

    look: Callable[[PyTree[Array], Point], Float[Array, "..."]]
    answer: Callable[[Float[Array, "..."], Point], Float[Array, " c"]]


class AbstractFieldModel(eqx.Module):
    """`encode` looks at the readings once, `decode` answers at one point.

    Both are pure. Physical units outside; `decode` is smooth in `z`; the order of the readings does
    not matter; a hidden value is never read. `encode` works under `vmap` over many observation sets.
    Most models are a network in a frame (network.py, frame.py), which takes care of the units.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = pgt.PINN(scaling, width=8)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    >>> isinstance(model, pgt.extend.AbstractFieldModel)
    True
    """

    part: ClassVar[str] = "model"
    # Whether its numbers are trained, with readings held out; others are solved for.
    is_trained: ClassVar[bool] = True
    scaling: eqx.AbstractVar[Scaling]

    @abc.abstractmethod
    def encode(self, observations: Observations) -> PyTree[Array]:
        """What the readings say, in whatever form `decode` wants it."""

    @abc.abstractmethod
    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The fields at one point, in physical units."""

    @abc.abstractmethod
    def tunable(self) -> PyTree[Array]:
        """The arrays a second-order step may tune, a few thousand numbers; `encode` must not use them."""

    def halves(self) -> Halves | None:
        """`decode` in two steps, for a faster second-order step; None where it is one."""
        return None

    def on_grid(
        self,
        axes: Sequence[Float[np.ndarray, " _"]],
        along: Sequence[int] = (),
        tuned: Float[Array | np.ndarray, "k ..."] | None = None,
    ) -> Float[np.ndarray, "k c *shape"] | None:
        """All fields on the grid of these positions along each coordinate, or their derivative along the
        axes listed, for each of the values `tuned` of what is tunable; default: its own, k = 1. None
        where the model has no faster way than point by point, or is not linear in what is tunable."""
        return None

    @property
    def predicts_variance(self) -> bool:
        """Whether there is a `log_variance`."""
        return False

    def log_variance(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """Logarithm of the aleatoric variance at one point, in units of the fields' spread."""
        raise InputError(
            f"{type(self).__name__} predicts no variance; PGT(..., variance_head=True) does."
        )
