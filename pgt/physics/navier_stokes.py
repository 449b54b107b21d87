"""The incompressible Navier–Stokes equations in two dimensions."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.ground.arguments import Powers
from pgt.ground.errors import InputError
from pgt.ground.registry import register
from pgt.kernels.heat import HeatKernel
from pgt.physics.about import About
from pgt.physics.coefficients import Coefficient, Diffusivity, Ratio, as_coefficient, current
from pgt.physics.names import as_fields, by_own_names
from pgt.physics.pde import AbstractPDE, Derivatives
from pgt.physics.values import Source, Value, as_source, source_at

FIELDS = ("u", "v", "p")


@register("navier_stokes")
class NavierStokes2D(AbstractPDE):
    r"""Incompressible flow in the plane: velocity (u, v) and pressure p over density.

    $$ u_t + \lambda (u\, u_x + v\, u_y) = -p_x + \nu \nabla^2 u + f_x $$
    $$ v_t + \lambda (u\, v_x + v\, v_y) = -p_y + \nu \nabla^2 v + f_y $$
    $$ u_x + v_y = 0 $$

    Good starting values: ν = 0.01 for the wake of a cylinder of unit diameter in unit flow (Re =
    100). `convection` is λ₁ and `viscosity` λ₂ of Raissi, Perdikaris and Karniadakis (2019),
    doi:10.1016/j.jcp.2018.10.045. `source` is a pair of body forces (f_x, f_y), each written like
    any source.

    >>> NavierStokes2D(viscosity=0.01).fields
    ('u', 'v', 'p')
    """

    about: ClassVar[About] = About(
        "u_t + convection*(u*u_x + v*u_y) = -p_x + viscosity*lap(u) + source; v alike; u_x + v_y = 0",
        {"viscosity": 0.01, "source": ("0.1*sin(y)", 0)},
        box={"x": (1, 8), "y": (-2, 2), "t": (0, 20)},
        measured=("u", "v"),
        conditions=(
            {"kind": "dirichlet", "axis": "y", "u": 1, "v": 0},
            {"kind": "gauge", "field": "p"},
        ),
        units={"u": Powers(1, -1), "v": Powers(1, -1), "p": Powers(2, -2)},  # p is over density
        fields=FIELDS,
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    viscosity: Coefficient
    convection: Coefficient
    source: tuple[Value | None, Value | None]

    def __init__(
        self,
        viscosity: Diffusivity,
        convection: Ratio = 1.0,
        source: tuple[Source | None, Source | None] | None = None,
        fields: Sequence[str] = FIELDS,
    ):
        force_x, force_y = _pair(source)
        self.coords = ("x", "y", "t")
        self.fields = as_fields("NavierStokes2D", fields, FIELDS)
        self.viscosity = as_coefficient("NavierStokes2D(viscosity)", viscosity, positive=True)
        self.convection = as_coefficient("NavierStokes2D(convection)", convection)
        self.source = (
            as_source("NavierStokes2D(source[0])", force_x, self.coords),
            as_source("NavierStokes2D(source[1])", force_y, self.coords),
        )

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, FIELDS, self.fields)
        u, v = d("u"), d("v")
        convection_x = self.convection * (u * d("u_x") + v * d("u_y"))
        convection_y = self.convection * (u * d("v_x") + v * d("v_y"))
        viscous_x = self.viscosity * d.laplacian("u")
        viscous_y = self.viscosity * d.laplacian("v")
        f_x, f_y = (source_at(f, d, self.coords) for f in self.source)
        return {
            "momentum_x": d("u_t") + convection_x + d("p_x") - viscous_x - f_x,
            "momentum_y": d("v_t") + convection_y + d("p_y") - viscous_y - f_y,
            "continuity": d("u_x") + d("v_y"),
        }

    def kernel(self) -> HeatKernel:
        return HeatKernel(current(self.viscosity))


def _pair(source):
    if source is None:
        return None, None
    if not isinstance(source, tuple) or len(source) != 2:
        raise InputError(
            "NavierStokes2D(source) must be a pair of body forces (f_x, f_y); write None for one "
            'that is absent, e.g. source=("0.1*sin(y)", None).'
        )
    return source
