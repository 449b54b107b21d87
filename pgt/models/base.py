"""What a model is: readings in, a field that can be asked anywhere out."""

import abc
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float, PyTree

from pgt.data.observations import Observations
from pgt.ground.types import Point
from pgt.nn.scaling import Scaling


class AbstractFieldModel(eqx.Module):
    """`encode` looks at the readings once, `decode` answers at one point, in two halves.

    All are pure. Physical units outside; `decode` is smooth in `z`; the order of the readings does
    not matter; a hidden value is never read. `encode` works under `vmap` over many observation sets.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = pgt.PINN(scaling, width=8)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    >>> isinstance(model, pgt.AbstractFieldModel)
    True
    """

    part: ClassVar[str] = "model"
    scaling: eqx.AbstractVar[Scaling]

    @abc.abstractmethod
    def encode(self, observations: Observations) -> PyTree[Array]:
        """What the readings say, in whatever form `decode` wants it."""

    @abc.abstractmethod
    def look(self, context: PyTree[Array], z: Point) -> Float[Array, "..."]:
        """What the context says about one point: all that `decode` needs of it."""

    @abc.abstractmethod
    def answer(self, seen: Float[Array, "..."], z: Point) -> Float[Array, " c"]:
        """The fields at one point, in physical units, from what `look` saw there."""

    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The fields at one point, in physical units."""
        return self.answer(self.look(context, z), z)

    @abc.abstractmethod
    def polished(self) -> PyTree[Array]:
        """The arrays a least-squares polish tunes, a few thousand numbers; `look` must not use them."""
