"""DeepONet: the deep operator network, with a branch that takes readings at any positions.

readings ──MLP each──► masked mean ──MLP──► coefficients b ──┐
query z ──tanh layers──► basis t(z) ─────────────────────────┴──► u(z) = Σ_k b_k t_k(z) + offset
"""

import itertools
import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.arguments import Seed, Size
from pgt.core.registry import register
from pgt.kernels.kernel import NoKernel
from pgt.models.field_model import AbstractFrame, AbstractNetwork, UnitReadings
from pgt.nn.attention import Mlp
from pgt.nn.layers import Draw, Embedding, zeros
from pgt.nn.scaling import Scaling


class Trunk(eqx.Module):
    """t(z): tanh after every layer, the last one too (Lu et al. 2021)."""

    weights: tuple[Float[Array, "o i"], ...]
    biases: tuple[Float[Array, " o"], ...]

    def __init__(self, sizes: tuple[int, ...], draw: Draw):
        pairs = list(itertools.pairwise(sizes))
        # Glorot's scaling, as Wang, Wang & Perdikaris use.
        self.weights = tuple(draw.normal((o, i), math.sqrt(2 / (i + o))) for i, o in pairs)
        self.biases = tuple(zeros(o) for _, o in pairs)

    def __call__(self, z: Float[Array, " i"]) -> Float[Array, " k"]:
        for weight, bias in zip(self.weights, self.biases, strict=True):
            z = jnp.tanh(z @ weight.T + bias)
        return z


class BranchAndTrunk(AbstractNetwork):
    """The network u(z) = Σ_k b_k t_k(z) + offset with b = MLP( mean_i MLP[z_i, u_i, mask_i] )."""

    embedding: Embedding
    each: Mlp
    together: Mlp
    trunk: Trunk
    offset: Float[Array, " c"]

    def __init__(
        self, embedding: Embedding, fields: int, width: int, layers: int, basis: int, draw: Draw
    ):
        inputs = embedding.size
        self.embedding = embedding
        self.each = Mlp(inputs + 2 * fields, width, width, "gelu", draw)
        self.together = Mlp(width, width, fields * basis, "gelu", draw)
        self.trunk = Trunk((inputs, *[width] * (layers - 1), basis), draw)
        self.offset = zeros(fields)

    def encode(self, readings: UnitReadings) -> Float[Array, "c k"]:
        """The coefficients b of the basis, from the readings."""
        places = jax.vmap(self.embedding)(readings.points)
        rows = [places, readings.values, readings.mask.astype(places.dtype)]
        features = jax.vmap(self.each)(jnp.concatenate(rows, axis=-1))  # n w
        visible = readings.visible[:, None]
        total = jnp.sum(jnp.where(visible, features, 0.0), axis=0)
        mean = total / jnp.maximum(jnp.sum(visible), 1)
        return self.together(mean).reshape(len(self.offset), -1)

    def decode(self, context: Float[Array, "c k"], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The fields Σ_k b_k t_k(z) + offset."""
        return context @ self.trunk(self.embedding(z)) + self.offset

    def tunable(self):
        """The trunk and the offset; the branch stays as it is."""
        return self.trunk, self.offset


@register("deeponet")
class DeepONet(AbstractFrame):
    """Deep operator network (Lu et al. 2021); physics-informed when trained with a residual, as all
    models are here (Wang, Wang & Perdikaris 2021).

        u_f(z) = Σ_k b_fk t_k(z) + offset_f
        b = MLP( mean_i MLP[z_i, u_i, mask_i] )        t = tanh layers of z

    The papers' branch is an MLP on readings at fixed sensors. Here the positions of sensors differ
    between data sets, so the branch is a deep set (Zaheer et al. 2017): it takes the position of each
    reading and does not depend on the order of the readings.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    width, layers
        Width and number of layers of the trunk; the branch has the same width.
    basis
        The number of functions t_k.

    The example below builds one; `python examples/rivals.py DeepONet` trains it.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = DeepONet(scaling, width=16, layers=2, basis=8)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    """

    scaling: Scaling
    kernel: NoKernel
    network: BranchAndTrunk

    def __init__(
        self,
        scaling: Scaling,
        *,
        width: Size = 128,
        layers: Size = 4,
        basis: Size = 64,
        seed: Seed = 0,
    ):
        embedding, fields = Embedding(scaling.periodic), len(scaling.mean)
        self.scaling, self.kernel = scaling, NoKernel()
        self.network = BranchAndTrunk(embedding, fields, width, layers, basis, Draw(seed))
