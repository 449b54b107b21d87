"""Families over one axis of space and time, and random initial states made of a few waves."""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.families.family import Nodes, nodes_of
from pgt.families.laws.solved import AbstractSolved

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
    """Amplitudes of the modes 1 to 8, with standard deviation 1 / (1 + (k/3)²)."""
    return noise / jnp.asarray(1 + (MODES / 3) ** 2)


def smooth_state(noise: Float[Array, "2 8"], x: np.ndarray) -> Float[Array, " n"]:
    """A random state of period 1 and mean zero at the places x."""
    cosine, sine = amplitudes(noise)
    angle = 2 * np.pi * np.outer(x, MODES)
    return jnp.asarray(np.cos(angle)) @ cosine + jnp.asarray(np.sin(angle)) @ sine


def ring_field(
    noise: Float[Array, "2 k"], spreads: np.ndarray, nodes: int
) -> Float[Array, " {nodes}"]:
    """A Gaussian random field of period 1; `spreads` are the standard deviations of the cosine and of the
    sine of k = 1, 2, ... waves."""
    angle = 2 * np.pi * np.outer(np.arange(nodes) / nodes, np.arange(1, spreads.size + 1))
    # JAX caches the precision of an array that it meets again, so the type is stated here.
    cosine, sine = noise * jnp.asarray(spreads, noise.dtype)
    return jnp.asarray(np.cos(angle)) @ cosine + jnp.asarray(np.sin(angle)) @ sine
