"""Membranes that swing."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.families.dimensionless import centred, extents
from pgt.families.family import Coefficients, Nodes, Range, nodes_of
from pgt.families.solved import AbstractSolved, Drawn, Noise
from pgt.ground.registry import register
from pgt.nn.scaling import Scaling
from pgt.physics.wave import Wave

MODES = np.arange(1, 6)
SQUARES = MODES[:, None] ** 2 + MODES**2


@register("wave_2d")
class Wave2DFamily(AbstractSolved):
    r"""Square membranes held at their edge that begin with a random displacement and velocity.

    $$ u = \sum_{j,k=1}^{5} \sin(j \pi x) \sin(k \pi y)
           \left(a_{jk} \cos \omega_{jk} t + b_{jk} \sin \omega_{jk} t\right), \qquad
       \omega_{jk} = \pi c \sqrt{j^2 + k^2} $$

    with a and b from N(0, 1) / (1 + (j² + k²)/9).

    >>> Wave2DFamily().domain.axes
    ('x', 'y', 't')
    """

    name: ClassVar[str] = "wave_2d"
    fields: ClassVar[tuple[str, ...]] = ("u",)
    noise_shape: ClassVar[tuple[int, ...]] = (2, *SQUARES.shape)
    speed: Range = eqx.field(static=True, default=(0.3, 1.2))
    nodes: Nodes = eqx.field(static=True, default=32)
    times: Nodes = eqx.field(static=True, default=33)

    @property
    def domain(self) -> Domain:
        return Domain(x=(0, 1), y=(0, 1), t=(0, 1))

    @property
    def axes(self) -> dict[str, np.ndarray]:
        return nodes_of(self.domain, x=self.nodes, y=self.nodes, t=self.times)

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return {"speed": self.speed}

    def solve(self, noise: Noise, coefficients: Drawn) -> Float[Array, "x y t 1"]:
        x, _, t = self.axes.values()
        drawn = noise / jnp.asarray(1 + SQUARES / 9)
        displacement, velocity = drawn[..., None]
        angle = coefficients["speed"] * (np.pi * np.sqrt(SQUARES)[..., None] * t)
        swing = displacement * jnp.cos(angle) + velocity * jnp.sin(angle)
        modes = jnp.asarray(np.sin(np.pi * np.outer(x, MODES)))
        return jnp.einsum("xj,yk,jkt->xyt", modes, modes, swing)[..., None]

    def equation(self, **coefficients: Any) -> Wave:
        return Wave(**coefficients, dimension=2)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 2"]:
        *lengths, time = extents(scaling)
        return jnp.stack(
            [centred(coefficients["speed"] * time / length, *self.speed) for length in lengths]
        )
