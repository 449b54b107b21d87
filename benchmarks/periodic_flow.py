"""A flow in a periodic box in three dimensions, computed by Fourier modes, and checks of it.

The truth of dns_3d.py: no aliasing, viscosity exact, the rest by Runge and Kutta.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

SPACE, FIELDS = ("x", "y", "z"), ("u", "v", "w", "p")
LENGTH = 2 * np.pi
STEP = 0.01  # of time, at most


def relative(found, true) -> float:
    """‖found − true‖ / ‖true‖."""
    return float(np.linalg.norm(found - true) / np.linalg.norm(true))


class Waves(NamedTuple):
    """The wavenumbers of a box with so many nodes along each axis, and the modes that are kept: products
    of the others come back as waves that they are not."""

    nodes: int

    @property
    def numbers(self):
        n = self.nodes
        whole = np.fft.fftfreq(n, 1 / n)
        return np.stack(np.meshgrid(whole, whole, np.arange(n // 2 + 1.0), indexing="ij"))

    @property
    def square(self):
        """Of the wavenumbers; 1 for the mean, which no derivative sees."""
        square = (self.numbers**2).sum(0)
        return np.where(square > 0, square, 1.0)

    @property
    def kept(self):
        return (3 * np.abs(self.numbers) < self.nodes).all(0)

    def spectrum(self, values):
        return jnp.fft.rfftn(values, axes=(-3, -2, -1)) * self.kept

    def values(self, modes):
        return jnp.fft.irfftn(modes, (self.nodes,) * 3, axes=(-3, -2, -1))

    def grid(self):
        """x, y and z of every node."""
        along = LENGTH * np.arange(self.nodes) / self.nodes
        return np.meshgrid(along, along, along, indexing="ij")


def taylor_green(x, y, z):
    return np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z), 0 * x


def abc(x, y, z):
    """Its curl is the flow itself, so that it decays and does nothing else."""
    a, b, c = 1.0, 0.8, 0.6
    return (
        a * np.sin(z) + c * np.cos(y), b * np.sin(x) + a * np.cos(z), c * np.sin(y) + b * np.cos(x),
    )  # fmt: skip


def mixed(x, y, z):
    """Both together, which has no symmetry left."""
    parts = zip(taylor_green(x, y, z), abc(x, y, z), strict=True)
    return tuple(one + 0.4 * other for one, other in parts)


STARTS = {"taylor-green": taylor_green, "mixed": mixed, "abc": abc}


def pushed(waves: Waves, modes):
    """What carries the flow: u × ω, without the part that pressure takes away."""
    k = jnp.asarray(waves.numbers)
    curl = 1j * jnp.cross(k, modes, axis=0)
    rate = waves.spectrum(jnp.cross(waves.values(modes), waves.values(curl), axis=0))
    return rate - k * (k * rate).sum(0) / waves.square


def step(waves: Waves, viscosity: float, dt: float, modes):
    """One of Runge and Kutta's, in modes from which the decay is taken out."""
    half = jnp.exp(-viscosity * waves.square * dt / 2)
    rate = partial(pushed, waves)
    first = rate(modes)
    second = rate(half * (modes + dt / 2 * first))
    third = rate(half * modes + dt / 2 * second)
    fourth = rate(half**2 * modes + dt * half * third)
    middle = 2 * half * (second + third)
    return half**2 * modes + dt / 6 * (half**2 * first + middle + fourth)


def evolved(waves: Waves, start, viscosity: float, times):
    """The modes of u, v and w at evenly spaced times."""
    between = float(times[1] - times[0])
    count = int(np.ceil(between / STEP))

    @jax.jit
    def onwards(modes, _):
        after = jax.lax.fori_loop(
            0, count, lambda _, m: step(waves, viscosity, between / count, m), modes
        )
        return after, after

    with jax.enable_x64(True):
        first = waves.spectrum(jnp.stack([jnp.asarray(part) for part in start]))
        _, later = jax.lax.scan(onwards, first, None, length=len(times) - 1)
        return np.concatenate([np.asarray(first)[None], np.asarray(later)])


def pressure(waves: Waves, modes):
    """Of one instant, with mean zero: ∇²p = -∂ᵢ∂ⱼ uᵢuⱼ."""
    with jax.enable_x64(True):
        k, velocity = waves.numbers, waves.values(jnp.asarray(modes))
        products = waves.spectrum(velocity[:, None] * velocity[None])
        return np.asarray(-jnp.einsum("iabc,jabc,ijabc->abc", k, k, products) / waves.square)


class Truth(NamedTuple):
    """Modes of u, v, w and p at some instants."""

    waves: Waves
    viscosity: float
    times: np.ndarray
    modes: np.ndarray  # (instants, 4, ...)

    @staticmethod
    def of(start, nodes: int, viscosity: float, times) -> "Truth":
        waves = Waves(nodes)
        modes = evolved(waves, start(*waves.grid()), viscosity, times)
        last = [pressure(waves, instant)[None] for instant in modes]
        return Truth(waves, viscosity, times, np.concatenate([modes, np.stack(last)], axis=1))

    def at(self, places, instants):
        """u, v, w and p at places in space, each at the instant of that number: the sum of all waves."""
        values, n = np.empty((len(places), len(FIELDS))), self.waves.nodes
        kx, ky, kz = (self.waves.numbers[axis] for axis in range(3))
        along = kx[:, 0, 0], ky[0, :, 0], kz[0, 0]
        twice = np.where(
            (along[2] == 0) | (2 * along[2] == n), 1.0, 2.0
        )  # conjugates are not stored
        for instant in np.unique(instants):
            rows = instants == instant
            x, y, z = (np.exp(1j * places[rows, axis, None] * k) for axis, k in enumerate(along))
            found = np.einsum("fabc,mc->fmab", self.modes[instant], z * twice, optimize=True)
            found = np.einsum("fmab,mb->fma", found, y, optimize=True)
            values[rows] = np.einsum("fma,ma->mf", found, x, optimize=True).real / n**3
        return values

    def gridded(self, every: int, coarse: int) -> xr.Dataset:
        """On every so many nodes of each axis, and every so many instants."""
        axis = LENGTH * np.arange(0, self.waves.nodes, coarse) / self.waves.nodes
        modes = self.modes[::every]
        with jax.enable_x64(True):
            values = np.stack([np.asarray(self.waves.values(jnp.asarray(m))) for m in modes])
        values = values[:, :, ::coarse, ::coarse, ::coarse]
        axes = {"t": self.times[::every], **dict.fromkeys(SPACE, axis)}
        parts = {name: (("t", *SPACE), values[:, k]) for k, name in enumerate(FIELDS)}
        return xr.Dataset(parts, axes)

    def energy(self):
        """Mean of |u|²/2, and the rate at which viscosity takes it, at every instant."""
        once = self.waves.numbers[2] * 2 % self.waves.nodes == 0
        weight = np.where(once, 1.0, 2.0) / self.waves.nodes**6
        square = (np.abs(self.modes[:, :3]) ** 2).sum(1) * weight / 2
        taken = 2 * self.viscosity * (square * (self.waves.numbers**2).sum(0))
        return square.sum((1, 2, 3)), taken.sum((1, 2, 3))


def checks(truth: Truth) -> dict[str, float]:
    """How far an ABC flow is from its own decay, p included, and the energy from what viscosity left."""
    start, times = abc(*truth.waves.grid()), truth.times[:11]
    found = Truth.of(abc, truth.waves.nodes, truth.viscosity, times).gridded(10, 1).isel(t=-1)
    decayed = np.exp(-truth.viscosity * times[-1])
    square = np.sum(np.square(start), axis=0) / 2
    exact = dict(zip("uvw", (decayed * part for part in start), strict=True))
    exact["p"] = decayed**2 * (square.mean() - square)
    wrong = {name: relative(found[name].to_numpy(), part) for name, part in exact.items()}
    energy, taken = truth.energy()
    lost = np.trapezoid(taken, truth.times)
    balance = abs(energy[0] - energy[-1] - lost) / energy[0]
    return {"abc": max(wrong.values()), "energy_balance": float(balance)}
