"""The Helmholtz equation."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Limits, Powers
from pgt.core.registry import register
from pgt.kernels.elliptic import HelmholtzKernel
from pgt.physics.coefficient_tree import (
    Coefficient,
    Dimension,
    Given,
    as_coefficient,
    current,
    spatial,
)
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.pde import About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names

Wavenumber = Annotated[Given, Limits(above=0), Powers(length=-1)]

FIELDS = ("u",)


@register("helmholtz")
class Helmholtz(AbstractPDE):
    r"""A wave of one frequency, in 1, 2 or 3 dimensions.

    $$ \nabla^2 u + k^2 u = f(x) $$

    u is the amplitude, or its real or imaginary part. `wavenumber` is k = 2π over the wavelength. Good
    starting values: k = 6.28 on the unit square, one wave across it.

    >>> Helmholtz(wavenumber=6.28).coords
    ('x', 'y')
    """

    about: ClassVar[About] = About(
        "lap(u) + wavenumber^2*u = source",
        {"wavenumber": 6.28},
        box={"x": (0, 1), "y": (0, 1)},
        conditions=({"kind": "dirichlet", "u": "sin(6.28*x)"},),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    wavenumber: Coefficient
    source: Value | None

    def __init__(
        self,
        wavenumber: Wavenumber,
        dimension: Dimension = 2,
        source: Source | None = None,
        fields: str | Sequence[str] = FIELDS,
    ):
        self.coords = spatial("Helmholtz", dimension)
        self.fields = as_fields("Helmholtz", fields, FIELDS)
        self.wavenumber = as_coefficient("Helmholtz(wavenumber)", wavenumber, positive=True)
        self.source = as_source("Helmholtz(source)", source, self.coords)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, FIELDS)
        f = source_at(self.source, d, self.coords)
        return {"helmholtz": d.laplacian("u") + self.wavenumber**2 * d("u") - f}

    def kernel(self) -> HelmholtzKernel:
        return HelmholtzKernel(current(self.wavenumber))
