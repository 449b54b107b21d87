"""Linear acoustics: sound as pressure and velocity."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Limits, Powers
from pgt.core.registry import register
from pgt.kernels.wave_kernel import WaveKernel
from pgt.physics.coefficient_tree import (
    Coefficient,
    Dimension,
    Given,
    Speed,
    as_coefficient,
    current,
    spatial,
)
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.pde import About, AbstractPDE, Derivatives
from pgt.physics.vectors import COMPONENTS, as_fields, by_own_names, components, divergence

# The density is dimensionless if p is divided by it; otherwise p may have any unit.
Density = Annotated[Given, Limits(above=0), Powers()]


@register("acoustics")
class Acoustics(AbstractPDE):
    r"""Sound in 1, 2 or 3 dimensions: the velocity (u, v, w) of the medium and its pressure p.

    $$ \rho\, \mathbf{u}_t = -\nabla p, \qquad p_t = -\rho c^2 \nabla \cdot \mathbf{u} + q $$

    `speed` is c, `density` ρ, and `source` q, a pressure per time. With ρ = 1 as left out, p is over
    density. Good starting values: c = 1 on the unit interval; in air 343 m/s and 1.2 kg/m³. A velocity
    that nobody measured stays open by a steady flow without divergence: say what it is at the start,
    `Initial(u=0.0)`. `Wave` is the equation of p alone, where the velocity does not matter.

    >>> Acoustics(speed=343.0, density=1.2, dimension=2).fields
    ('u', 'v', 'p')
    """

    about: ClassVar[About] = About(
        "density*u_t = -p_x, and so along each axis; p_t = -density*speed^2*(u_x + v_y + w_z) + source",
        {"speed": 1.0},
        box={"x": (0, 1), "t": (0, 1)},
        measured=("p",),
        conditions=(
            {"kind": "initial", "p": "sin(pi*x)", "u": 0},
            {"kind": "dirichlet", "axis": "x", "p": 0},
        ),
        units={"u": Powers(1, -1), "p": Powers(2, -2)},
        fields=(*COMPONENTS, "p"),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    speed: Coefficient
    density: Coefficient
    source: Value | None

    def __init__(
        self,
        speed: Speed,
        density: Density = 1.0,
        dimension: Dimension = 1,
        source: Source | None = None,
        fields: str | Sequence[str] | None = None,
    ):
        self.coords = (*spatial("Acoustics", dimension), "t")
        names = (*components(self.coords), "p")
        self.fields = as_fields("Acoustics", fields or names, names)
        self.speed = as_coefficient("Acoustics(speed)", speed, positive=True)
        self.density = as_coefficient("Acoustics(density)", density, positive=True)
        self.source = as_source("Acoustics(source)", source, self.coords)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        names = components(self.coords)
        d = by_own_names(d, self, (*names, "p"))
        rows = {
            f"momentum_{axis}": self.density * d(f"{name}_t") + d(f"p_{axis}")
            for name, axis in zip(names, self.coords[:-1], strict=True)
        }
        swelling = self.density * self.speed**2 * divergence(d, self.coords)
        return rows | {"mass": d("p_t") + swelling - source_at(self.source, d, self.coords)}

    def kernel(self) -> WaveKernel:
        return WaveKernel(current(self.speed))
