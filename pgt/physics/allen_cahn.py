"""The Allen–Cahn equation."""

import equinox as eqx
from jaxtyping import Array, Float

from pgt.ground.unknown import Unknown
from pgt.kernels.heat import HeatKernel
from pgt.physics.coefficients import Coefficient, as_coefficient, current
from pgt.physics.pde import AbstractPDE, Derivatives


class AllenCahn(AbstractPDE):
    r"""Two phases, u = 1 and u = -1, separating behind thin fronts.

    $$ \partial_t u = D\, \partial_{xx} u + r\,(u - u^3) $$

    Good starting values: D = 1e-4, r = 5 on x ∈ [-1, 1], periodic, with u(x, 0) = x² cos πx. Fronts
    are about sqrt(2D/r) wide.

    >>> AllenCahn(diffusivity=1e-4, reaction=5.0).reaction
    5.0
    """

    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    diffusivity: Coefficient
    reaction: Coefficient

    def __init__(self, diffusivity: float | int | Unknown, reaction: float | int | Unknown = 1.0):
        self.coords = ("x", "t")
        self.fields = ("u",)
        self.diffusivity = as_coefficient("AllenCahn(diffusivity)", diffusivity, positive=True)
        self.reaction = as_coefficient("AllenCahn(reaction)", reaction)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        u = d("u")
        reaction = self.reaction * (u - u**3)
        return {"allen_cahn": d("u_t") - self.diffusivity * d("u_xx") - reaction}

    def kernel(self) -> HeatKernel:
        return HeatKernel(current(self.diffusivity))
