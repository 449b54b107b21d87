"""Burgers' equation."""

import equinox as eqx
from jaxtyping import Array, Float

from pgt.ground.unknown import Unknown
from pgt.kernels.heat import HeatKernel
from pgt.physics.coefficients import Coefficient, as_coefficient, current
from pgt.physics.pde import AbstractPDE, Derivatives


class Burgers(AbstractPDE):
    r"""Steepening waves smoothed by viscosity, in one dimension.

    $$ \partial_t u + u\, \partial_x u = \nu\, \partial_{xx} u $$

    Good starting values: ν = 0.01/π on x ∈ [-1, 1], t ∈ [0, 1] with u(x, 0) = -sin πx forms a sharp
    front at x = 0 near t = 0.32; ν = 0.1 stays smooth.

    >>> Burgers(viscosity=0.01).fields
    ('u',)
    """

    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    viscosity: Coefficient

    def __init__(self, viscosity: float | int | Unknown):
        self.coords = ("x", "t")
        self.fields = ("u",)
        self.viscosity = as_coefficient("Burgers(viscosity)", viscosity, positive=True)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        return {"burgers": d("u_t") + d("u") * d("u_x") - self.viscosity * d("u_xx")}

    def kernel(self) -> HeatKernel:
        return HeatKernel(current(self.viscosity))
