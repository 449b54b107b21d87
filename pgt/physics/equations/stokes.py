"""The Stokes equations: flow so slow that inertia does not matter."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Positive, Powers
from pgt.core.registry import register
from pgt.kernels.elliptic import PoissonKernel
from pgt.physics.coefficient_tree import (
    Coefficient,
    PlaneOrSpace,
    Viscosity,
    as_coefficient,
    current,
    spatial,
)
from pgt.physics.condition_values import Value
from pgt.physics.pde import About, AbstractPDE, Derivatives
from pgt.physics.vectors import (
    COMPONENTS,
    Forces,
    as_fields,
    as_forces,
    by_own_names,
    components,
    divergence,
    forces_at,
)


@register("stokes")
class Stokes(AbstractPDE):
    r"""Slow, steady flow in 2 or 3 dimensions: velocity (u, v, w) and pressure p.

    $$ \nabla p = \nu \nabla^2 \mathbf{u} + \mathbf{f}, \qquad \nabla \cdot \mathbf{u} = 0 $$

    Good starting values: ν = 1 on the unit square. p and `source`, the body forces (f_x, f_y, f_z),
    are over density where `viscosity` is the kinematic one; with the dynamic one p is the pressure
    itself. `influence_radius` as in `Poisson`.

    >>> Stokes(viscosity=1.0, dimension=3).fields
    ('u', 'v', 'w', 'p')
    """

    about: ClassVar[About] = About(
        "p_x = viscosity*lap(u) + source; p_y = viscosity*lap(v) + source; u_x + v_y = 0",
        {"viscosity": 1.0, "source": ("sin(pi*y)", 0)},
        box={"x": (0, 1), "y": (0, 1)},
        measured=("u", "v"),
        conditions=(
            {"kind": "dirichlet", "axis": "y", "u": 0, "v": 0},
            {"kind": "gauge", "field": "p"},
        ),
        units={"u": Powers(1, -1), "v": Powers(1, -1)},
        fields=(*COMPONENTS, "p"),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    viscosity: Coefficient
    source: tuple[Value | None, ...]
    influence_radius: Coefficient

    def __init__(
        self,
        viscosity: Viscosity,
        dimension: PlaneOrSpace = 2,
        source: Forces | None = None,
        influence_radius: Positive = 1.0,
        fields: str | Sequence[str] | None = None,
    ):
        self.coords = spatial("Stokes", dimension, least=2)
        names = (*components(self.coords), "p")
        self.fields = as_fields("Stokes", fields or names, names)
        self.viscosity = as_coefficient("Stokes(viscosity)", viscosity, positive=True)
        self.source = as_forces("Stokes(source)", source, self.coords)
        self.influence_radius = as_coefficient(
            "Stokes(influence_radius)", influence_radius, positive=True
        )

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        names = components(self.coords)
        d = by_own_names(d, self, (*names, "p"))
        forces, rows = forces_at(self.source, d, self.coords), {}
        for axis, name, force in zip(self.coords, names, forces, strict=True):
            rows[f"momentum_{axis}"] = d(f"p_{axis}") - self.viscosity * d.laplacian(name) - force
        return rows | {"continuity": divergence(d, self.coords)}

    def kernel(self) -> PoissonKernel:
        return PoissonKernel(current(self.influence_radius))
