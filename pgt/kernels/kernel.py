"""What a kernel is: log G(receiver, source), the logarithm of the influence of one point on another.

`AbstractKernel` is the contract; `NoKernel`, `SumKernel` and `LearnableStrength` work with any equation.
"""

import abc
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.errors import TracerArrayConversionError
from jaxtyping import Array, Bool, Float

from pgt.core.arguments import MAX_NUMBER, Limits, Size
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.core.types import Point

Coefficient = float | int | np.number | Float[Array, ""]
"""A number, or a scalar array where the coefficient is being learnt."""

PositiveCoefficient = Annotated[Coefficient, Limits(above=0, at_most=MAX_NUMBER)]

Number = Float[Array, ""]
# Two times closer than this share of the resolution in time count as one.
SIMULTANEOUS = 1e-3


def displacement_and_lag(receiver: Point, source: Point) -> tuple[Float[Array, " s"], Number]:
    """Receiver minus source, split into the spatial displacement and the time lag (the last axis)."""
    difference = jnp.asarray(receiver) - jnp.asarray(source)
    return difference[:-1], difference[-1]


def floored_lag(lag: Number, resolution: Point, causal: bool) -> Number:
    """The elapsed time, at least τ = resolution[-1]; without causality, |lag| is used."""
    return jnp.maximum(lag if causal else jnp.abs(lag), resolution[-1])


def has_begun(lag: Number, resolution: Point) -> Bool[Array, ""]:
    """Whether the source is not later than the receiver, within the resolution.

    The tolerance is needed because a compiler may fuse a product and a difference into one instruction.
    Rescaled coordinates of one point then differ by rounding, and a point could lie in its own future.
    """
    return lag >= -SIMULTANEOUS * resolution[-1]


def length(vector: Float[Array, " s"]) -> Number:
    """The Euclidean length, whose gradient at the zero vector is 0 instead of NaN."""
    squared = jnp.sum(vector**2)
    nonzero = squared > 0
    return jnp.where(nonzero, jnp.sqrt(jnp.where(nonzero, squared, 1.0)), 0.0)


def visible_where(visible: Bool[Array, ""], log_influence: Number) -> Float[Array, "1"]:
    """`log_influence` if visible, otherwise exactly -inf.

    `log_influence` must be finite on both sides: the gradient runs through both.
    """
    return jnp.where(visible, log_influence, -jnp.inf)[None]


def known_positive(value) -> bool:
    """Whether all entries are finite and above 0; True for a traced value, which cannot be read."""
    try:
        concrete = np.asarray(value)
    except TracerArrayConversionError:
        return True
    is_number = np.issubdtype(concrete.dtype, np.number)
    return bool(is_number and np.all(np.isfinite(concrete) & (concrete > 0)))


def require_positive(kernel, *names: str):
    """Raise unless the named coefficients are positive numbers."""
    for name in names:
        value = getattr(kernel, name)
        if not known_positive(value):
            raise InputError(
                f"{type(kernel).__name__}({name}={value}): write a finite number above 0."
            )


def require_dimension(kernel, dimension: int, remedy: str):
    """Raise unless the number of spatial axes is 1, 2 or 3."""
    if dimension not in (1, 2, 3):
        raise InputError(
            f"{type(kernel).__name__} got points with {dimension} spatial axes; it is known for "
            f"1, 2 or 3. Give the spatial axes as {remedy}."
        )


# ------------------------------------------------------------------------------- kernel


class AbstractKernel(eqx.Module):
    """log G(receiver − source), the additive attention bias Γ of the paper.

    Coordinates are physical and ordered x, y, z, t (time last where there is one). `resolution` is
    the smallest separation along each axis that the readings can resolve. Lags and distances are at
    least that, because a Green's function is singular at its source. Zero influence is exactly -inf,
    and all gradients are finite.

    >>> class Nearby(AbstractKernel):
    ...     def log_influence(self, receiver, source, resolution):
    ...         return -jnp.sum(((receiver - source) / resolution) ** 2)[None]
    >>> points = jnp.array([[0.0], [1.0], [3.0]])
    >>> Nearby().bias(points[:1], points, jnp.array([1.0])).tolist()  # of all three on the first
    [[[-0.0, -1.0, -9.0]]]
    """

    part: ClassVar[str] = "kernel"

    @abc.abstractmethod
    def log_influence(
        self, receiver: Point, source: Point, resolution: Point
    ) -> Float[Array, " #h"]:
        """The log-influence of `source` on `receiver`: one number, or one per attention head."""

    def bias(
        self,
        receivers: Float[Array | np.ndarray, "receivers d"],
        sources: Float[Array | np.ndarray, "sources d"],
        resolution: Point,
        period: Point | None = None,
    ) -> Float[Array, "#h receivers sources"]:
        """Γ between two sets of points: one matrix per head (or one for all heads).

        `period` is the period of each axis (infinite where it is not periodic). Influence then comes
        from one periodic image of the source, which `image` chooses.
        """
        _check(receivers, sources, resolution)

        def influence(receiver, source, resolution):
            image = source if period is None else self.image(receiver, source, period)
            return self.log_influence(receiver, image, resolution)

        row = jax.vmap(influence, in_axes=(None, 0, None))
        table = jax.vmap(row, in_axes=(0, None, None))(receivers, sources, resolution)
        return jnp.moveaxis(table, -1, 0)

    def image(self, receiver: Point, source: Point, period: Point) -> Point:
        """The periodic image of `source` that influences `receiver` most; by default the nearest one."""
        return nearest_image(receiver, source, period)


def nearest_image(receiver: Point, source: Point, period: Point) -> Point:
    """The periodic image of `source` that is nearest to `receiver`."""
    wraps = jnp.isfinite(period)
    length = jnp.where(wraps, period, 1.0)
    return source + jnp.where(wraps, length * jnp.round((receiver - source) / length), 0.0)


def _check(receivers, sources, resolution):
    axes = receivers.shape[-1], sources.shape[-1], resolution.shape[-1]
    if len(set(axes)) > 1:
        raise InputError(
            "bias(receivers, sources, resolution): the number of coordinates differs: "
            f"{axes[0]}, {axes[1]} and {axes[2]}; give all three the same axes in the same order."
        )
    if not known_positive(resolution):
        raise InputError(
            f"bias(resolution={resolution}): every axis needs a resolution above 0; "
            "write the smallest separation the readings can tell apart."
        )


# ------------------------------------------------------------------------------- composition


@register("none")
class NoKernel(AbstractKernel):
    """Γ = 0: all points influence one another equally (attention without physics).

    >>> import jax.numpy as jnp
    >>> NoKernel().log_influence(jnp.zeros(2), jnp.ones(2), jnp.ones(2))
    Array([0.], dtype=float32)
    """

    def log_influence(self, receiver: Point, source: Point, resolution: Point) -> Float[Array, "1"]:
        return jnp.zeros(1, jnp.result_type(receiver, source))


@register("sum")
class SumKernel(AbstractKernel):
    """The sum of the influences of several kernels: Γ = log Σᵢ exp Γᵢ.

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
        return _log_sum([k.log_influence(receiver, source, resolution) for k in self.kernels])

    def bias(
        self,
        receivers: Float[Array | np.ndarray, "receivers d"],
        sources: Float[Array | np.ndarray, "sources d"],
        resolution: Point,
        period: Point | None = None,
    ) -> Float[Array, "#h receivers sources"]:
        """Γ of the sum; each kernel chooses its own periodic image of a source."""
        return _log_sum([k.bias(receivers, sources, resolution, period) for k in self.kernels])


def _log_sum(terms: list[Float[Array, "..."]]) -> Float[Array, "..."]:
    """log Σᵢ exp(termᵢ), exactly -inf where all terms are."""
    table = jnp.stack(jnp.broadcast_arrays(*terms))
    visible = jnp.any(table > -jnp.inf, axis=0)
    # Where all terms are -inf, the gradient of log 0 would be NaN, so zeros replace the terms.
    total = jax.nn.logsumexp(jnp.where(visible, table, 0.0), axis=0)
    return jnp.where(visible, total, -jnp.inf)


@register("learnable_strength")
class LearnableStrength(AbstractKernel):
    """A kernel with a learnable positive strength per attention head: Γ_h = e^{raw_strength_h} · Γ.

    The initial strength is 1 (raw strength 0), which leaves the kernel unchanged. With a strength near 0
    a head attends freely. Zero influence stays zero at any strength.

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
        # The gradient of strength · (-inf) would be NaN, so zero replaces -inf in the product.
        scaled = self.strength * jnp.where(visible, log_influence, 0.0)
        return jnp.where(visible, scaled, -jnp.inf)

    def image(self, receiver: Point, source: Point, period: Point) -> Point:
        return self.kernel.image(receiver, source, period)
