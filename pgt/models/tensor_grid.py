r"""Sums of sines on a tensor grid: a few matrix products instead of a sine for every point and wave.

Along each axis a wave is a complex exponential, and on a grid these multiply:

$$ \sum_k a_k \sin(w_k \cdot z + b_k) = \operatorname{Im} \sum_k a_k e^{i b_k} \prod_j e^{i w_{kj} z_j} $$

The axes are divided into two groups, so that the sum over the waves is a product of two matrices.
"""

from collections.abc import Sequence
from math import prod

import numpy as np
from jaxtyping import Array, Complex, Float

from pgt.core.machine import blas_threads


def waves_on_grid(
    frequencies: Float[Array | np.ndarray, "m d"],
    phases: Float[Array | np.ndarray, " m"],
    weights: Float[Array | np.ndarray, "r m"],
    axes: Sequence[Float[np.ndarray, " _"]],
    along: Sequence[int] = (),
    growth: Float[Array | np.ndarray, "m d"] | None = None,
) -> Float[np.ndarray, "r *shape"]:
    """Every row of weights summed over the sines at all points of the grid, or the derivative of the sum
    along the axes listed; with `growth` each times exp(Σ growth z - |growth|).

    >>> x, t = np.array([0.0, 0.5]), np.array([0.0, 1.0, 2.0])
    >>> found = waves_on_grid(np.array([[2.0, 3.0]]), np.array([0.1]), np.ones((1, 1)), (x, t))
    >>> bool(np.allclose(found[0], np.sin(2 * x[:, None] + 3 * t + 0.1)))
    True
    """
    exponents = 1j * np.asarray(frequencies, float)
    if growth is not None:
        exponents = exponents + np.asarray(growth, float)
    waves, sums = _shared(exponents, phases, np.asarray(weights, float))
    for axis in along:
        sums = sums * waves[:, axis]
    shape = tuple(len(positions) for positions in axes)
    first = min(range(len(shape)), key=lambda k: prod(shape[: k + 1]) + prod(shape[k + 1 :])) + 1
    exponentials = [
        np.exp(np.outer(z, waves[:, k]) - np.abs(np.real(waves[:, k]))) for k, z in enumerate(axes)
    ]
    left, right = _outer(exponentials[:first]), _outer(exponentials[first:])
    # Im(L Rᵀ) in real numbers: half of the work of a complex product.
    right = np.concatenate([np.imag(right), np.real(right)], axis=1) if first < len(shape) else None
    with blas_threads(0):  # narrow products, for which threads only wait for one another
        found = [_imaginary(left * row, right) for row in sums]
    return np.stack(found).reshape(len(sums), *shape)


def waves_on_axis(
    beats: Float[Array | np.ndarray, " b"], positions: Float[np.ndarray, " n"], order: int = 0
) -> Float[np.ndarray, "1+2*b n"]:
    """A constant, then the cosines, then the sines of these frequencies, or their derivative of an order.

    >>> waves_on_axis(np.array([2.0]), np.array([0.0])).tolist()
    [[1.0], [1.0], [0.0]]
    """
    beats = np.asarray(beats, float)[:, None]
    waves = (1j * beats) ** order * np.exp(1j * beats * positions)
    constant = np.full((1, len(positions)), float(order == 0))
    return np.concatenate([constant, waves.real, waves.imag])


def _shared(
    exponents: Complex[np.ndarray, "m d"], phases, weights: Float[np.ndarray, "r m"]
) -> tuple[Complex[np.ndarray, "k d"], Complex[np.ndarray, "r k"]]:
    """The different exponents, each once, and the complex weights of each: a sine and a cosine of one
    frequency are one wave."""
    waves, number = np.unique(exponents, axis=0, return_inverse=True)
    sums = np.zeros((len(waves), len(weights)), complex)
    np.add.at(sums, number.reshape(-1), (weights * np.exp(1j * np.asarray(phases, float))).T)
    return waves, sums.T


def _outer(factors: Sequence[Complex[np.ndarray, "_ k"]]) -> Complex[np.ndarray, "n k"]:
    """The products of all rows of the factors, wave by wave."""
    found = np.ones((1, 1), complex)
    for factor in factors:
        found = (found[:, None] * factor).reshape(-1, factor.shape[1])
    return found


def _imaginary(left: Complex[np.ndarray, "n k"], right: Float[np.ndarray, "p 2*k"] | None):
    """Im(left Rᵀ), `right` being the imaginary and the real part of R, or none where R is one."""
    if right is None:
        return np.imag(left).sum(axis=1)
    return np.concatenate([np.real(left), np.imag(left)], axis=1) @ right.T
