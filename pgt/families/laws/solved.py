"""Families that compute their systems with a solver."""

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

from pgt.core.arguments import LARGEST
from pgt.core.errors import InputError
from pgt.core.types import Key
from pgt.families.family import (
    AbstractFamily,
    Coefficients,
    Range,
    SampledSystem,
    check_names,
    log_uniform,
)

TracedCoefficients = Mapping[str, Float[Array, ""]]
Noise = Float[Array, "..."]  # Independent standard normals of the family's `noise_shape`.


class AbstractSolved(AbstractFamily):
    """A family with log-uniform coefficients and a random state, whose fields a solver computes.

    All randomness of a state is `noise`, independent standard normals: `solve` computes the fields from
    them and from the coefficients, smoothly and without another draw. So the same noise with other
    coefficients is the same state under another equation, and `assimilate` can find the noise that
    readings make most probable.

    >>> import jax
    >>> import pgt
    >>> family, key = pgt.families.get("heat"), jax.random.key(0)
    >>> slow, fast = (family.draw(key, {"diffusivity": nu}) for nu in (0.01, 0.1))
    >>> bool((slow.values[:, 0] == fast.values[:, 0]).all())
    True
    """

    noise_shape: eqx.AbstractClassVar[tuple[int, ...]]
    # The reason why readings do not determine the noise, as for chaos; empty where they do.
    unidentifiable: ClassVar[str] = ""

    def __check_init__(self):
        for name, (low, high) in self.ranges.items():
            if not 0 < low <= high:
                raise InputError(
                    f"{type(self).__name__}({name}=({low:g}, {high:g})): write the least and the "
                    "greatest value, both above 0."
                )

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The bounds of each coefficient: of every field that is annotated as a `Range`."""
        own = dataclasses.fields(self)
        return {field.name: getattr(self, field.name) for field in own if field.type == Range}

    @abc.abstractmethod
    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "*grid c"]:
        """The fields at the nodes, for the state of this noise."""

    def coarse(self) -> "AbstractSolved":
        """The same family at the same nodes with a cheaper solver, for linearizations."""
        return self

    def finer(self, space: int, time: int = 1) -> "AbstractSolved":
        """The same family with more nodes by these factors; its own nodes remain among them.

        >>> import pgt
        >>> family = pgt.families.get("heat", nodes=3, times=2)
        >>> family.axes["x"].tolist(), family.finer(2).axes["x"].tolist()
        ([0.0, 0.5, 1.0], [0.0, 0.25, 0.5, 0.75, 1.0])
        """
        ends = 0 if self.domain.periodic else 1  # The number of end nodes that do not multiply.
        counts = {
            name: factor * (getattr(self, name) - own) + own
            for name, factor, own in (("nodes", space, ends), ("times", time, 1))
            if hasattr(self, name)
        }
        return dataclasses.replace(self, **counts)

    def draw(self, key: Key, coefficients: Coefficients | None = None) -> SampledSystem:
        given = {} if coefficients is None else dict(coefficients)
        check_names(self, given)
        for_state, *keys = jax.random.split(key, 1 + len(self.ranges))
        drawn = {
            name: as_coefficient(name, given[name]) if name in given else log_uniform(own, *bounds)
            for own, (name, bounds) in zip(keys, self.ranges.items(), strict=True)
        }
        # GPUs round the factors of a product to 10 bits by default.
        with jax.default_matmul_precision("highest"):
            noise = jax.random.normal(for_state, self.noise_shape)
            return SampledSystem(drawn, self.solve(noise, drawn))


def as_coefficient(name: str, value) -> Float[Array, ""]:
    """A given coefficient; its value is checked unless JAX traces it."""
    if isinstance(value, Tracer):
        return jnp.asarray(value, float)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, str) or not 0 < number <= LARGEST:
        raise InputError(f"draw: {name} is {value!r}; write a number above 0, up to {LARGEST:g}.")
    return jnp.asarray(number)
