"""Laws of steady fields on the unit square: random fields as cosine series, solutions as sine series."""

from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jax.scipy.sparse.linalg import cg
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.data.domain import Domain
from pgt.families.family import Coefficients, Nodes, Range, centered, extents, nodes_of
from pgt.families.laws.solved import AbstractSolved, Noise, TracedCoefficients
from pgt.nn.scaling import Scaling
from pgt.physics.equation import Equation


class AbstractSquare(AbstractSolved):
    """A family of fields of x and y, both from 0 to 1, with `nodes` nodes along each axis.

    >>> import pgt
    >>> isinstance(pgt.families.get("poisson"), AbstractSquare)
    True
    """

    nodes: eqx.AbstractVar[Nodes]

    @property
    def domain(self) -> Domain:
        return Domain(x=(0, 1), y=(0, 1))

    @property
    def axes(self) -> dict[str, np.ndarray]:
        return nodes_of(self.domain, x=self.nodes, y=self.nodes)


def cosine_modes(noise: Float[Array, "k k"]) -> Float[Array, "k k"]:
    r"""The coefficients of cos(jπx) cos(kπy) of a Gaussian random field with mean zero,

    $$ N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    where the Laplacian has zero normal derivatives at the edge.
    """
    k = np.arange(len(noise))
    amplitude = 3 / (np.pi**2 * (k[:, None] ** 2 + k**2) + 9)
    norm = np.where(k > 0, 2**0.5, 1.0)  # makes the norm of a cosine 1
    amplitude = amplitude * np.outer(norm, norm)
    amplitude[0, 0] = 0.0
    return noise * jnp.asarray(amplitude)


def cosines(places: np.ndarray, waves: int) -> Float[Array, "n {waves}"]:
    """The values of cos(kπx) at places x for k = 0, 1, ..."""
    return jnp.asarray(np.cos(np.pi * np.outer(places, np.arange(waves))))


def sines(places: np.ndarray, waves: int) -> Float[Array, "n {waves}"]:
    """The values of sin(kπx) at places x for k = 1, 2, ..."""
    return jnp.asarray(np.sin(np.pi * np.outer(places, np.arange(1, waves + 1))))


def squares(waves: int) -> np.ndarray:
    """The eigenvalues π² (j² + k²) of -∇² for sin(jπx) sin(kπy)."""
    k = np.arange(1, waves + 1)
    return np.pi**2 * (k[:, None] ** 2 + k**2)


def sines_of_cosines(waves: int, sine_waves: int) -> Float[Array, "{sine_waves} {waves}"]:
    """The sine coefficients of cos(mπx), m = 0, 1, ..., in closed form.

    2 ∫ cos(mπx) sin(kπx) dx = 4k / π(k² - m²) where k + m is odd, and else 0.
    """
    k, m = np.arange(1, sine_waves + 1)[:, None], np.arange(waves)
    odd = (k + m) % 2 == 1
    return jnp.asarray(np.where(odd, 4 * k / (np.pi * np.where(odd, k**2 - m**2, 1)), 0.0))


def transform(modes: Float[Array, "j k"], along: Float[Array, "n j"]) -> Float[Array, "n n2"]:
    """Coefficients transformed with the matrix `along` in both axes, to places or to other modes."""
    return along @ modes @ along.T


WAVES, SINES = 128, 256
TYPICAL_RATIO = 70.0  # The spread of f divided by that of u in usual draws.


@register("poisson")
class PoissonFamily(AbstractSquare):
    r"""A source f and its field u on a square with u = 0 at the edge, by Poisson's equation.

    $$ \nabla^2 u = f, \qquad f \sim N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    with mean zero and 128 cosines along each axis: the law of the data of DiffusionPDE (Huang et al.
    2024, arXiv:2406.17763); the draws are our own. Every cosine is a series of sines in closed form; u
    has 256 of them along each axis.

    >>> PoissonFamily().pde({}).texts
    ('lap(u) = f',)
    """

    name: ClassVar[str] = "poisson"
    fields: ClassVar[tuple[str, ...]] = ("f", "u")
    noise_shape: ClassVar[tuple[int, ...]] = (WAVES, WAVES)
    nodes: Nodes = eqx.field(static=True, default=128)

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x y 2"]:
        return source_and_field(cosine_modes(noise), self.axes["x"])

    def equation(self, **coefficients: Any) -> Equation:
        return Equation("lap(u) = f", fields=self.fields, coords=("x", "y"), **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 4"]:
        return source_numbers(scaling, TYPICAL_RATIO)


def source_and_field(modes: Float[Array, "k k"], places: np.ndarray, square: float | Array = 0.0):
    """The fields f and u of ∇²u + square u = f at all pairs of places, from f's cosine coefficients."""
    f = transform(modes, cosines(places, len(modes)))
    sources = transform(modes, sines_of_cosines(len(modes), SINES))
    u = transform(sources / (square - jnp.asarray(squares(SINES))), sines(places, SINES))
    return jnp.stack([f, u], axis=-1)


def source_numbers(scaling: Scaling, typical: float) -> Float[Array, " 4"]:
    """The dimensionless scales of a source and its field, and the logarithm of the aspect ratio."""
    length, across = extents(scaling)
    (size_f, size_u), (mean_f, mean_u) = jnp.asarray(scaling.spread), jnp.asarray(scaling.mean)
    unit = typical * size_u / length**2
    return jnp.stack(
        [jnp.log(size_f / unit), mean_f / unit, mean_u / size_u, jnp.log(across / length)]
    )


RESONANCE = 2**0.5 * np.pi  # The lowest resonant wavenumber of the square.


@register("helmholtz")
class HelmholtzFamily(AbstractSquare):
    r"""A source f and its wave u with u = 0 at the edge of a square, by the Helmholtz equation.

    $$ \nabla^2 u + k^2 u = f, \qquad f \sim N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    with f and its solution as in the family "poisson", and k = 1 unless a range below the first
    resonance, √2 π, is given. The law is that of the data of DiffusionPDE (Huang et al. 2024,
    arXiv:2406.17763), which set f to zero at the nodes on the edge; the draws are our own.

    >>> HelmholtzFamily().ranges
    {'wavenumber': (1.0, 1.0)}
    """

    name: ClassVar[str] = "helmholtz"
    fields: ClassVar[tuple[str, ...]] = ("f", "u")
    noise_shape: ClassVar[tuple[int, ...]] = (WAVES, WAVES)
    wavenumber: Range = eqx.field(static=True, default=(1.0, 1.0))
    nodes: Nodes = eqx.field(static=True, default=128)

    def __check_init__(self):
        if self.wavenumber[1] > 0.95 * RESONANCE:
            raise InputError(
                f"HelmholtzFamily(wavenumber={self.wavenumber}): the square resonates at "
                f"{RESONANCE:.3f}; stay 5 % below it."
            )

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x y 2"]:
        return source_and_field(
            cosine_modes(noise), self.axes["x"], coefficients["wavenumber"] ** 2
        )

    def equation(self, **coefficients: Any) -> Equation:
        text = "lap(u) + wavenumber^2*u = f"
        return Equation(text, fields=self.fields, coords=("x", "y"), **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 5"]:
        number = centered(coefficients["wavenumber"] * extents(scaling)[0], *self.wavenumber)
        return jnp.concatenate([number[None], source_numbers(scaling, TYPICAL_RATIO)])


DARCY_WAVES, DARCY_SINES, DARCY_NODES = 24, 96, 160
# After this many iterations of conjugate gradients the residual is below rounding in single precision.
MAX_ITERATIONS = 25
TYPICAL_SPREAD = 0.03  # The spread of h in usual draws.


@register("darcy")
class DarcyFamily(AbstractSquare):
    r"""The logarithm k of a conductivity, and the head h under uniform recharge with h = 0 at the edge.

    $$ \nabla \cdot (e^k \nabla h) + q = 0, \qquad k \sim N\!\left(0,\; 9\, (-\Delta + 9)^{-2}\right) $$

    with mean zero and 24 cosines along each axis, so that k is smooth; otherwise the log-normal law of
    the data of DiffusionPDE (Huang et al. 2024, arXiv:2406.17763), where q = 1; the draws are our own.
    Galerkin's method with 96 sines along each axis is solved by conjugate gradients.

    >>> DarcyFamily().fields
    ('k', 'h')
    """

    name: ClassVar[str] = "darcy"
    fields: ClassVar[tuple[str, ...]] = ("k", "h")
    noise_shape: ClassVar[tuple[int, ...]] = (DARCY_WAVES, DARCY_WAVES)
    recharge: Range = eqx.field(static=True, default=(0.5, 2.0))
    nodes: Nodes = eqx.field(static=True, default=64)

    def solve(self, noise: Noise, coefficients: TracedCoefficients) -> Float[Array, "x y 2"]:
        modes, places = cosine_modes(noise), self.axes["x"]
        k = transform(modes, cosines(places, DARCY_WAVES))
        h = coefficients["recharge"] * transform(head(modes), sines(places, DARCY_SINES))
        return jnp.stack([k, h], axis=-1)

    def equation(self, **coefficients: Any) -> Equation:
        text = "div(exp(k)*grad(h)) + recharge = 0"
        return Equation(text, fields=self.fields, coords=("x", "y"), **coefficients)

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " 5"]:
        length, across = extents(scaling)
        (size_k, size_h), (mean_k, mean_h) = jnp.asarray(scaling.spread), jnp.asarray(scaling.mean)
        source = coefficients["recharge"] * length**2 * TYPICAL_SPREAD / (size_h * jnp.exp(mean_k))
        aspect = jnp.log(across / length)
        return jnp.stack([jnp.log(source), jnp.log(size_k / 0.3), mean_k, mean_h / size_h, aspect])


def head(
    modes: Float[Array, "k k"], sine_waves: int = DARCY_SINES, count: int = DARCY_NODES
) -> Float[Array, "{sine_waves} {sine_waves}"]:
    """The sine coefficients of h for q = 1, from the cosine coefficients of k.

    They solve ∫ eᵏ ∇h·∇φ = ∫ φ for each sine φ. The integrals use the midpoint rule with `count` cells
    along each axis. The preconditioner is the solution for the constant conductivity 1, for which the
    sines decouple.
    """
    middles = (np.arange(count) + 0.5) / count
    conductivity = jnp.exp(transform(modes, cosines(middles, len(modes)))) / count**2
    sine = sines(middles, sine_waves)
    slope = cosines(middles, sine_waves + 1)[:, 1:] * (np.pi * jnp.arange(1, sine_waves + 1))

    def stiffness(h):
        along, across = conductivity * (slope @ h @ sine.T), conductivity * (sine @ h @ slope.T)
        return slope.T @ along @ sine + sine.T @ across @ slope

    k = np.arange(1, sine_waves + 1)
    sine_integral = np.where(k % 2 == 1, 2 / (np.pi * k), 0.0)
    inverse = jnp.asarray(4 / squares(sine_waves))
    load = jnp.asarray(np.outer(sine_integral, sine_integral))
    solution, _ = cg(
        stiffness, load, inverse * load, tol=1e-6, maxiter=MAX_ITERATIONS, M=lambda r: inverse * r
    )
    return solution
