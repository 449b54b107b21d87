"""Darcy's law: groundwater."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Limits, Positive, Powers
from pgt.core.registry import register
from pgt.kernels.elliptic import PoissonKernel
from pgt.kernels.heat_kernel import HeatKernel
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
from pgt.physics.vectors import (
    COMPONENTS,
    as_fields,
    by_own_names,
    components,
    divergence,
    space_of,
)

Storage = Annotated[Given, Limits(above=0), Powers(length=-1)]


@register("darcy")
class Darcy(AbstractPDE):
    r"""Groundwater in 1, 2 or 3 dimensions: the head h, steady or with storage.

    $$ 0 = K \nabla^2 h + q, \qquad S\, h_t = K \nabla^2 h + q \quad \text{with storage} $$

    `conductivity` is K, `source` the recharge q per volume (negative where water is pumped), and
    `storage` the specific storage S; None: steady. Over a map of an aquifer give its transmissivity,
    its storativity and the recharge per area instead. With `fluxes=True` the specific discharge
    (u, v, w) stands beside the head as additional fields, to be measured or held at a wall:

    $$ \mathbf{u} = -K \nabla h, \qquad S\, h_t + \nabla \cdot \mathbf{u} = q $$

    Good starting values: K = 10⁻⁴ m/s for sand, 10⁻⁶ for silt; S = 10⁻⁴ per metre. `influence_radius`
    is that of the steady equation, as in `Poisson`: a good choice is the domain's size.

    >>> Darcy(conductivity=1e-4).coords, Darcy(conductivity=1e-4, storage=1e-4).coords
    (('x', 'y'), ('x', 'y', 't'))
    >>> Darcy(conductivity=1e-4, fluxes=True).fields
    ('h', 'u', 'v')
    """

    about: ClassVar[About] = About(
        "storage*h_t = conductivity*lap(h) + source",
        {"conductivity": 1e-4, "source": 1e-9},
        box={"x": (0, 1000), "y": (0, 1000)},
        measured=("h",),
        conditions=(
            {"kind": "dirichlet", "axis": "x", "side": "lower", "h": 10},
            {"kind": "neumann", "axis": "y", "h": 0},
        ),
        units={"h": Powers(1)},
        fields=("h", *COMPONENTS),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    conductivity: Coefficient
    storage: Coefficient | None
    source: Value | None
    influence_radius: Coefficient

    def __init__(
        self,
        conductivity: Speed,
        dimension: Dimension = 2,
        storage: Storage | None = None,
        source: Source | None = None,
        fluxes: bool = False,
        influence_radius: Positive = 1.0,
        fields: str | Sequence[str] | None = None,
    ):
        axes = spatial("Darcy", dimension)
        self.coords = axes if storage is None else (*axes, "t")
        names = ("h", *components(axes)) if fluxes else ("h",)
        self.fields = as_fields("Darcy", fields or names, names)
        self.conductivity = as_coefficient("Darcy(conductivity)", conductivity, positive=True)
        self.storage = (
            None if storage is None else as_coefficient("Darcy(storage)", storage, positive=True)
        )
        self.source = as_source("Darcy(source)", source, self.coords)
        self.influence_radius = as_coefficient(
            "Darcy(influence_radius)", influence_radius, positive=True
        )

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        names = ("h", *components(self.coords))[: len(self.fields)]
        d = by_own_names(d, self, names)
        stored = 0.0 if self.storage is None else self.storage * d("h_t")
        gained = stored - source_at(self.source, d, self.coords)
        flows = zip(names[1:], space_of(self.coords), strict=False)
        laws = {f"darcy_{a}": d(name) + self.conductivity * d(f"h_{a}") for name, a in flows}
        if laws:
            return laws | {"continuity": gained + divergence(d, self.coords)}
        return {"darcy": gained - self.conductivity * d.laplacian("h")}

    def kernel(self) -> HeatKernel | PoissonKernel:
        if self.storage is None:
            return PoissonKernel(current(self.influence_radius))
        return HeatKernel(current(self.conductivity) / current(self.storage))
