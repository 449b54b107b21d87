"""Networks of the coordinate alone: readings are what they are fitted to, not what they read."""

from jaxtyping import Array, Float

from pgt.ground.errors import InputError
from pgt.models.network import AbstractNetwork, UnitReadings
from pgt.nn.embedding import Embedding
from pgt.nn.gabor import GaborStack
from pgt.nn.stack import Stack


class CoordinateNetwork(AbstractNetwork):
    """u(z) = layers(z): nothing is encoded, and all of it is tunable."""

    embedding: Embedding
    layers: Stack | GaborStack

    def encode(self, readings: UnitReadings) -> tuple[()]:
        """Nothing: the readings only enter the loss."""
        return ()

    def decode(self, context: tuple[()], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The layers at z."""
        return self.layers(self.embedding(z))

    def tunable(self) -> Stack | GaborStack:
        """All weights."""
        return self.layers


def check_sizes(model: str, width: int, layers: int):
    """Refuse a network without neurons or layers."""
    if min(width, layers) < 1:
        raise InputError(f"{model}(width={width}, layers={layers}): both must be at least 1.")


def check_positive(model: str, **numbers: float):
    """Refuse frequencies and the like that are not above zero."""
    for name, value in numbers.items():
        if not 0 < value < float("inf"):
            raise InputError(f"{model}({name}={value!r}): {name} must be a number above 0.")
