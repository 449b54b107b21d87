"""Evolution on a ring: one periodic axis of space, by Fourier modes (pseudo-spectral)."""

import math
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float

from pgt.families.etdrk4 import march

Rate = Callable[[np.ndarray], Float[Array | np.ndarray, " k"]]  # of a mode, by its wavenumber


class Ring(eqx.Module):
    """The nodes inside of a solver, and which modes are kept: those to which products do not alias back.

    `degree` is that of the polynomial, `least` how many nodes there are inside and `steps` how many steps
    are taken at the least.
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
        """How many nodes there are inside: a multiple of those outside."""
        return self.nodes * math.ceil(self.least / self.nodes)

    @property
    def wavenumbers(self) -> np.ndarray:
        return 2 * np.pi / self.length * np.arange(self.fine // 2 + 1)

    @property
    def kept(self) -> np.ndarray:
        """1 for the modes that are kept, 0 for the others."""
        return (np.arange(self.fine // 2 + 1) * (self.degree + 1) < self.fine).astype(float)

    def spectrum(self, values: Float[Array, " n"]) -> Complex[Array, " k"]:
        return jnp.fft.rfft(values) * jnp.asarray(self.kept)

    def values(self, spectrum: Complex[Array, "*t k"]) -> Float[Array, "*t n"]:
        return jnp.fft.irfft(spectrum, self.fine)

    def evolve(
        self,
        start: Float[Array, " n"],
        rate: Rate,
        nonlinear: Callable[[Complex[Array, " k"]], Complex[Array, " k"]],
    ) -> Float[Array, "x t 1"]:
        """The field at the nodes outside and at all times."""
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

    def pointwise(self, law: Callable[[Float[Array, " n"]], Float[Array, " n"]]):
        """What a polynomial of the values does to a spectrum."""
        return lambda spectrum: self.spectrum(law(self.values(spectrum)))

    def advection(self, spectrum: Complex[Array, " k"]) -> Complex[Array, " k"]:
        """-u u_x, as -½ (u²)_x."""
        squared = self.spectrum(self.values(spectrum) ** 2)
        return -0.5j * jnp.asarray(self.wavenumbers) * squared
