"""The base class of families whose systems a solver computes, and that of families on a line.

A system is drawn as log-uniform coefficients and standard normals `noise`; `solve` maps both to the
fields, so that `assimilate` can search for the most probable noise.
"""

import abc
import dataclasses
import math
from collections.abc import Mapping
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float

from pgt.core.arguments import MAX_NUMBER
from pgt.core.errors import InputError
from pgt.core.types import Key
from pgt.data.domain import Domain
from pgt.families.family import (
    AbstractFamily,
    Coefficients,
    Nodes,
    Range,
    SampledSystem,
    check_names,
    log_uniform,
    nodes_of,
)

TracedCoefficients = Mapping[str, Float[Array, ""]]
Noise = Float[Array, "..."]  # Independent standard normals of the family's `noise_shape`.


class AbstractSolved(AbstractFamily):
    """A family with log-uniform coefficients and a random state, whose fields a solver computes.

    All randomness of a state is in `noise`, independent standard normals. `solve` computes the fields
    from the noise and the coefficients; it is a smooth function without further randomness. So the same
    noise with other coefficients is the same state under another equation, and `assimilate` can search
    for the noise that the readings make most probable.

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
        """The bounds of each coefficient; every dataclass field annotated as a `Range` is one."""
        fields = dataclasses.fields(self)
        return {field.name: getattr(self, field.name) for field in fields if field.type == Range}

    @abc.abstractmethod
    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "*grid c"]:
        """The fields at the nodes, for the state that this noise determines."""

    def coarse(self) -> "AbstractSolved":
        """The family at the same nodes with a cheaper solver, for linearizations."""
        return self

    def finer(self, space: int, time: int = 1) -> "AbstractSolved":
        """The family with more nodes by these factors; the original nodes remain nodes.

        >>> import pgt
        >>> family = pgt.families.get("heat", nodes=3, times=2)
        >>> family.axes["x"].tolist(), family.finer(2).axes["x"].tolist()
        ([0.0, 0.5, 1.0], [0.0, 0.25, 0.5, 0.75, 1.0])
        """
        ends = 0 if self.domain.periodic else 1  # the number of end nodes, which do not multiply
        counts = {
            name: factor * (getattr(self, name) - fixed) + fixed
            for name, factor, fixed in (("nodes", space, ends), ("times", time, 1))
            if hasattr(self, name)
        }
        return dataclasses.replace(self, **counts)

    def draw(self, key: Key, coefficients: Coefficients | None = None) -> SampledSystem:
        given = {} if coefficients is None else dict(coefficients)
        check_names(self, given)
        state_key, *keys = jax.random.split(key, 1 + len(self.ranges))
        drawn = {
            name: as_coefficient(name, given[name])
            if name in given
            else log_uniform(subkey, *bounds)
            for subkey, (name, bounds) in zip(keys, self.ranges.items(), strict=True)
        }
        # GPUs round the factors of a product to 10 bits by default.
        with jax.default_matmul_precision("highest"):
            noise = jax.random.normal(state_key, self.noise_shape)
            return SampledSystem(drawn, self.solve(noise, drawn))


def as_coefficient(name: str, value) -> Float[Array, ""]:
    """A given coefficient as an array; its value is checked unless it is a JAX tracer."""
    if isinstance(value, Tracer):
        return jnp.asarray(value, float)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if isinstance(value, str) or not 0 < number <= MAX_NUMBER:
        raise InputError(
            f"draw: {name} is {value!r}; write a number above 0, up to {MAX_NUMBER:g}."
        )
    return jnp.asarray(number)


MODES = np.arange(1, 9)  # The shortest wave has eight of the usual 64 nodes.


class AbstractLine(AbstractSolved):
    """One field u of x and t, both from 0 to 1; `periodic` names x where the line is a ring.

    >>> import pgt
    >>> isinstance(pgt.families.get("wave"), AbstractLine)
    True
    """

    fields: ClassVar[tuple[str, ...]] = ("u",)
    periodic: eqx.AbstractClassVar[tuple[str, ...]]
    nodes: Nodes = eqx.field(static=True, default=64, kw_only=True)
    times: Nodes = eqx.field(static=True, default=65, kw_only=True)

    @property
    def domain(self) -> Domain:
        return Domain(x=(0, 1), t=(0, 1), periodic=self.periodic)

    @property
    def axes(self) -> dict[str, np.ndarray]:
        return nodes_of(self.domain, x=self.nodes, t=self.times)


def amplitudes(noise: Float[Array, "*several 8"]) -> Float[Array, "*several 8"]:
    """The amplitudes of the modes k = 1 to 8, with standard deviations 1 / (1 + (k/3)²)."""
    return noise / jnp.asarray(1 + (MODES / 3) ** 2)


def smooth_state(noise: Float[Array, "2 8"], x: np.ndarray) -> Float[Array, " n"]:
    """A random state of period 1 and mean zero at the places x."""
    cosine, sine = amplitudes(noise)
    angle = 2 * np.pi * np.outer(x, MODES)
    return jnp.asarray(np.cos(angle)) @ cosine + jnp.asarray(np.sin(angle)) @ sine


def ring_field(
    noise: Float[Array, "2 k"], spreads: np.ndarray, nodes: int
) -> Float[Array, " {nodes}"]:
    """A Gaussian random field of period 1 at evenly spaced nodes.

    `spreads` are the standard deviations of the cosine and of the sine of k = 1, 2, ... waves.
    """
    angle = 2 * np.pi * np.outer(np.arange(nodes) / nodes, np.arange(1, spreads.size + 1))
    # JAX caches the precision of an array that it meets again, so the type is stated here.
    cosine, sine = noise * jnp.asarray(spreads, noise.dtype)
    return jnp.asarray(np.cos(angle)) @ cosine + jnp.asarray(np.sin(angle)) @ sine
