"""Samplers of collocation points, at which the residual of the equation is evaluated in training."""

import abc
import functools
import math
from collections.abc import Callable
from typing import Annotated, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, UInt32

from pgt.core.arguments import Limits, NotNegative, Positive
from pgt.core.registry import register
from pgt.core.types import Key
from pgt.data.domain import Domain

Residual = Callable[[Float[Array, "m d"]], Float[Array, " m"]]


class AbstractSampler(eqx.Module):
    """A sampler of collocation points; it is a pure function and runs inside a compiled training step.

    >>> class Anywhere(AbstractSampler):
    ...     def draw(self, key, domain, n, residual=None):
    ...         return domain.sample(key, n)
    >>> Anywhere().draw(jax.random.key(0), Domain(x=(0, 1), t=(0, 2)), 5).shape
    (5, 2)
    """

    part: ClassVar[str] = "sampler"

    @abc.abstractmethod
    def draw(
        self, key: Key, domain: Domain, n: int, residual: Residual | None = None
    ) -> Float[Array, "{n} d"]:
        """`n` points of the domain; `residual` gives the size of the PDE residual at (m, d) points."""


@register("uniform")
class Uniform(AbstractSampler):
    """Independent uniform points.

    >>> Uniform().draw(jax.random.key(0), Domain(x=(0, 1), t=(0, 2)), 5).shape
    (5, 2)
    """

    def draw(self, key, domain, n, residual=None):
        return domain.sample(key, n)


@register("sobol")
class Sobol(AbstractSampler):
    """The first n points of the Sobol sequence with a random digital shift per draw.

    Direction numbers are SciPy's (Joe & Kuo 2008). Every point is XORed, bit by bit, with the same
    random number per axis: each draw is uniform on average, and the even spread of the net is kept.

    >>> points = Sobol().draw(jax.random.key(0), Domain(x=(0, 1)), 4)
    >>> sorted((4 * points[:, 0]).astype(int).tolist())  # one point in every quarter
    [0, 1, 2, 3]
    """

    def draw(self, key, domain, n, residual=None):
        shift = jax.random.bits(key, (domain.dimension,), jnp.uint32)
        bits = jnp.asarray(_sobol_bits(domain.dimension, n)) ^ shift
        # A float32 holds 24 bits without rounding up to 1.
        unit = (bits >> 8).astype(jnp.result_type(float)) * 2.0**-24
        return domain.from_unit(unit)


@register("graded")
class Graded(AbstractSampler):
    """A `share` of the points close to walls of the shape, where fields are steepest; others uniform.

    The density of the former falls by a factor e within `reach`, a share of the box's shortest side.

    >>> from pgt.geometry import Disk
    >>> channel = Domain(x=(-2, 8), y=(-2, 2), shape=-Disk(radius=0.5))
    >>> points = Graded(share=1.0).draw(jax.random.key(0), channel, 100)
    >>> bool((jnp.hypot(*points.T) < 2).all())
    True
    """

    share: Annotated[float, Limits(at_least=0, at_most=1)] = eqx.field(static=True, default=0.5)
    reach: Annotated[float, Limits(above=0, at_most=1)] = eqx.field(static=True, default=0.05)

    def draw(self, key, domain, n, residual=None):
        near, anywhere = jax.random.split(key)
        count = round(self.share * n)
        parts = [
            domain.near_walls(near, count, self.reach),
            domain.sample(anywhere, n - count),
        ]
        return jnp.concatenate(parts)


@register("residual_adaptive")
class ResidualAdaptive(AbstractSampler):
    """More points where the equation is violated most (RAD, Wu et al. 2023).

    Of `candidates_per_point` × n uniform candidates, n are drawn without replacement with

        probability ∝ |r|^power / mean(|r|^power) + floor

    (Gumbel top-k). Without a residual, or where it is zero everywhere, the draw is uniform.

    >>> def size_of_residual(points):
    ...     return jnp.where(points[:, 0] > 0.5, 1.0, 0.0)
    >>> sampler = ResidualAdaptive(floor=0.0)
    >>> points = sampler.draw(jax.random.key(0), Domain(x=(0, 1)), 10, size_of_residual)
    >>> bool((points > 0.5).all())
    True
    """

    candidates_per_point: Annotated[int, Limits(at_least=2, at_most=1000)] = eqx.field(
        static=True, default=4
    )
    power: Positive = eqx.field(static=True, default=1.0)
    floor: NotNegative = eqx.field(static=True, default=0.1)

    def draw(self, key, domain, n, residual=None):
        if residual is None:
            return domain.sample(key, n)
        candidate_key, choice_key = jax.random.split(key)
        candidates = domain.sample(candidate_key, n * self.candidates_per_point)
        size = jnp.abs(jax.lax.stop_gradient(residual(candidates)))
        size = jnp.where(jnp.isfinite(size), size, 0.0)
        largest = jnp.max(size)
        # The size is scaled first, because |r|^power must not overflow.
        weight = (size / jnp.where(largest > 0, largest, 1.0)) ** self.power
        weight = weight / jnp.where(largest > 0, jnp.mean(weight), 1.0) + self.floor
        score = jnp.log(weight) + jax.random.gumbel(choice_key, weight.shape)
        return candidates[jax.lax.top_k(score, n)[1]]


@functools.lru_cache(maxsize=32)
def _sobol_bits(dimension: int, n: int) -> UInt32[np.ndarray, "{n} {dimension}"]:
    """The unshifted sequence as 32-bit integers, computed once on the host."""
    from scipy.stats import qmc  # slow to import, and few draw from it

    power = max(math.ceil(math.log2(n)), 0)
    unit = qmc.Sobol(dimension, scramble=False).random_base2(power)[:n]
    return np.round(unit * 2.0**32).astype(np.uint32)
