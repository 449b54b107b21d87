"""Flow on a torus: two periodic axes of space, by Fourier modes of the vorticity (pseudo-spectral)."""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from pgt.families.etdrk4 import march

Modes = Complex[Array, "*t k l"]


class Torus(eqx.Module):
    """The unit square with both axes periodic, and the modes to which products do not alias back."""

    nodes: int = eqx.field(static=True)
    least: int = eqx.field(static=True, default=128)

    @property
    def fine(self) -> int:
        """How many nodes an axis has inside: a multiple of those outside."""
        return self.nodes * math.ceil(self.least / self.nodes)

    @property
    def numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """How many waves a mode has along x and y."""
        n = self.fine
        return np.fft.fftfreq(n, 1 / n)[:, None], np.arange(n // 2 + 1.0)[None]

    @property
    def wavenumbers(self) -> tuple[np.ndarray, np.ndarray]:
        return 2 * np.pi * self.numbers[0], 2 * np.pi * self.numbers[1]

    @property
    def square(self) -> np.ndarray:
        """Of the wavenumbers; of the mean, which no derivative sees, 1."""
        x, y = self.wavenumbers
        return np.where(x**2 + y**2 > 0, x**2 + y**2, 1.0)

    @property
    def kept(self) -> np.ndarray:
        """1 for the modes that are kept, 0 for the others and the mean."""
        x, y = self.numbers
        inside = (3 * np.abs(x) < self.fine) & (3 * y < self.fine) & (np.abs(x) + y > 0)
        return inside.astype(float)

    def spectrum(self, values: Float[Array, "*t x y"]) -> Modes:
        return jnp.fft.rfft2(values) * jnp.asarray(self.kept)

    def values(self, spectrum: Modes) -> Float[Array, "*t x y"]:
        return jnp.fft.irfft2(spectrum, (self.fine, self.fine))

    def velocity(self, vorticity: Modes) -> tuple[Float[Array, "*t x y"], Float[Array, "*t x y"]]:
        """u = ψ_y and v = -ψ_x, of the stream function with -∇²ψ = ω."""
        x, y = map(jnp.asarray, self.wavenumbers)
        stream = vorticity / jnp.asarray(self.square)
        return self.values(1j * y * stream), self.values(-1j * x * stream)

    def pressure(self, u: Float[Array, "*t x y"], v: Float[Array, "*t x y"]):
        """With mean zero: ∇²p = -∂ᵢ∂ⱼ uᵢuⱼ."""
        x, y = map(jnp.asarray, self.wavenumbers)
        pushed = (
            x**2 * self.spectrum(u**2)
            + 2 * x * y * self.spectrum(u * v)
            + y**2 * self.spectrum(v**2)
        )
        return self.values(-pushed / jnp.asarray(self.square))

    def evolve(
        self,
        vorticity: Float[Array, "n n"],
        viscosity: Float[Array | np.ndarray, ""] | float,
        torque: Float[Array | np.ndarray, "n n"],
        times: int,
        duration: float,
        steps: int,
    ) -> Complex[Array, "t k l"]:
        """The vorticity later, from that at the nodes inside, under a curl of forces that stays."""
        x, y = map(jnp.asarray, self.wavenumbers)
        driven = self.spectrum(jnp.asarray(torque))

        def carried(spectrum: Modes) -> Modes:
            u, v = self.velocity(spectrum)
            here = self.values(spectrum)
            return driven - 1j * (x * self.spectrum(u * here) + y * self.spectrum(v * here))

        intervals = max(times - 1, 1)
        rate = -jnp.asarray(viscosity) * jnp.asarray(self.square)
        return march(
            self.spectrum(vorticity),
            rate,
            carried,
            times,
            duration / intervals,
            math.ceil(steps / intervals),
        )

    def flow(self, spectra: Complex[Array, "t k l"]) -> Float[Array, "x y t 3"]:
        """u, v and p of a vorticity at some times, at the nodes outside."""
        u, v = self.velocity(spectra)
        fields = jnp.stack([self.outside(f) for f in (u, v, self.pressure(u, v))], axis=-1)
        return jnp.moveaxis(fields, 0, 2)

    def outside(self, values: Float[Array, "*t x y"]) -> Float[Array, "*t X Y"]:
        """Of values at the nodes inside, those at the nodes outside."""
        step = self.fine // self.nodes
        return values[..., ::step, ::step]


def torus_field(
    noise: Float[Array, "128 128"], torus: Torus, power: float, shift: float
) -> Float[Array, "n n"]:
    """A Gaussian random field with the covariance (-∇² + shift²)^(-power), without its mean.

    It has the modes that 128 nodes keep: more nodes show the same field.
    """
    law = Torus(128)
    x, y = law.wavenumbers
    colour = 128 * (x**2 + y**2 + shift**2) ** (-power / 2)
    spectrum = law.spectrum(noise) * jnp.asarray(colour)
    return torus.values(_embedded(spectrum, law, torus))


def _embedded(spectrum: Complex[Array, "k l"], law: Torus, torus: Torus) -> Complex[Array, "K L"]:
    """The spectrum of the same field on another number of nodes."""
    across, along = (np.unique(axis) for axis in np.nonzero(law.kept))
    waves = law.numbers[0][across, 0].astype(int)
    found = jnp.zeros(torus.square.shape, spectrum.dtype)
    part = spectrum[across[:, None], along]
    return found.at[waves[:, None], along].set(part) * (torus.fine / law.fine) ** 2
