"""Burgers' equation."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Powers
from pgt.core.registry import register
from pgt.kernels.heat_kernel import HeatKernel
from pgt.physics.coefficient_tree import Coefficient, Diffusivity, as_coefficient, current
from pgt.physics.pde import FLAT_ENDS, About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names


@register("burgers")
class Burgers(AbstractPDE):
    r"""Steepening waves smoothed by viscosity, in one dimension.

    $$ \partial_t u + u\, \partial_x u = \nu\, \partial_{xx} u $$

    Good starting values: ν = 0.01/π on x ∈ [-1, 1], t ∈ [0, 1] with u(x, 0) = -sin πx forms a sharp
    front at x = 0 near t = 0.32; ν = 0.1 stays smooth.

    >>> Burgers(viscosity=0.01).fields
    ('u',)
    """

    about: ClassVar[About] = About(
        "u_t + u*u_x = viscosity*u_xx",
        {"viscosity": 0.01},
        box={"x": (-1, 1), "t": (0, 1)},
        conditions=({"kind": "initial", "u": "-sin(pi*x)"}, FLAT_ENDS),
        units={"u": Powers(length=1, time=-1)},
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    viscosity: Coefficient

    def __init__(self, viscosity: Diffusivity, fields: str | Sequence[str] = "u"):
        self.coords = ("x", "t")
        self.fields = as_fields("Burgers", fields, ("u",))
        self.viscosity = as_coefficient("Burgers(viscosity)", viscosity, positive=True)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, ("u",))
        return {"burgers": d("u_t") + d("u") * d("u_x") - self.viscosity * d("u_xx")}

    def kernel(self) -> HeatKernel:
        return HeatKernel(current(self.viscosity))
