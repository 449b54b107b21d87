"""The wave equation."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.kernels.wave_kernel import WaveKernel
from pgt.physics.coefficient_tree import (
    Coefficient,
    Dimension,
    Speed,
    as_coefficient,
    current,
    spatial,
)
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.pde import FLAT_ENDS, About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names


@register("wave")
class Wave(AbstractPDE):
    r"""Waves of one speed in 1, 2 or 3 dimensions.

    $$ \partial_{tt} u = c^2 \nabla^2 u + f(x, t) $$

    Good starting values: c = 1 on the unit interval with u(x, 0) = sin πx at rest. The state at the
    start is value and velocity: `Initial(u="sin(pi*x)", u_t=0.0)`.

    >>> Wave(speed=1.0, dimension=2).coords
    ('x', 'y', 't')
    """

    about: ClassVar[About] = About(
        "u_tt = speed^2*lap(u) + source",
        {"speed": 1.0},
        box={"x": (0, 1), "t": (0, 1)},
        conditions=({"kind": "initial", "u": "sin(pi*x)", "u_t": 0}, FLAT_ENDS),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    speed: Coefficient
    source: Value | None

    def __init__(
        self,
        speed: Speed,
        dimension: Dimension = 1,
        source: Source | None = None,
        fields: str | Sequence[str] = "u",
    ):
        self.coords = (*spatial("Wave", dimension), "t")
        self.fields = as_fields("Wave", fields, ("u",))
        self.speed = as_coefficient("Wave(speed)", speed, positive=True)
        self.source = as_source("Wave(source)", source, self.coords)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, ("u",))
        f = source_at(self.source, d, self.coords)
        return {"wave": d("u_tt") - self.speed**2 * d.laplacian("u") - f}

    def kernel(self) -> WaveKernel:
        return WaveKernel(current(self.speed))
