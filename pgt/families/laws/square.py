"""Families on the unit square: random fields as cosine series, solutions as sine series."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.families.family import Nodes, nodes_of
from pgt.families.laws.solved import AbstractSolved


class AbstractSquare(AbstractSolved):
    """Fields of x and y, both from 0 to 1, with `nodes` nodes along each.

    >>> import pgt
    >>> isinstance(pgt.families.get("poisson"), AbstractSquare)
    True
    """

    nodes: eqx.AbstractVar[Nodes]

    @property
    def domain(self) -> Domain:
        return Domain(x=(0, 1), y=(0, 1))

    @property
    def axes(self) -> dict[str, np.ndarray]:
        return nodes_of(self.domain, x=self.nodes, y=self.nodes)


def cosine_modes(noise: Float[Array, "k k"]) -> Float[Array, "k k"]:
    r"""The coefficients of cos(jπx) cos(kπy) of a Gaussian random field with mean zero,

    $$ N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    where the Laplacian has zero normal derivatives at the edge.
    """
    k = np.arange(len(noise))
    amplitude = 3 / (np.pi**2 * (k[:, None] ** 2 + k**2) + 9)
    norm = np.where(k > 0, 2**0.5, 1.0)  # The factor that makes the norm of a cosine 1.
    amplitude = amplitude * np.outer(norm, norm)
    amplitude[0, 0] = 0.0
    return noise * jnp.asarray(amplitude)


def cosines(places: np.ndarray, waves: int) -> Float[Array, "n {waves}"]:
    """cos(kπx), k = 0, 1, ..."""
    return jnp.asarray(np.cos(np.pi * np.outer(places, np.arange(waves))))


def sines(places: np.ndarray, waves: int) -> Float[Array, "n {waves}"]:
    """sin(kπx), k = 1, 2, ..."""
    return jnp.asarray(np.sin(np.pi * np.outer(places, np.arange(1, waves + 1))))


def squares(waves: int) -> np.ndarray:
    """π² (j² + k²), the eigenvalues of -∇² for sin(jπx) sin(kπy)."""
    k = np.arange(1, waves + 1)
    return np.pi**2 * (k[:, None] ** 2 + k**2)


def sines_of_cosines(waves: int, sine_waves: int) -> Float[Array, "{sine_waves} {waves}"]:
    """The sine coefficients of cos(mπx), m = 0, 1, ..., in closed form.

    2 ∫ cos(mπx) sin(kπx) dx = 4k / π(k² - m²) where k + m is odd, and else 0.
    """
    k, m = np.arange(1, sine_waves + 1)[:, None], np.arange(waves)
    odd = (k + m) % 2 == 1
    return jnp.asarray(np.where(odd, 4 * k / (np.pi * np.where(odd, k**2 - m**2, 1)), 0.0))


def transform(modes: Float[Array, "j k"], along: Float[Array, "n j"]) -> Float[Array, "n n2"]:
    """A table of coefficients transformed along both axes, to places or to other modes."""
    return along @ modes @ along.T
