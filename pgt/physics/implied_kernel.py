r"""The kernel that the form of an equation implies.

An equation from text is split into terms that are linear with constant coefficients, and a remainder. The
terms with the highest derivatives determine how influence spreads:

$$ u_t = D \nabla^2 u, \qquad u_t + v \cdot \nabla u = D \nabla^2 u, \qquad u_{tt} = c^2 \nabla^2 u,
   \qquad \nabla^2 u + k\, u = 0 $$

Sources, reactions and products such as $u\, u_x$ change it little and are ignored, as in the library's
classes of equations.
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

RADIUS = 1.0  # The radius of a Poisson kernel, as in the class `Poisson`.
FORMS = (
    "heat-like (u_t and a Laplacian), transport (the same with a constant velocity), wave-like (u_tt and "
    "a Laplacian) or elliptic (a Laplacian without time)"
)


class Implied(NamedTuple):
    """The implied kernel, and the reason if there is none."""

    kernel: AbstractKernel
    why: str = ""


class Terms:
    """The coefficients of the linear terms by derivative, and the derivatives in other terms."""

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
        """Whether no spatial derivative occurs, so that influence does not spread."""
        return all(set(letters) <= {"t"} for _, letters in {*self.linear, *self.others})

    def of(self, field: str, letters: str) -> float:
        """The coefficient of a derivative."""
        return self.linear.get((field, letters), 0.0)

    def fields(self, *orders: str) -> list[str]:
        """The fields with derivatives of these orders among the linear terms."""
        return sorted({field for field, letters in self.linear if letters in orders})

    def laplacian(self, field: str) -> float:
        """The coefficient of the Laplacian of a field; 0 if there is none."""
        factors = [self.of(field, 2 * axis) for axis in self.space]
        is_isotropic = bool(factors) and all(math.isclose(factors[0], f) for f in factors)
        return factors[0] if is_isotropic else 0.0

    def laplacians(self) -> list[str]:
        """The fields with second derivatives in space."""
        return self.fields(*(2 * axis for axis in self.space))

    def strange(self) -> list[str]:
        """The derivatives that no kernel here covers: mixed ones, those of high order, and those of
        second
        order or in time without a constant coefficient."""
        known = {"", "t", "tt", *self.space, *(2 * axis for axis in self.space)}
        variable = [d for d in sorted(self.others) if len(d[1]) > 1 or "t" in d[1]]
        unknown = [d for d in sorted(self.linear) if d[1] not in known]
        return ["_".join(derivative) for derivative in variable + unknown]


def implied_kernel(forms: Iterable[Affine], coords: tuple[str, ...]) -> Implied:
    """The kernel that the forms of a system's equations imply.

    If some of them have time derivatives, those decide, because the others hold at each instant.
    """
    terms = [Terms(form, coords) for form in forms]
    spreading = [each for each in terms if not each.is_local]
    evolving = [_evolution_kernel(each) for each in spreading if each.moves]
    results = evolving or [
        _elliptic_kernel(each) for each in spreading if each.laplacians() or each.strange()
    ]
    reasons = [reason for reason in results if isinstance(reason, str)]
    kernels = [kernel for kernel in results if isinstance(kernel, AbstractKernel)]
    if not results:
        reasons = ["there is no Laplacian"]
    elif not reasons and not all(_is_equal(kernels[0], other) for other in kernels):
        reasons = [f"its equations spread it differently, {' and '.join(map(repr, kernels))}"]
    if reasons:
        return Implied(NoKernel(), f"the equation's form is not one of {FORMS}: {reasons[0]}")
    return Implied(kernels[0])


def _evolution_kernel(terms: Terms) -> AbstractKernel | str:
    """The kernel of an equation with time derivatives, or the reason why there is none."""
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


def _elliptic_kernel(terms: Terms) -> AbstractKernel | str:
    """The kernel of an equation without time derivatives, or the reason why there is none."""
    fields = terms.laplacians()
    if problem := _problem(terms, fields):
        return problem
    (field,) = fields
    if any(terms.of(field, axis) for axis in terms.space):
        return f"{field} is carried along, but does not move in time"
    wavenumber_squared = terms.of(field, "") / terms.laplacian(field)
    if not wavenumber_squared:
        return PoissonKernel(RADIUS, has_time=terms.has_time)
    wavenumber = math.sqrt(abs(wavenumber_squared))
    if wavenumber_squared < 0:
        return ScreenedPoissonKernel(1 / wavenumber, has_time=terms.has_time)
    return HelmholtzKernel(wavenumber, has_time=terms.has_time)


def _problem(terms: Terms, fields: list[str]) -> str | None:
    """The reason why no kernel fits these terms; None if one may fit."""
    if strange := terms.strange():
        return f"{strange[0]} is mixed, of high order or has no constant coefficient"
    if len(fields) > 1:
        return f"{' and '.join(fields)} stand in one equation"
    if not fields or not terms.laplacian(fields[0]):
        return "there is no Laplacian"
    if terms.laplacians() != fields:
        return "it has Laplacians of several fields"
    return None


def _is_equal(one: AbstractKernel, other: AbstractKernel) -> bool:
    values, others = jax.tree.leaves(one), jax.tree.leaves(other)
    same = jax.tree.structure(one) == jax.tree.structure(other)
    return same and all(map(math.isclose, values, others))
