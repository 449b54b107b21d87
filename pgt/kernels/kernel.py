"""What a kernel is: the logarithm of how strongly one point influences another."""

import abc
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.types import Point
from pgt.kernels._pair import known_positive


class AbstractKernel(eqx.Module):
    """log G(receiver − source), the additive attention bias Γ of the paper.

    Coordinates are physical and ordered x, y, z, t (time last where there is one). `resolution` is
    the smallest separation along each axis that the readings can tell apart: lags and distances
    are floored there, because a Green's function is singular at its source. Zero influence is
    exactly -inf; every gradient is finite.

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
        """Log-influence of `source` on `receiver`: one number, or one per attention head."""

    def bias(
        self,
        receivers: Float[Array | np.ndarray, "receivers d"],
        sources: Float[Array | np.ndarray, "sources d"],
        resolution: Point,
        period: Point | None = None,
    ) -> Float[Array, "#h receivers sources"]:
        """Γ between two sets of points: one matrix per head (or one for all heads).

        `period` is the length after which an axis repeats (infinite where it does not): influence
        then comes from one image of the source, the one that `image` says.
        """
        _check(receivers, sources, resolution)

        def influence(receiver, source, resolution):
            image = source if period is None else self.image(receiver, source, period)
            return self.log_influence(receiver, image, resolution)

        row = jax.vmap(influence, in_axes=(None, 0, None))
        table = jax.vmap(row, in_axes=(0, None, None))(receivers, sources, resolution)
        return jnp.moveaxis(table, -1, 0)

    def image(self, receiver: Point, source: Point, period: Point) -> Point:
        """The copy of `source` on axes that repeat that influences `receiver` most: the nearest, unless a
        flow carries influence away."""
        return nearest_image(receiver, source, period)


def nearest_image(receiver: Point, source: Point, period: Point) -> Point:
    """The copy of `source` that is closest to `receiver` on axes that repeat."""
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
