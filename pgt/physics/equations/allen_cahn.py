"""The Allen–Cahn equation."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.kernels.heat_kernel import HeatKernel
from pgt.physics.coefficient_tree import Coefficient, Diffusivity, Rate, as_coefficient, current
from pgt.physics.pde import About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names


@register("allen_cahn")
class AllenCahn(AbstractPDE):
    r"""Two phases, u = 1 and u = -1, separating behind thin fronts.

    $$ \partial_t u = D\, \partial_{xx} u + r\,(u - u^3) $$

    Good starting values: D = 1e-4, r = 5 on x ∈ [-1, 1], periodic, with u(x, 0) = x² cos πx. Fronts
    are about sqrt(2D/r) wide.

    >>> AllenCahn(diffusivity=1e-4, reaction=5.0).reaction
    5.0
    """

    about: ClassVar[About] = About(
        "u_t = diffusivity*u_xx + reaction*(u - u^3)",
        {"diffusivity": 1e-4, "reaction": 5.0},
        box={"x": (-1, 1), "t": (0, 1)},
        conditions=({"kind": "initial", "u": "x^2*cos(pi*x)"}, {"kind": "periodic", "axis": "x"}),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    diffusivity: Coefficient
    reaction: Coefficient

    def __init__(
        self, diffusivity: Diffusivity, reaction: Rate = 1.0, fields: str | Sequence[str] = "u"
    ):
        self.coords = ("x", "t")
        self.fields = as_fields("AllenCahn", fields, ("u",))
        self.diffusivity = as_coefficient("AllenCahn(diffusivity)", diffusivity, positive=True)
        self.reaction = as_coefficient("AllenCahn(reaction)", reaction)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, ("u",))
        u = d("u")
        reaction = self.reaction * (u - u**3)
        return {"allen_cahn": d("u_t") - self.diffusivity * d.laplacian("u") - reaction}

    def kernel(self) -> HeatKernel:
        return HeatKernel(current(self.diffusivity))
