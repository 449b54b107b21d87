"""The incompressible Navier–Stokes equations in two and three dimensions."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Powers
from pgt.core.registry import register
from pgt.kernels.elliptic import PoissonKernel
from pgt.kernels.heat_kernel import HeatKernel
from pgt.physics.coefficient_tree import Coefficient, Diffusivity, Ratio, as_coefficient, current
from pgt.physics.condition_values import Source, Value
from pgt.physics.implied_kernel import RADIUS
from pgt.physics.pde import About, AbstractPDE, Derivatives
from pgt.physics.vectors import (
    as_fields,
    as_forces,
    by_own_names,
    carried,
    change,
    components,
    divergence,
    forces_at,
    space_of,
)

FIELDS = ("u", "v", "p")
IN_SPACE = ("u", "v", "w", "p")


@register("navier_stokes")
class NavierStokes2D(AbstractPDE):
    r"""Incompressible flow in the plane: velocity (u, v) and pressure p over density.

    $$ u_t + \lambda (u\, u_x + v\, u_y) = -p_x + \nu \nabla^2 u + f_x $$
    $$ v_t + \lambda (u\, v_x + v\, v_y) = -p_y + \nu \nabla^2 v + f_y $$
    $$ u_x + v_y = 0 $$

    Good starting values: ν = 0.01 for the wake of a cylinder of unit diameter in unit flow (Re =
    100). `convection` is λ₁ and `viscosity` λ₂ of Raissi, Perdikaris and Karniadakis (2019),
    doi:10.1016/j.jcp.2018.10.045. `source` is a pair of body forces (f_x, f_y), each written like
    any source. With `steady=True` there is no time, and u_t and v_t are left out.

    >>> NavierStokes2D(viscosity=0.01).fields
    ('u', 'v', 'p')
    >>> NavierStokes2D(viscosity=0.01, steady=True).coords
    ('x', 'y')
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
    source: tuple[Value | None, ...]

    def __init__(
        self,
        viscosity: Diffusivity,
        convection: Ratio = 1.0,
        source: tuple[Source | None, Source | None] | None = None,
        steady: bool = False,
        fields: Sequence[str] = FIELDS,
    ):
        self.coords = ("x", "y") if steady else ("x", "y", "t")
        self.fields = as_fields("NavierStokes2D", fields, FIELDS)
        self.viscosity = as_coefficient("NavierStokes2D(viscosity)", viscosity, positive=True)
        self.convection = as_coefficient("NavierStokes2D(convection)", convection)
        self.source = as_forces("NavierStokes2D(source)", source, self.coords)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        return _balances(self, by_own_names(d, self, FIELDS))

    def kernel(self) -> HeatKernel | PoissonKernel:
        return _kernel(self)


@register("navier_stokes_3d")
class NavierStokes3D(AbstractPDE):
    r"""Incompressible flow in space: velocity (u, v, w) and pressure p over density.

    $$ \mathbf{u}_t + \lambda (\mathbf{u} \cdot \nabla) \mathbf{u} = -\nabla p + \nu \nabla^2 \mathbf{u}
       + \mathbf{f}, \qquad u_x + v_y + w_z = 0 $$

    Good starting values: ν = 0.01 for vortices of unit size and speed. `convection` is λ, `source`
    are the body forces (f_x, f_y, f_z), and `steady=True` leaves the time out, as in
    `NavierStokes2D`.

    >>> NavierStokes3D(viscosity=0.01).fields
    ('u', 'v', 'w', 'p')
    """

    about: ClassVar[About] = About(
        "u_t + convection*(u*u_x + v*u_y + w*u_z) = -p_x + viscosity*lap(u) + source; v, w alike; "
        "u_x + v_y + w_z = 0",
        {"viscosity": 0.01, "source": ("0.1*sin(y)", 0, 0)},
        box={"x": (0, 6), "y": (0, 6), "z": (0, 6), "t": (0, 5)},
        measured=("u", "v", "w"),
        conditions=(
            {"kind": "dirichlet", "axis": "z", "u": 0, "v": 0, "w": 0},
            {"kind": "gauge", "field": "p"},
        ),
        units={
            **dict.fromkeys(("u", "v", "w"), Powers(1, -1)),
            "p": Powers(2, -2),  # it is over density
        },
        fields=IN_SPACE,
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    viscosity: Coefficient
    convection: Coefficient
    source: tuple[Value | None, ...]

    def __init__(
        self,
        viscosity: Diffusivity,
        convection: Ratio = 1.0,
        source: tuple[Source | None, Source | None, Source | None] | None = None,
        steady: bool = False,
        fields: Sequence[str] = IN_SPACE,
    ):
        self.coords = ("x", "y", "z") if steady else ("x", "y", "z", "t")
        self.fields = as_fields("NavierStokes3D", fields, IN_SPACE)
        self.viscosity = as_coefficient("NavierStokes3D(viscosity)", viscosity, positive=True)
        self.convection = as_coefficient("NavierStokes3D(convection)", convection)
        self.source = as_forces("NavierStokes3D(source)", source, self.coords)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        return _balances(self, by_own_names(d, self, IN_SPACE))

    def kernel(self) -> HeatKernel | PoissonKernel:
        return _kernel(self)


def _balances(flow, d: Derivatives) -> dict[str, Float[Array, ""]]:
    """The residuals of the momentum equation along each axis and of continuity."""
    coords, rows = flow.coords, {}
    names = components(coords)
    convection = [flow.convection * carried(d, name, coords) for name in names]
    viscous = [flow.viscosity * d.laplacian(name) for name in names]
    forces = forces_at(flow.source, d, coords)
    terms = zip(space_of(coords), names, convection, viscous, forces, strict=True)
    for axis, name, moved, slowed, force in terms:
        rows[f"momentum_{axis}"] = change(d, name, coords) + moved + d(f"p_{axis}") - slowed - force
    return rows | {"continuity": divergence(d, coords)}


def _kernel(flow) -> HeatKernel | PoissonKernel:
    """The heat kernel of the viscosity; for a steady flow, the Poisson kernel."""
    if "t" in flow.coords:
        return HeatKernel(current(flow.viscosity))
    return PoissonKernel(RADIUS)
