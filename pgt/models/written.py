"""What a `Writer` writes: the field of one system, and the Gaussian around it."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.models.network import AbstractNetwork, UnitReadings
from pgt.nn.embedding import MovingEmbedding
from pgt.nn.modes import Waves
from pgt.nn.stack import Stack


class WrittenNetwork(AbstractNetwork):
    """A SIREN, and beside it the waves of its system: u = layers(z) + amounts · waves(z).

    Both are seen by somebody who goes along with what goes round.
    """

    embedding: MovingEmbedding
    layers: Stack
    waves: Waves
    amounts: Float[Array, "c m"]

    def encode(self, readings: UnitReadings) -> tuple[()]:
        """Nothing: it was written for its readings."""
        return ()

    def decode(self, context: tuple[()], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The field at z."""
        field = self.layers(self.embedding(z))
        return field + self.waves(self.embedding.moved(z)) @ self.amounts.T

    def features(self, z: Float[Array, " d"]) -> Float[Array, " b"]:
        """The functions of which it is a sum: those of the last layer, waves, 1."""
        h = self.layers.features(self.embedding(z))
        return jnp.concatenate([h, self.waves(self.embedding.moved(z)), jnp.ones(1, h.dtype)])

    def with_readout(self, readout: Float[Array, "c b"]) -> "WrittenNetwork":
        """The same functions, so much of each."""
        width = self.layers.readout.shape[1]
        parts = readout[:, :width], readout[:, -1], readout[:, width:-1]
        return eqx.tree_at(lambda n: (n.layers.readout, n.layers.offset, n.amounts), self, parts)

    def tunable(self) -> tuple[Stack, Float[Array, "c m"]]:
        """The SIREN, and how much of each wave."""
        return self.layers, self.amounts


class Written(NamedTuple):
    """One system: its field, and the Gaussian that the readout is drawn from."""

    network: WrittenNetwork
    factor: Float[Array, "m m"]  # Cholesky factor of BᵀB + σ²
    directions: Float[Array, "c b m"]  # L
    sigma: Float[Array, ""]
    doubt: Float[Array, " 2"]  # log-factor on the Gaussian's own spread, log of what comes on top
