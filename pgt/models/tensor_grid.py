r"""Sums of sines on a tensor grid, by a few matrix products instead of a sine for each point and wave.

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
    """The sum of sines at all points of the grid for each row of weights, or its derivative along the
    listed axes. With `growth`, each sine is multiplied by exp(Σ growth z - |growth|).

    >>> x, t = np.array([0.0, 0.5]), np.array([0.0, 1.0, 2.0])
    >>> found = waves_on_grid(np.array([[2.0, 3.0]]), np.array([0.1]), np.ones((1, 1)), (x, t))
    >>> bool(np.allclose(found[0], np.sin(2 * x[:, None] + 3 * t + 0.1)))
    True
    """
    exponents = 1j * np.asarray(frequencies, float)
    if growth is not None:
        exponents = exponents + np.asarray(growth, float)
    waves, sums = _merged_waves(exponents, phases, np.asarray(weights, float))
    for axis in along:
        sums = sums * waves[:, axis]
    shape = tuple(len(positions) for positions in axes)
    split = min(range(len(shape)), key=lambda k: prod(shape[: k + 1]) + prod(shape[k + 1 :])) + 1
    exponentials = [
        np.exp(np.outer(z, waves[:, k]) - np.abs(np.real(waves[:, k]))) for k, z in enumerate(axes)
    ]
    left, right = _row_products(exponentials[:split]), _row_products(exponentials[split:])
    # Im(L Rᵀ) in real numbers takes half of the work of a complex product.
    right = np.concatenate([np.imag(right), np.real(right)], axis=1) if split < len(shape) else None
    with blas_threads(
        0
    ):  # The products are narrow, and more threads would only wait for one another.
        values = [_imaginary_product(left * row, right) for row in sums]
    return np.stack(values).reshape(len(sums), *shape)


def waves_on_axis(
    beats: Float[Array | np.ndarray, " b"], positions: Float[np.ndarray, " n"], order: int = 0
) -> Float[np.ndarray, "1+2*b n"]:
    """A constant, the cosines and the sines of these frequencies, or their derivative of the given order.

    >>> waves_on_axis(np.array([2.0]), np.array([0.0])).tolist()
    [[1.0], [1.0], [0.0]]
    """
    beats = np.asarray(beats, float)[:, None]
    waves = (1j * beats) ** order * np.exp(1j * beats * positions)
    constant = np.full((1, len(positions)), float(order == 0))
    return np.concatenate([constant, waves.real, waves.imag])


def _merged_waves(
    exponents: Complex[np.ndarray, "m d"], phases, weights: Float[np.ndarray, "r m"]
) -> tuple[Complex[np.ndarray, "k d"], Complex[np.ndarray, "r k"]]:
    """The distinct exponents and the complex weights of each; a sine and a cosine of one frequency become
    one wave."""
    waves, number = np.unique(exponents, axis=0, return_inverse=True)
    sums = np.zeros((len(waves), len(weights)), complex)
    np.add.at(sums, number.reshape(-1), (weights * np.exp(1j * np.asarray(phases, float))).T)
    return waves, sums.T


def _row_products(factors: Sequence[Complex[np.ndarray, "_ k"]]) -> Complex[np.ndarray, "n k"]:
    """The products of each combination of rows of the factors, wave by wave."""
    product = np.ones((1, 1), complex)
    for factor in factors:
        product = (product[:, None] * factor).reshape(-1, factor.shape[1])
    return product


def _imaginary_product(left: Complex[np.ndarray, "n k"], right: Float[np.ndarray, "p 2*k"] | None):
    """Im(left Rᵀ). `right` holds the imaginary and the real part of R; None stands for R = 1."""
    if right is None:
        return np.imag(left).sum(axis=1)
    return np.concatenate([np.real(left), np.imag(left)], axis=1) @ right.T
