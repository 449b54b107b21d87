"""The heat equation."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.registry import register
from pgt.kernels.heat_kernel import HeatKernel
from pgt.physics.coefficient_tree import (
    Coefficient,
    Diffusivity,
    Dimension,
    as_coefficient,
    current,
    spatial,
)
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.pde import FLAT_ENDS, About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names


@register("heat")
class Heat(AbstractPDE):
    r"""Heat conduction or diffusion in 1, 2 or 3 dimensions.

    $$ \partial_t u = \alpha \nabla^2 u + f(x, t) $$

    Good starting values: α = 0.01 on the unit interval with u(x, 0) = sin 4πx. `source` is f: a
    number, a formula such as "sin(pi*x)*exp(-t)", or a JAX function of the coordinates.

    >>> Heat(diffusivity=0.01).coords
    ('x', 't')
    """

    about: ClassVar[About] = About(
        "u_t = diffusivity*lap(u) + source",
        {"diffusivity": 0.01},
        box={"x": (0, 1), "t": (0, 1)},
        conditions=({"kind": "initial", "u": "sin(4*pi*x)"}, FLAT_ENDS),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    diffusivity: Coefficient
    source: Value | None

    def __init__(
        self,
        diffusivity: Diffusivity,
        dimension: Dimension = 1,
        source: Source | None = None,
        fields: str | Sequence[str] = "u",
    ):
        self.coords = (*spatial("Heat", dimension), "t")
        self.fields = as_fields("Heat", fields, ("u",))
        self.diffusivity = as_coefficient("Heat(diffusivity)", diffusivity, positive=True)
        self.source = as_source("Heat(source)", source, self.coords)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, ("u",))
        f = source_at(self.source, d, self.coords)
        return {"heat": d("u_t") - self.diffusivity * d.laplacian("u") - f}

    def kernel(self) -> HeatKernel:
        return HeatKernel(current(self.diffusivity))
