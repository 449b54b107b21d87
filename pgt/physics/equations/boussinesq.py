"""The Boussinesq equations: flow driven by heat."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Powers
from pgt.core.registry import register
from pgt.kernels.elliptic import PoissonKernel
from pgt.kernels.heat_kernel import HeatKernel
from pgt.physics.coefficient_tree import Coefficient, Diffusivity, Given, as_coefficient, current
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.implied_kernel import RADIUS
from pgt.physics.pde import About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names, carried, change, divergence

FIELDS = ("u", "v", "p", "T")


@register("boussinesq")
class Boussinesq(AbstractPDE):
    r"""Convection in the plane, y upwards: velocity (u, v), pressure p over density, temperature T.

    $$ u_t + u\, u_x + v\, u_y = -p_x + \nu \nabla^2 u $$
    $$ v_t + u\, v_x + v\, v_y = -p_y + \nu \nabla^2 v + b\, T $$
    $$ T_t + u\, T_x + v\, T_y = \kappa \nabla^2 T + q, \qquad u_x + v_y = 0 $$

    T is counted from the temperature at which the fluid has its density; `buoyancy` is b = gβ,
    gravity times thermal expansion, `diffusivity` is κ, and `source` the heating q, a temperature per
    time. Good starting values: in units of the free fall, b = 1 and ν = κ = 0.001 for a Rayleigh
    number of 10⁶ in a unit square between T = 1 below and 0 above. With `steady=True` there is no
    time.

    >>> Boussinesq(viscosity=0.001, diffusivity=0.001, buoyancy=1.0).fields
    ('u', 'v', 'p', 'T')
    """

    about: ClassVar[About] = About(
        "u_t + u*u_x + v*u_y = -p_x + viscosity*lap(u); v alike, + buoyancy*T; "
        "T_t + u*T_x + v*T_y = diffusivity*lap(T) + source; u_x + v_y = 0",
        {"viscosity": 0.001, "diffusivity": 0.001, "buoyancy": 1.0},
        box={"x": (0, 1), "y": (0, 1), "t": (0, 10)},
        measured=("u", "v", "T"),
        conditions=(
            {"kind": "dirichlet", "axis": "y", "side": "lower", "u": 0, "v": 0, "T": 1},
            {"kind": "dirichlet", "axis": "y", "side": "upper", "u": 0, "v": 0, "T": 0},
            {"kind": "gauge", "field": "p"},
        ),
        units={"u": Powers(1, -1), "v": Powers(1, -1), "p": Powers(2, -2)},  # p is over density
        fields=FIELDS,
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    viscosity: Coefficient
    diffusivity: Coefficient
    buoyancy: Coefficient
    source: Value | None

    def __init__(
        self,
        viscosity: Diffusivity,
        diffusivity: Diffusivity,
        buoyancy: Given,
        source: Source | None = None,
        steady: bool = False,
        fields: str | Sequence[str] = FIELDS,
    ):
        self.coords = ("x", "y") if steady else ("x", "y", "t")
        self.fields = as_fields("Boussinesq", fields, FIELDS)
        self.viscosity = as_coefficient("Boussinesq(viscosity)", viscosity, positive=True)
        self.diffusivity = as_coefficient("Boussinesq(diffusivity)", diffusivity, positive=True)
        self.buoyancy = as_coefficient("Boussinesq(buoyancy)", buoyancy)
        self.source = as_source("Boussinesq(source)", source, self.coords)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, FIELDS)
        moved = {
            name: change(d, name, self.coords) + carried(d, name, self.coords)
            for name in ("u", "v", "T")
        }
        viscous = {name: self.viscosity * d.laplacian(name) for name in ("u", "v")}
        heating = self.diffusivity * d.laplacian("T") + source_at(self.source, d, self.coords)
        return {
            "momentum_x": moved["u"] + d("p_x") - viscous["u"],
            "momentum_y": moved["v"] + d("p_y") - viscous["v"] - self.buoyancy * d("T"),
            "energy": moved["T"] - heating,
            "continuity": divergence(d, self.coords),
        }

    def kernel(self) -> HeatKernel | PoissonKernel:
        """The heat kernel of the larger diffusivity, that of momentum or of heat."""
        if "t" not in self.coords:
            return PoissonKernel(RADIUS)
        return HeatKernel(max(current(self.viscosity), current(self.diffusivity)))
