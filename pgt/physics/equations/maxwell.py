"""Maxwell's equations in the plane."""

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Limits
from pgt.core.registry import register
from pgt.kernels.wave_kernel import WaveKernel
from pgt.physics.coefficient_tree import Coefficient, Given, as_coefficient, current
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.pde import About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names

PositiveConstant = Annotated[Given, Limits(above=0)]

FIELDS = ("Ez", "Hx", "Hy")


@register("maxwell")
class Maxwell(AbstractPDE):
    r"""Electromagnetic waves in the plane, transverse magnetic: Ez across it, Hx and Hy in it.

    $$ \mu\, H_{x,t} = -E_{z,y}, \qquad \mu\, H_{y,t} = E_{z,x}, \qquad H_{x,x} + H_{y,y} = 0 $$
    $$ \varepsilon\, E_{z,t} = H_{y,x} - H_{x,y} - \sigma E_z - J_z $$

    `permittivity` is ε, `permeability` μ, `conductivity` σ, and `source` the current density J_z.
    Good starting values: those left out, ε = μ = 1 and σ = 0, where waves travel at the speed 1 and E and
    H are alike in size. In SI units ε is 8.854e-12 and μ is 1.257e-6.

    >>> Maxwell().fields
    ('Ez', 'Hx', 'Hy')
    """

    about: ClassVar[About] = About(
        "permeability*Hx_t = -Ez_y; permeability*Hy_t = Ez_x; Hx_x + Hy_y = 0; "
        "permittivity*Ez_t = Hy_x - Hx_y - conductivity*Ez - source",
        {"permittivity": 1.0, "permeability": 1.0},
        box={"x": (0, 1), "y": (0, 1), "t": (0, 2)},
        measured=("Ez",),
        conditions=({"kind": "dirichlet", "Ez": 0}, {"kind": "initial", "Hx": 0, "Hy": 0}),
        fields=FIELDS,
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    permittivity: Coefficient
    permeability: Coefficient
    conductivity: Coefficient
    source: Value | None

    def __init__(
        self,
        permittivity: PositiveConstant = 1.0,
        permeability: PositiveConstant = 1.0,
        conductivity: Given = 0.0,
        source: Source | None = None,
        fields: str | Sequence[str] = FIELDS,
    ):
        self.coords = ("x", "y", "t")
        self.fields = as_fields("Maxwell", fields, FIELDS)
        self.permittivity = as_coefficient("Maxwell(permittivity)", permittivity, positive=True)
        self.permeability = as_coefficient("Maxwell(permeability)", permeability, positive=True)
        self.conductivity = as_coefficient("Maxwell(conductivity)", conductivity)
        self.source = as_source("Maxwell(source)", source, self.coords)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, FIELDS)
        current_density = self.conductivity * d("Ez") + source_at(self.source, d, self.coords)
        curl = d("Hy_x") - d("Hx_y")
        return {
            "faraday_x": self.permeability * d("Hx_t") + d("Ez_y"),
            "faraday_y": self.permeability * d("Hy_t") - d("Ez_x"),
            "ampere": self.permittivity * d("Ez_t") - curl + current_density,
            "gauss": d("Hx_x") + d("Hy_y"),
        }

    def kernel(self) -> WaveKernel:
        return WaveKernel(1 / math.sqrt(current(self.permittivity) * current(self.permeability)))
