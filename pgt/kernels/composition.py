"""Kernels made of kernels, and the kernel that knows nothing."""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.arguments import Size
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.core.types import Point
from pgt.kernels.kernel import AbstractKernel


@register("none")
class NoKernel(AbstractKernel):
    """Γ = 0: every point influences every other alike (attention without physics).

    >>> import jax.numpy as jnp
    >>> NoKernel().log_influence(jnp.zeros(2), jnp.ones(2), jnp.ones(2))
    Array([0.], dtype=float32)
    """

    def log_influence(self, receiver: Point, source: Point, resolution: Point) -> Float[Array, "1"]:
        return jnp.zeros(1, jnp.result_type(receiver, source))


@register("sum")
class SumKernel(AbstractKernel):
    """Influence along several ways at once: Γ = log Σᵢ exp Γᵢ.

    >>> import jax.numpy as jnp
    >>> SumKernel(NoKernel(), NoKernel()).log_influence(jnp.zeros(2), jnp.ones(2), jnp.ones(2))
    Array([0.6931472], dtype=float32)
    """

    kernels: tuple[AbstractKernel, ...]

    def __init__(self, *kernels: AbstractKernel):
        if not kernels:
            raise InputError("SumKernel(): nothing to add; write SumKernel(first, second, ...).")
        self.kernels = kernels

    def log_influence(
        self, receiver: Point, source: Point, resolution: Point
    ) -> Float[Array, " #h"]:
        return _together([k.log_influence(receiver, source, resolution) for k in self.kernels])

    def bias(
        self,
        receivers: Float[Array | np.ndarray, "receivers d"],
        sources: Float[Array | np.ndarray, "sources d"],
        resolution: Point,
        period: Point | None = None,
    ) -> Float[Array, "#h receivers sources"]:
        """Each along its own way: where an axis repeats, kernels may ask for other images."""
        return _together([k.bias(receivers, sources, resolution, period) for k in self.kernels])


def _together(terms: list[Float[Array, "..."]]) -> Float[Array, "..."]:
    """log Σ exp; exactly -inf where all are."""
    table = jnp.stack(jnp.broadcast_arrays(*terms))
    visible = jnp.any(table > -jnp.inf, axis=0)
    # Where all terms are -inf, log 0 would send NaN into the gradient: take log of a stand-in.
    total = jax.nn.logsumexp(jnp.where(visible, table, 0.0), axis=0)
    return jnp.where(visible, total, -jnp.inf)


@register("learnable_strength")
class LearnableStrength(AbstractKernel):
    """A kernel with a learnable positive strength per attention head: Γ_h = e^{raw_strength_h} · Γ.

    Strength 1 (raw 0, the start) is the physics as given; towards 0 a head attends freely. What has
    no influence keeps none at any strength.

    >>> import jax.numpy as jnp
    >>> kernel = LearnableStrength(NoKernel(), heads=4)
    >>> kernel.bias(jnp.zeros((3, 2)), jnp.zeros((5, 2)), jnp.ones(2)).shape
    (4, 3, 5)
    """

    kernel: AbstractKernel
    raw_strength: Float[Array | np.ndarray, " heads"]

    def __init__(self, kernel: AbstractKernel, heads: Size):
        self.kernel = kernel
        self.raw_strength = jnp.zeros(heads)

    @property
    def strength(self) -> Float[Array, " heads"]:
        return jnp.exp(self.raw_strength)

    def log_influence(
        self, receiver: Point, source: Point, resolution: Point
    ) -> Float[Array, " heads"]:
        log_influence = self.kernel.log_influence(receiver, source, resolution)
        visible = log_influence > -jnp.inf
        # strength · (-inf) has gradient -inf · 0 = NaN: multiply a stand-in instead.
        scaled = self.strength * jnp.where(visible, log_influence, 0.0)
        return jnp.where(visible, scaled, -jnp.inf)

    def image(self, receiver: Point, source: Point, period: Point) -> Point:
        return self.kernel.image(receiver, source, period)
