"""Networks of the coordinate alone: readings are what they are fitted to, not what they read."""

from jaxtyping import Array, Float

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
