"""Poisson's and Laplace's equations."""

import equinox as eqx
from jaxtyping import Array, Float

from pgt.ground.unknown import Unknown
from pgt.kernels.elliptic import PoissonKernel
from pgt.physics.coefficients import Coefficient, as_coefficient, current, spatial
from pgt.physics.pde import AbstractPDE, Derivatives
from pgt.physics.values import Value, Writable, as_source, source_at


class Poisson(AbstractPDE):
    r"""A steady field with sources, in 1, 2 or 3 dimensions.

    $$ \nabla^2 u = f(x) $$

    Good starting values: f = "-2*pi^2*sin(pi*x)*sin(pi*y)" on the unit square with u = 0 on the
    boundary has the solution sin πx sin πy. `influence_radius` is the distance beyond which
    readings stop informing each other in the attention bias: a good choice is the domain's size.

    >>> Poisson(source="sin(pi*x)*sin(pi*y)").coords
    ('x', 'y')
    """

    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    source: Value | None
    influence_radius: Coefficient

    def __init__(
        self,
        source: Writable | Unknown | None,
        dimension: int = 2,
        influence_radius: float | int = 1.0,
    ):
        self.coords = spatial("Poisson", dimension)
        self.fields = ("u",)
        self.source = as_source("Poisson(source)", source, self.coords)
        self.influence_radius = as_coefficient(
            "Poisson(influence_radius)", influence_radius, positive=True
        )

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        return {"poisson": d.laplacian("u") - source_at(self.source, d, self.coords)}

    def kernel(self) -> PoissonKernel:
        return PoissonKernel(current(self.influence_radius))


class Laplace(AbstractPDE):
    r"""A steady field without sources, in 1, 2 or 3 dimensions.

    $$ \nabla^2 u = 0 $$

    Good starting values: u = x² - y² on the boundary of a square is the solution everywhere inside.
    `influence_radius` as in `Poisson`.

    >>> Laplace(dimension=3).coords
    ('x', 'y', 'z')
    """

    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    influence_radius: Coefficient

    def __init__(self, dimension: int = 2, influence_radius: float | int = 1.0):
        self.coords = spatial("Laplace", dimension)
        self.fields = ("u",)
        self.influence_radius = as_coefficient(
            "Laplace(influence_radius)", influence_radius, positive=True
        )

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        return {"laplace": d.laplacian("u")}

    def kernel(self) -> PoissonKernel:
        return PoissonKernel(current(self.influence_radius))
