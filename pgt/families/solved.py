"""Families whose systems are computed when they are drawn."""

import abc
import dataclasses
import math
from collections.abc import Mapping
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Float

from pgt.families.family import AbstractFamily, Coefficients, check_names, log_uniform
from pgt.families.system import System
from pgt.ground.arguments import LARGEST
from pgt.ground.errors import InputError
from pgt.ground.types import Key

Drawn = Mapping[str, Float[Array, ""]]
Noise = Float[Array, "..."]  # independent standard normals, of the shape that the family names


class AbstractSolved(AbstractFamily):
    """A family that draws coefficients log-uniformly and a state, and computes the field.

    All that is random about a state is `noise`, independent standard normals: `solve` makes the field of
    them and of the coefficients, smoothly and without another draw. So the same noise with other
    coefficients is the same state under another equation, and readings can be traced back to the noise
    behind them (assimilation.py).

    >>> import jax
    >>> import pgt
    >>> family, key = pgt.families.get("heat"), jax.random.key(0)
    >>> slow, fast = (family.draw(key, {"diffusivity": nu}) for nu in (0.01, 0.1))
    >>> bool((slow.values[:, 0] == fast.values[:, 0]).all())
    True
    """

    noise_shape: eqx.AbstractClassVar[tuple[int, ...]]
    # Why readings do not lead back to the noise, in words; nothing where they do.
    forgets: ClassVar[str] = ""

    def __check_init__(self):
        for name, (low, high) in self.ranges.items():
            if not 0 < low <= high:
                raise InputError(
                    f"{type(self).__name__}({name}=({low:g}, {high:g})): write the least and the "
                    "greatest value, both above 0."
                )

    @abc.abstractmethod
    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "*grid c"]:
        """The fields at the nodes, of the state that the noise makes."""

    def rough(self) -> "AbstractSolved":
        """The same law at the same nodes, computed only so well that one can linearise with it."""
        return self

    def finer(self, space: int, time: int = 1) -> "AbstractSolved":
        """The same law with so many times the nodes along space and time, those of this one among them.

        >>> import pgt
        >>> family = pgt.families.get("heat", nodes=3, times=2)
        >>> family.axes["x"].tolist(), family.finer(2).axes["x"].tolist()
        ([0.0, 0.5, 1.0], [0.0, 0.25, 0.5, 0.75, 1.0])
        """
        kept = 0 if self.domain.periodic else 1  # ends that the nodes of space count twice
        counts = {
            name: factor * (getattr(self, name) - ends) + ends
            for name, factor, ends in (("nodes", space, kept), ("times", time, 1))
            if hasattr(self, name)
        }
        return dataclasses.replace(self, **counts)

    def draw(self, key: Key, coefficients: Coefficients | None = None) -> System:
        given = {} if coefficients is None else dict(coefficients)
        check_names(self, given)
        for_state, *keys = jax.random.split(key, 1 + len(self.ranges))
        drawn = {
            name: as_number(name, given[name]) if name in given else log_uniform(own, *bounds)
            for own, (name, bounds) in zip(keys, self.ranges.items(), strict=True)
        }
        # Graphics cards would round the factors of a product to 10 bits.
        with jax.default_matmul_precision("highest"):
            noise = jax.random.normal(for_state, self.noise_shape)
            return System(drawn, self.solve(noise, drawn))


def as_number(name: str, value) -> Float[Array, ""]:
    """A coefficient that was given, looked at where JAX does not trace it."""
    if isinstance(value, Tracer):
        return jnp.asarray(value, float)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, str) or not 0 < number <= LARGEST:
        raise InputError(f"draw: {name} is {value!r}; write a number above 0, up to {LARGEST:g}.")
    return jnp.asarray(number)
