"""Poisson's and Laplace's equations."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Positive
from pgt.core.registry import register
from pgt.kernels.elliptic import PoissonKernel
from pgt.physics.coefficient_tree import (
    Coefficient,
    Dimension,
    as_coefficient,
    current,
    spatial,
)
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.pde import About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names


@register("poisson")
class Poisson(AbstractPDE):
    r"""A steady field with sources, in 1, 2 or 3 dimensions.

    $$ \nabla^2 u = f(x) $$

    Good starting values: f = "-2*pi^2*sin(pi*x)*sin(pi*y)" on the unit square with u = 0 on the
    boundary has the solution sin πx sin πy. `influence_radius` is the distance beyond which
    readings stop informing each other in the attention bias: a good choice is the domain's size.

    >>> Poisson(source="sin(pi*x)*sin(pi*y)").coords
    ('x', 'y')
    """

    about: ClassVar[About] = About(
        "lap(u) = source",
        {"source": "-2*pi^2*sin(pi*x)*sin(pi*y)"},
        box={"x": (0, 1), "y": (0, 1)},
        conditions=({"kind": "dirichlet", "u": 0},),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    source: Value | None
    influence_radius: Coefficient

    def __init__(
        self,
        source: Source | None,
        dimension: Dimension = 2,
        influence_radius: Positive = 1.0,
        fields: str | Sequence[str] = "u",
    ):
        self.coords = spatial("Poisson", dimension)
        self.fields = as_fields("Poisson", fields, ("u",))
        self.source = as_source("Poisson(source)", source, self.coords)
        self.influence_radius = as_coefficient(
            "Poisson(influence_radius)", influence_radius, positive=True
        )

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, ("u",))
        return {"poisson": d.laplacian("u") - source_at(self.source, d, self.coords)}

    def kernel(self) -> PoissonKernel:
        return PoissonKernel(current(self.influence_radius))


@register("laplace")
class Laplace(AbstractPDE):
    r"""A steady field without sources, in 1, 2 or 3 dimensions.

    $$ \nabla^2 u = 0 $$

    Good starting values: u = x² - y² on the boundary of a square is the solution everywhere inside.
    `influence_radius` as in `Poisson`.

    >>> Laplace(dimension=3).coords
    ('x', 'y', 'z')
    """

    about: ClassVar[About] = About(
        "lap(u) = 0",
        box={"x": (0, 1), "y": (0, 1)},
        conditions=({"kind": "dirichlet", "u": "x^2 - y^2"},),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    influence_radius: Coefficient

    def __init__(
        self,
        dimension: Dimension = 2,
        influence_radius: Positive = 1.0,
        fields: str | Sequence[str] = "u",
    ):
        self.coords = spatial("Laplace", dimension)
        self.fields = as_fields("Laplace", fields, ("u",))
        self.influence_radius = as_coefficient(
            "Laplace(influence_radius)", influence_radius, positive=True
        )

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, ("u",))
        return {"laplace": d.laplacian("u")}

    def kernel(self) -> PoissonKernel:
        return PoissonKernel(current(self.influence_radius))
