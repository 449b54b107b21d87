r"""Pseudo-spectral solvers on periodic domains: Fourier modes in space, ETDRK4 in time.

The solvers integrate

$$ \hat u_t = \lambda \hat u + N(\hat u) $$

with a real rate λ for every mode. Exponential time differencing of fourth order (ETDRK4) integrates the
linear part exactly (Cox and Matthews 2002, doi:10.1006/jcph.2002.6995). Its weights are combinations of
the functions φ₁ to φ₃, in a form that is accurate in single precision.
"""

import math
from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

Spectrum = Complex[Array, "*modes"]
PlaneSpectrum = Complex[Array, "*t k l"]
NonlinearTerm = Callable[[Spectrum], Spectrum]
Rate = Callable[[np.ndarray], Float[Array | np.ndarray, " k"]]  # by wavenumber
SERIES_TERMS = 12  # The series has an error of 1e-9 up to |z| = 1.


# ------------------------------------------------------------------------------- time


class StepWeights(eqx.Module):
    """The ETDRK4 weights of a time step h.

    Growth factors are stored as e^(hλ) - 1: the rounding of a factor near 1 would add up over the steps.
    """

    whole: Float[Array, "*modes"]
    half: Float[Array, "*modes"]
    middle: Float[Array, "*modes"]
    start: Float[Array, "*modes"]
    between: Float[Array, "*modes"]
    end: Float[Array, "*modes"]

    def __init__(self, rate: Float[Array, "*modes"], step: float):
        first, second, third = phi(step * rate)
        self.whole, self.half = jnp.expm1(step * rate), jnp.expm1(step * rate / 2)
        self.middle = step / 2 * phi(step * rate / 2)[0]
        self.start = step * (first - 3 * second + 4 * third)
        self.between = step * (2 * second - 4 * third)
        self.end = step * (4 * third - second)


def phi(z: Float[Array, "*n"]) -> tuple[Float[Array, "*n"], ...]:
    """φ₁ = (eᶻ - 1)/z,  φ₂ = (φ₁ - 1)/z,  φ₃ = (φ₂ - ½)/z; a series near zero avoids cancellation."""
    near = jnp.abs(z) < 1
    small, large = jnp.where(near, z, 0.0), jnp.where(near, 1.0, z)
    first = jnp.expm1(large) / large
    second = (first - 1) / large
    third = (second - 0.5) / large
    series = [_series(small, order) for order in (1, 2, 3)]
    return tuple(jnp.where(near, s, f) for s, f in zip(series, (first, second, third), strict=True))


def _series(z: Float[Array, "*n"], order: int) -> Float[Array, "*n"]:
    """Σ zʲ / (j + order)!, by Horner's rule."""
    total = jnp.zeros_like(z)
    for j in reversed(range(SERIES_TERMS)):
        total = 1 + z / (j + order + 1) * total
    return total / math.factorial(order)


def march(
    spectrum: Spectrum,
    rate: Float[Array, "*modes"],
    nonlinear: NonlinearTerm,
    times: int,
    interval: float,
    steps: int,
) -> Complex[Array, "{times} *modes"]:
    """The spectra at `times` instants `interval` apart, with `steps` steps in between; the first is the
    initial one."""
    weights = StepWeights(rate, interval / steps)

    def advance(state, _):
        return advance_step(state, weights, nonlinear), None

    def advance_interval(state, _):
        state, _ = jax.lax.scan(advance, state, None, length=steps)
        return state, state

    later_spectra = jax.lax.scan(advance_interval, spectrum, None, length=times - 1)[1]
    return jnp.concatenate([spectrum[None], later_spectra])


def advance_step(u: Spectrum, weights: StepWeights, nonlinear: NonlinearTerm) -> Spectrum:
    """The spectrum one step later."""
    at_start = nonlinear(u)
    a = u + (weights.half * u + weights.middle * at_start)
    at_a = nonlinear(a)
    b = u + (weights.half * u + weights.middle * at_a)
    at_b = nonlinear(b)
    c = a + (weights.half * a + weights.middle * (2 * at_b - at_start))
    gained = weights.start * at_start + weights.between * (at_a + at_b) + weights.end * nonlinear(c)
    return u + (weights.whole * u + gained)


# ------------------------------------------------------------------------------- one axis


class Ring(eqx.Module):
    """A solver on one periodic axis of space.

    The solver works on `fine` nodes, a multiple of the family's `nodes` and at least `least`, and takes
    at least `steps` steps. It keeps the modes for which a polynomial of this `degree` has no aliasing.
    """

    nodes: int = eqx.field(static=True)
    times: int = eqx.field(static=True)
    degree: int = eqx.field(static=True, default=2)
    length: float = eqx.field(static=True, default=1.0)
    duration: float = eqx.field(static=True, default=1.0)
    least: int = eqx.field(static=True, default=256)
    steps: int = eqx.field(static=True, default=512)

    @property
    def fine(self) -> int:
        """The number of nodes of the solver."""
        return self.nodes * math.ceil(self.least / self.nodes)

    @property
    def wavenumbers(self) -> np.ndarray:
        return 2 * np.pi / self.length * np.arange(self.fine // 2 + 1)

    @property
    def kept(self) -> np.ndarray:
        """1 for the modes that are kept, 0 for the others."""
        return (np.arange(self.fine // 2 + 1) * (self.degree + 1) < self.fine).astype(float)

    def spectrum(self, values: Float[Array, " n"]) -> Complex[Array, " k"]:
        """The kept modes of values at the solver's nodes."""
        return jnp.fft.rfft(values) * jnp.asarray(self.kept)

    def values(self, spectrum: Complex[Array, "*t k"]) -> Float[Array, "*t n"]:
        """The values at the solver's nodes."""
        return jnp.fft.irfft(spectrum, self.fine)

    def evolve(
        self,
        start: Float[Array, " n"],
        rate: Rate,
        nonlinear: Callable[[Complex[Array, " k"]], Complex[Array, " k"]],
    ) -> Float[Array, "x t 1"]:
        """The field at the family's nodes and all times, evolved from a state at the solver's nodes."""
        intervals = max(self.times - 1, 1)
        spectra = march(
            self.spectrum(start),
            jnp.asarray(rate(self.wavenumbers)),
            nonlinear,
            self.times,
            self.duration / intervals,
            math.ceil(self.steps / intervals),
        )
        return self.values(spectra)[:, :: self.fine // self.nodes].T[..., None]

    def pointwise(self, reaction: Callable[[Float[Array, " n"]], Float[Array, " n"]]):
        """The nonlinear term for a polynomial `reaction` of the values."""
        return lambda spectrum: self.spectrum(reaction(self.values(spectrum)))

    def advection(self, spectrum: Complex[Array, " k"]) -> Complex[Array, " k"]:
        """The nonlinear term -u u_x, computed as -½ (u²)_x."""
        squared = self.spectrum(self.values(spectrum) ** 2)
        return -0.5j * jnp.asarray(self.wavenumbers) * squared


# ------------------------------------------------------------------------------- two axes


class Torus(eqx.Module):
    """A solver of incompressible flow on the unit square with two periodic axes.

    It keeps the modes for which products of two fields have no aliasing.
    """

    nodes: int = eqx.field(static=True)
    least: int = eqx.field(static=True, default=128)

    @property
    def fine(self) -> int:
        """The number of nodes of the solver along an axis, a multiple of the family's."""
        return self.nodes * math.ceil(self.least / self.nodes)

    @property
    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of waves of each mode along x and y."""
        n = self.fine
        return np.fft.fftfreq(n, 1 / n)[:, None], np.arange(n // 2 + 1.0)[None]

    @property
    def wavenumbers(self) -> tuple[np.ndarray, np.ndarray]:
        return 2 * np.pi * self.numbers[0], 2 * np.pi * self.numbers[1]

    @property
    def square(self) -> np.ndarray:
        """The squared wavenumber, and 1 for the mean, whose derivatives vanish."""
        x, y = self.wavenumbers
        return np.where(x**2 + y**2 > 0, x**2 + y**2, 1.0)

    @property
    def kept(self) -> np.ndarray:
        """1 for the modes that are kept, 0 for the others and the mean."""
        x, y = self.numbers
        inside = (3 * np.abs(x) < self.fine) & (3 * y < self.fine) & (np.abs(x) + y > 0)
        return inside.astype(float)

    def spectrum(self, values: Float[Array, "*t x y"]) -> PlaneSpectrum:
        return jnp.fft.rfft2(values) * jnp.asarray(self.kept)

    def values(self, spectrum: PlaneSpectrum) -> Float[Array, "*t x y"]:
        return jnp.fft.irfft2(spectrum, (self.fine, self.fine))

    def velocity(
        self, vorticity: PlaneSpectrum
    ) -> tuple[Float[Array, "*t x y"], Float[Array, "*t x y"]]:
        """The velocity u = ψ_y, v = -ψ_x, where the stream function solves -∇²ψ = ω."""
        x, y = map(jnp.asarray, self.wavenumbers)
        stream = vorticity / jnp.asarray(self.square)
        return self.values(1j * y * stream), self.values(-1j * x * stream)

    def pressure(self, u: Float[Array, "*t x y"], v: Float[Array, "*t x y"]):
        """The pressure with mean zero, which solves ∇²p = -∂ᵢ∂ⱼ uᵢuⱼ."""
        x, y = map(jnp.asarray, self.wavenumbers)
        source = (
            x**2 * self.spectrum(u**2)
            + 2 * x * y * self.spectrum(u * v)
            + y**2 * self.spectrum(v**2)
        )
        return self.values(-source / jnp.asarray(self.square))

    def evolve(
        self,
        vorticity: Float[Array, "n n"],
        viscosity: Float[Array | np.ndarray, ""] | float,
        torque: Float[Array | np.ndarray, "n n"],
        times: int,
        duration: float,
        steps: int,
    ) -> Complex[Array, "t k l"]:
        """The spectra of the vorticity under a steady `torque`, the curl of the forces."""
        x, y = map(jnp.asarray, self.wavenumbers)
        forcing = self.spectrum(jnp.asarray(torque))

        def nonlinear(spectrum: PlaneSpectrum) -> PlaneSpectrum:
            u, v = self.velocity(spectrum)
            vorticity_values = self.values(spectrum)
            return forcing - 1j * (
                x * self.spectrum(u * vorticity_values) + y * self.spectrum(v * vorticity_values)
            )

        intervals = max(times - 1, 1)
        rate = -jnp.asarray(viscosity) * jnp.asarray(self.square)
        return march(
            self.spectrum(vorticity),
            rate,
            nonlinear,
            times,
            duration / intervals,
            math.ceil(steps / intervals),
        )

    def flow(self, spectra: Complex[Array, "t k l"]) -> Float[Array, "x y t 3"]:
        """u, v and p at the family's nodes, from spectra of the vorticity."""
        u, v = self.velocity(spectra)
        step = self.fine // self.nodes
        fields = [field[..., ::step, ::step] for field in (u, v, self.pressure(u, v))]
        return jnp.moveaxis(jnp.stack(fields, axis=-1), 0, 2)


def torus_field(
    noise: Float[Array, "128 128"], torus: Torus, power: float, shift: float
) -> Float[Array, "n n"]:
    """A Gaussian random field with covariance (-∇² + shift²)^(-power) and mean zero.

    It has the modes of 128 nodes, whatever the resolution of the solver.
    """
    coarse = Torus(128)
    x, y = coarse.wavenumbers
    amplitude = 128 * (x**2 + y**2 + shift**2) ** (-power / 2)
    spectrum = coarse.spectrum(noise) * jnp.asarray(amplitude)
    return torus.values(_resampled(spectrum, coarse, torus))


def _resampled(
    spectrum: Complex[Array, "k l"], coarse: Torus, torus: Torus
) -> Complex[Array, "K L"]:
    """The spectrum of the same field for another number of nodes."""
    across, along = (np.unique(axis) for axis in np.nonzero(coarse.kept))
    waves = coarse.numbers[0][across, 0].astype(int)
    zeros = jnp.zeros(torus.square.shape, spectrum.dtype)
    part = spectrum[across[:, None], along]
    return zeros.at[waves[:, None], along].set(part) * (torus.fine / coarse.fine) ** 2
