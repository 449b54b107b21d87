"""Waves along one axis, each of which fades, and may swing, at a rate of its own."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

FADES, SWINGS = -2.0, 0.0  # logarithms of the rates of the longest wave, before training
LARGEST = 6.0  # of them: what fades faster is over at once


class Waves(NamedTuple):
    """The waves of one system: of each, how fast it fades and swings while the last axis goes by 1.

    >>> one = Waves(jnp.array([1.0]), jnp.zeros(0), jnp.array([jnp.pi]))
    >>> [round(float(one(jnp.array([1.0, t]))[0]), 3) for t in (-1.0, 0.0)]
    [-1.0, -0.368]
    """

    fading: Float[Array, " k"]
    swinging: Float[Array, " k"]  # none where nothing swings
    wavenumbers: Float[Array, " k"]

    def __call__(self, z: Float[Array, " d"]) -> Float[Array, " m"]:
        """Sines and cosines along the first axis, times what is left of them at the last one."""
        if not len(self.fading):
            return jnp.zeros(0, z.dtype)
        since = z[-1] + 1
        angle = jnp.asarray(self.wavenumbers, z.dtype) * z[0]
        left = jnp.exp(-self.fading * since)
        along = jnp.concatenate([left * jnp.cos(angle), left * jnp.sin(angle)])
        if not len(self.swinging):
            return along
        turned = jnp.tile(self.swinging * since, 2)
        return jnp.concatenate([along * jnp.cos(turned), along * jnp.sin(turned)])


class Rates(eqx.Module):
    """log rate_k = start + power · log k + slope · numbers + own_k, of which training finds the parts."""

    start: Float[Array, ""]
    power: Float[Array, ""]
    slope: Float[Array, " n"]
    own: Float[Array, " k"]

    def __init__(self, start: float, power: float, numbers: int, count: int):
        self.start, self.power = jnp.asarray(start), jnp.asarray(power)
        self.slope, self.own = jnp.zeros(numbers), jnp.zeros(count)

    def __call__(self, numbers: Float[Array, " n"]) -> Float[Array, " k"]:
        orders = jnp.log(jnp.arange(1, len(self.own) + 1))
        logs = self.start + self.power * orders + self.slope @ numbers + self.own
        return jnp.exp(jnp.minimum(logs, LARGEST))


class Modes(eqx.Module):
    """Waves of a line or a ring, with a law of dispersion that training finds.

    Where coefficients are constant, an equation takes every wave for itself: it fades, as in diffusion,
    with the square of its wavenumber, or swings in proportion to it. Which rates these are the numbers
    of the equation tell. A mode that fades within a hundredth of the time is more than a SIREN learns.

    >>> waves = Modes((False, False), numbers=1, count=3, swings=False)(jnp.zeros(1))
    >>> [round(float(rate), 2) for rate in waves.fading]
    [0.14, 0.54, 1.22]
    """

    periodic: bool = eqx.field(static=True)
    fading: Rates | None
    swinging: Rates | None

    def __init__(self, periodic: tuple[bool, ...], numbers: int, count: int, swings: bool):
        # Of one axis and a time: the waves of more axes are too many to have them all.
        count = count if len(periodic) == 2 and not periodic[-1] else 0
        self.periodic = periodic[0]
        self.fading = Rates(FADES, 2.0, numbers, count) if count else None
        self.swinging = Rates(SWINGS, 1.0, numbers, count) if count and swings else None

    @property
    def size(self) -> int:
        """How many functions that are."""
        return 2 * sum(len(rates.own) for rates in (self.fading, self.swinging) if rates)

    def __call__(self, numbers: Float[Array, " n"]) -> Waves:
        told, none = jnp.asarray(numbers), jnp.zeros(0)
        fading = none if self.fading is None else self.fading(told)
        swinging = none if self.swinging is None else self.swinging(told)
        orders = jnp.arange(1, len(fading) + 1)
        return Waves(fading, swinging, jnp.pi * orders * (1.0 if self.periodic else 0.5))
