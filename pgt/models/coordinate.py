"""Networks of the coordinate alone: readings are what they are fitted to, not what they read."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.data.observations import Observations
from pgt.ground.errors import InputError
from pgt.ground.types import Point
from pgt.models.base import AbstractFieldModel
from pgt.nn.gabor import GaborStack
from pgt.nn.stack import Stack


class AbstractCoordinateModel(AbstractFieldModel):
    """u(z) = network(z): nothing is encoded, nothing looked at, and all of it can be polished."""

    network: eqx.AbstractVar[Stack | GaborStack]

    def encode(self, observations: Observations) -> tuple[()]:
        """Nothing: the readings only enter the loss."""
        return ()

    def look(self, context: tuple[()], z: Point) -> Float[Array, " 0"]:
        """Nothing."""
        return jnp.zeros(0, self.network.offset.dtype)

    def answer(self, seen: Float[Array, " 0"], z: Point) -> Float[Array, " c"]:
        """The network at z, in physical units."""
        return jnp.asarray(self.scaling.to_physical(self.network(self.scaling.embed(z))))

    def polished(self) -> Stack | GaborStack:
        """All weights."""
        return self.network


def check_sizes(model: str, width: int, layers: int):
    """Refuse a network without neurons or layers."""
    if min(width, layers) < 1:
        raise InputError(f"{model}(width={width}, layers={layers}): both must be at least 1.")


def check_positive(model: str, **numbers: float):
    """Refuse frequencies and the like that are not above zero."""
    for name, value in numbers.items():
        if not 0 < value < float("inf"):
            raise InputError(f"{model}({name}={value!r}): {name} must be a number above 0.")
