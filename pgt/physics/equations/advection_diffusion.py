"""The advection–diffusion equation."""

from collections.abc import Sequence
from typing import ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.kernels.advection_diffusion_kernel import AdvectionDiffusionKernel
from pgt.physics.coefficient_tree import (
    Coefficient,
    Diffusivity,
    Dimension,
    Velocity,
    as_coefficient,
    current,
    spatial,
)
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.pde import FLAT_ENDS, About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names


@register("advection_diffusion")
class AdvectionDiffusion(AbstractPDE):
    r"""A quantity carried along by a constant flow while it spreads.

    $$ \partial_t u + \mathbf{v} \cdot \nabla u = D \nabla^2 u + f(x, t) $$

    Good starting values: v = 1, D = 0.01 on the unit interval. In 2 or 3 dimensions `velocity` is a
    tuple with one entry per axis; each entry may be an `Unknown`.

    >>> AdvectionDiffusion(velocity=(1.0, 0.5), diffusivity=0.01, dimension=2).coords
    ('x', 'y', 't')
    """

    about: ClassVar[About] = About(
        "u_t + velocity*u_x = diffusivity*lap(u) + source",
        {"velocity": 1.0, "diffusivity": 0.01},
        box={"x": (0, 1), "t": (0, 1)},
        conditions=({"kind": "initial", "u": "exp(-100*(x - 0.2)^2)"}, FLAT_ENDS),
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    velocity: tuple[Coefficient, ...]
    diffusivity: Coefficient
    source: Value | None

    def __init__(
        self,
        velocity: Velocity | Sequence[Velocity],
        diffusivity: Diffusivity,
        dimension: Dimension = 1,
        source: Source | None = None,
        fields: str | Sequence[str] = "u",
    ):
        axes = spatial("AdvectionDiffusion", dimension)
        entries = tuple(velocity) if isinstance(velocity, Sequence) else (velocity,)
        if len(entries) != dimension:
            raise InputError(
                f"AdvectionDiffusion(velocity) has {len(entries)} entries but dimension is "
                f"{dimension}; write one velocity per axis, in the order {', '.join(axes)}."
            )
        self.coords = (*axes, "t")
        self.fields = as_fields("AdvectionDiffusion", fields, ("u",))
        self.velocity = tuple(as_coefficient("AdvectionDiffusion(velocity)", v) for v in entries)
        self.diffusivity = as_coefficient(
            "AdvectionDiffusion(diffusivity)", diffusivity, positive=True
        )
        self.source = as_source("AdvectionDiffusion(source)", source, self.coords)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, ("u",))
        advection = sum(
            v * d(f"u_{axis}") for v, axis in zip(self.velocity, self.coords[:-1], strict=True)
        )
        f = source_at(self.source, d, self.coords)
        residual = d("u_t") + advection - self.diffusivity * d.laplacian("u") - f
        return {"advection_diffusion": residual}

    def kernel(self) -> AdvectionDiffusionKernel:
        velocity = tuple(current(v) for v in self.velocity)
        return AdvectionDiffusionKernel(velocity, current(self.diffusivity))
