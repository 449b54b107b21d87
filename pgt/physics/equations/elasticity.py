"""Linear elasticity: a solid at rest under load."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Limits, OneOf, Positive, Powers
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.kernels.elliptic import PoissonKernel
from pgt.physics.coefficient_tree import (
    Coefficient,
    Given,
    PlaneOrSpace,
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
    forces_at,
)

Modulus = Annotated[Given, Limits(above=0)]
PoissonRatio = Annotated[Given, Limits(above=-1, below=0.5)]
Plane = Annotated[str, OneOf("strain", "stress")]


@register("elasticity")
class Elasticity(AbstractPDE):
    r"""A linear elastic, isotropic solid in 2 or 3 dimensions: its displacement (u, v, w).

    $$ \mu \nabla^2 \mathbf{u} + (\lambda + \mu) \nabla (\nabla \cdot \mathbf{u}) + \mathbf{f} = 0 $$
    $$ \mu = \frac{E}{2 (1 + \nu)}, \qquad \lambda = \frac{E \nu}{(1 + \nu)(1 - 2\nu)}, \qquad
       \text{in plane stress} \quad \lambda = \frac{E \nu}{1 - \nu^2} $$

    `young` is E, `ratio` Poisson's ν, and `source` the body forces (f_x, f_y, f_z) per volume; of two
    Lamé parameters E = μ (3λ + 2μ) / (λ + μ) and ν = λ / 2(λ + μ). In two dimensions `plane` says
    whether the third holds no "strain" (a long dam) or no "stress" (a thin plate). Good starting
    values: E = 1, which without body forces drops out, and ν = 0.3 for steel. `influence_radius` as in
    `Poisson`.

    >>> Elasticity(young=210e9, ratio=0.3, plane="stress").fields
    ('u', 'v')
    >>> Elasticity(young=210e9, ratio=0.3, dimension=3).coords
    ('x', 'y', 'z')
    """

    about: ClassVar[About] = About(
        "m*lap(u) + (l + m)*(u_xx + v_xy) + source = 0; v alike; m = young/(2*(1 + ratio)), "
        "l = 2*m*ratio/(1 - 2*ratio), in plane stress 2*m*ratio/(1 - ratio)",
        {"young": 1.0, "ratio": 0.3, "source": (0, -0.1)},
        box={"x": (0, 1), "y": (0, 1)},
        measured=("u", "v"),
        conditions=({"kind": "dirichlet", "axis": "y", "side": "lower", "u": 0, "v": 0},),
        units={"u": Powers(1), "v": Powers(1)},
        fields=COMPONENTS,
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    plane: str = eqx.field(static=True)
    young: Coefficient
    ratio: Coefficient
    source: tuple[Value | None, ...]
    influence_radius: Coefficient

    def __init__(
        self,
        young: Modulus,
        ratio: PoissonRatio,
        dimension: PlaneOrSpace = 2,
        plane: Plane = "strain",
        source: Forces | None = None,
        influence_radius: Positive = 1.0,
        fields: str | Sequence[str] | None = None,
    ):
        self.coords = spatial("Elasticity", dimension, least=2)
        names = components(self.coords)
        self.fields = as_fields("Elasticity", fields or names, names)
        self.plane = _checked_plane(plane, dimension)
        self.young = as_coefficient("Elasticity(young)", young, positive=True)
        self.ratio = _checked_ratio(as_coefficient("Elasticity(ratio)", ratio))
        self.source = as_forces("Elasticity(source)", source, self.coords)
        self.influence_radius = as_coefficient(
            "Elasticity(influence_radius)", influence_radius, positive=True
        )

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        names = components(self.coords)
        d = by_own_names(d, self, names)
        shear, dilation = self.moduli()
        bulk = shear + dilation
        forces, rows = forces_at(self.source, d, self.coords), {}
        for axis, name, force in zip(self.coords, names, forces, strict=True):
            pairs = zip(names, self.coords, strict=True)
            dilatation_slope = sum(
                d(_second_derivative(other, along, axis)) for other, along in pairs
            )
            rows[f"balance_{axis}"] = shear * d.laplacian(name) + bulk * dilatation_slope + force
        return rows

    def moduli(self):
        """The Lamé parameters μ and λ, from coefficients that are numbers."""
        shear = self.young / (2 * (1 + self.ratio))
        free = 1 if self.plane == "stress" else 2
        return shear, 2 * shear * self.ratio / (1 - free * self.ratio)

    def kernel(self) -> PoissonKernel:
        """The Poisson kernel: a point force acts like a point source, as log r in 2D and 1/r in 3D."""
        return PoissonKernel(current(self.influence_radius))


def _second_derivative(field: str, *axes: str) -> str:
    """The name of a second derivative, with the axes in sorted order."""
    return f"{field}_{''.join(sorted(axes))}"


def _checked_plane(plane: str, dimension: int) -> str:
    if plane not in ("strain", "stress"):
        raise InputError(f"Elasticity(plane={plane!r}): write 'strain' or 'stress'.")
    if plane == "stress" and dimension == 3:
        raise InputError(
            "Elasticity(plane='stress') speaks of a plate in two dimensions; leave plane out in three."
        )
    return plane


def _checked_ratio(ratio: Coefficient) -> Coefficient:
    if not -1 < current(ratio) < 0.5:
        raise InputError(
            f"Elasticity(ratio) is {current(ratio)} but lies above -1 and below 0.5; write for example "
            "0.3, or pgt.Unknown(0.3, bounds=(0.0, 0.49)) to learn it."
        )
    return ratio
