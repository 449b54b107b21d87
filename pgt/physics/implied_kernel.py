r"""The kernel that the form of an equation implies.

An equation as text is taken apart into terms that are linear with constant coefficients, and the rest.
The terms with the highest derivatives say how influence spreads:

$$ u_t = D \nabla^2 u, \qquad u_t + v \cdot \nabla u = D \nabla^2 u, \qquad u_{tt} = c^2 \nabla^2 u,
   \qquad \nabla^2 u + k\, u = 0 $$

Sources, reactions and products such as $u\, u_x$ change that little and are left aside, as the classes
of the library do.
"""

import math
from collections.abc import Iterable
from typing import NamedTuple

import jax

from pgt.kernels.advection_diffusion_kernel import AdvectionDiffusionKernel
from pgt.kernels.elliptic import HelmholtzKernel, PoissonKernel, ScreenedPoissonKernel
from pgt.kernels.heat_kernel import HeatKernel
from pgt.kernels.kernel import AbstractKernel, NoKernel
from pgt.kernels.wave_kernel import WaveKernel
from pgt.physics.calculus import Affine

RADIUS = 1.0  # of a Poisson kernel, as of the class `Poisson`
FORMS = (
    "heat-like (u_t and a Laplacian), transport (the same with a constant velocity), wave-like (u_tt and "
    "a Laplacian) or elliptic (a Laplacian without time)"
)


class Implied(NamedTuple):
    """The kernel, and where it is none the reason."""

    kernel: AbstractKernel
    why: str = ""


class Terms:
    """The linear terms of an equation with constant coefficients, by derivative, and the rest."""

    def __init__(self, form: Affine, coords: tuple[str, ...]):
        finite = {d: value for d, value in form.linear.items() if math.isfinite(value)}
        self.space = tuple(axis for axis in coords if axis != "t")
        self.has_time = "t" in coords
        self.linear = {d: value for d, value in finite.items() if value}
        self.others = form.others | (set(form.linear) - set(finite))

    @property
    def moves(self) -> bool:
        """Whether a time derivative occurs."""
        return any("t" in letters for _, letters in {*self.linear, *self.others})

    @property
    def is_local(self) -> bool:
        """Whether nothing spreads: no derivative in space occurs."""
        return all(set(letters) <= {"t"} for _, letters in {*self.linear, *self.others})

    def of(self, field: str, letters: str) -> float:
        """The coefficient of a derivative."""
        return self.linear.get((field, letters), 0.0)

    def fields(self, *orders: str) -> list[str]:
        """The fields of which such derivatives occur."""
        return sorted({field for field, letters in self.linear if letters in orders})

    def laplacian(self, field: str) -> float:
        """The coefficient of the Laplacian; 0 where there is none."""
        found = [self.of(field, 2 * axis) for axis in self.space]
        alike = bool(found) and all(math.isclose(found[0], other) for other in found)
        return found[0] if alike else 0.0

    def laplacians(self) -> list[str]:
        """The fields with second derivatives in space."""
        return self.fields(*(2 * axis for axis in self.space))

    def strange(self) -> list[str]:
        """Derivatives that no kernel here knows: mixed, or of a high order; and those of second order
        or in time that have no constant coefficient."""
        plain = {"", "t", "tt", *self.space, *(2 * axis for axis in self.space)}
        bent = [d for d in sorted(self.others) if len(d[1]) > 1 or "t" in d[1]]
        unknown = [d for d in sorted(self.linear) if d[1] not in plain]
        return ["_".join(derivative) for derivative in bent + unknown]


def implied_kernel(forms: Iterable[Affine], coords: tuple[str, ...]) -> Implied:
    """The kernel of a system of equations.

    Where some of them move in time, those decide: the others hold at every instant.
    """
    terms = [Terms(form, coords) for form in forms]
    spread = [each for each in terms if not each.is_local]
    moving = [_moving(each) for each in spread if each.moves]
    found = moving or [_resting(each) for each in spread if each.laplacians() or each.strange()]
    reasons = [reason for reason in found if isinstance(reason, str)]
    kernels = [kernel for kernel in found if isinstance(kernel, AbstractKernel)]
    if not found:
        reasons = ["there is no Laplacian"]
    elif not reasons and not all(_alike(kernels[0], other) for other in kernels):
        reasons = [f"its equations spread it differently, {' and '.join(map(repr, kernels))}"]
    if reasons:
        return Implied(NoKernel(), f"the equation's form is not one of {FORMS}: {reasons[0]}")
    return Implied(kernels[0])


def _moving(terms: Terms) -> AbstractKernel | str:
    """Of an equation with time derivatives."""
    fields = terms.fields("t", "tt")
    if problem := _problem(terms, fields):
        return problem
    (field,) = fields
    second, first = terms.of(field, "tt"), terms.of(field, "t")
    ratio = -terms.laplacian(field) / (second or first)
    if ratio <= 0:
        return f"the Laplacian of {field} has the wrong sign"
    if second:
        return WaveKernel(math.sqrt(ratio))
    velocity = tuple(terms.of(field, axis) / first for axis in terms.space)
    return AdvectionDiffusionKernel(velocity, ratio) if any(velocity) else HeatKernel(ratio)


def _resting(terms: Terms) -> AbstractKernel | str:
    """Of an equation without time derivatives, which holds at every instant."""
    fields = terms.laplacians()
    if problem := _problem(terms, fields):
        return problem
    (field,) = fields
    if any(terms.of(field, axis) for axis in terms.space):
        return f"{field} is carried along, but does not move in time"
    square = terms.of(field, "") / terms.laplacian(field)  # of a wavenumber
    if not square:
        return PoissonKernel(RADIUS, has_time=terms.has_time)
    size = math.sqrt(abs(square))
    if square < 0:
        return ScreenedPoissonKernel(1 / size, has_time=terms.has_time)
    return HelmholtzKernel(size, has_time=terms.has_time)


def _problem(terms: Terms, fields: list[str]) -> str | None:
    """Why the derivatives of one field do not say how influence spreads."""
    if strange := terms.strange():
        return f"{strange[0]} is mixed, of high order or has no constant coefficient"
    if len(fields) > 1:
        return f"{' and '.join(fields)} stand in one equation"
    if not fields or not terms.laplacian(fields[0]):
        return "there is no Laplacian"
    if terms.laplacians() != fields:
        return "it has Laplacians of several fields"
    return None


def _alike(one: AbstractKernel, other: AbstractKernel) -> bool:
    values, others = jax.tree.leaves(one), jax.tree.leaves(other)
    same = jax.tree.structure(one) == jax.tree.structure(other)
    return same and all(map(math.isclose, values, others))
