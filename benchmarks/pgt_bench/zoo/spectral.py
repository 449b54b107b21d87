"""Solvers for truths without a formula: exponential time steps on Fourier modes, and Chebyshev modes."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Complex, Float, Inexact
from scipy.integrate import solve_ivp

CONTOUR = 32  # points of the mean that replaces differences of nearly equal numbers


def wave_numbers(count: int, length: float) -> Float[np.ndarray, " {count}"]:
    """Of the modes of a periodic axis, in the order of `numpy.fft.fft`."""
    return 2 * np.pi / length * np.fft.fftfreq(count, 1 / count)


def without_aliases(wave: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """1 for the lower two thirds of the modes, 0 for those that products would fold back."""
    return (np.abs(wave) < 2 / 3 * np.abs(wave).max()).astype(float)


def etdrk4(
    start: Complex[np.ndarray, "*modes"],
    linear: Inexact[np.ndarray, "*modes"],
    nonlinear: Callable[[np.ndarray], np.ndarray],
    times: Float[np.ndarray, " k"],
    steps: int,
) -> Complex[np.ndarray, "k *modes"]:
    """v' = L v + N(v) for modes v, with `steps` steps between two of the evenly spaced times.

    Fourth order in time, exact where N is zero (Cox and Matthews 2002, with the contour means of Kassam
    and Trefethen 2005, doi:10.1137/S1064827502410633).
    """
    step = (times[1] - times[0]) / steps
    full, half, q, first, second, third = _coefficients(linear, step)
    kept, v = [start], start
    for _ in range(len(times) - 1):
        for _ in range(steps):
            n0 = nonlinear(v)
            a = half * v + q * n0
            na = nonlinear(a)
            b = half * v + q * na
            nb = nonlinear(b)
            nc = nonlinear(half * a + q * (2 * nb - n0))
            v = full * v + first * n0 + 2 * second * (na + nb) + third * nc
        kept.append(v)
    return np.stack(kept)


def _coefficients(linear: np.ndarray, step: float) -> tuple[np.ndarray, ...]:
    circle = np.exp(2j * np.pi * (np.arange(CONTOUR) + 0.5) / CONTOUR)
    r = step * linear[..., None] + circle
    mean = (lambda values: step * values.mean(axis=-1)) if np.iscomplexobj(linear) else (
        lambda values: step * values.mean(axis=-1).real
    )  # fmt: skip
    return (
        np.exp(step * linear),
        np.exp(step * linear / 2),
        mean((np.exp(r / 2) - 1) / r),
        mean((-4 - r + np.exp(r) * (4 - 3 * r + r**2)) / r**3),
        mean((2 + r + np.exp(r) * (r - 2)) / r**3),
        mean((-4 - 3 * r - r**2 + np.exp(r) * (4 - r)) / r**3),
    )


def chebyshev(count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` + 1 points from 1 down to −1 and the matrix that differentiates there (Trefethen 2000)."""
    x = np.cos(np.pi * np.arange(count + 1) / count)
    c = np.where((np.arange(count + 1) % count) == 0, 2.0, 1.0) * (-1.0) ** np.arange(count + 1)
    difference = x[:, None] - x[None, :] + np.eye(count + 1)
    matrix = np.outer(c, 1 / c) / difference
    return x, matrix - np.diag(matrix.sum(axis=1))


def method_of_lines(
    rate: Callable[[Float[np.ndarray, "c n"]], Float[np.ndarray, "c n"]],
    start: Float[np.ndarray, "c n"],
    times: Float[np.ndarray, " k"],
) -> Float[np.ndarray, "k c n"]:
    """Values on a grid with v' = `rate`(v), as exact in time as eighth order makes them."""

    def flat(t, values):
        return rate(values.reshape(start.shape)).ravel()

    ends = (times[0], times[-1])
    found = solve_ivp(flat, ends, start.ravel(), "DOP853", times, rtol=1e-10, atol=1e-10)
    return found.y.T.reshape(len(times), *start.shape)


def slope(values: Float[np.ndarray, "*c n"], length: float, order: int = 1) -> np.ndarray:
    """The derivative along a periodic axis, the last one.

    >>> angle = 2 * np.pi * np.arange(8) / 8
    >>> bool(np.allclose(slope(np.sin(angle), 2 * np.pi), np.cos(angle)))
    True
    """
    wave = wave_numbers(values.shape[-1], length)
    return np.fft.ifft((1j * wave) ** order * np.fft.fft(values)).real
