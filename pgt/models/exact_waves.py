r"""Functions that satisfy a linear equation with constant coefficients.

For a system of as many equations as fields, P(∂) u = 0, the field

$$ u(z) = \operatorname{Re}\, a v e^{\kappa \cdot z}, \qquad \det P(\kappa) = 0, \quad P(\kappa) v = 0 $$

is a solution for every complex a. Depending on the equation it is a plane wave, a decaying or evanescent
mode, or a harmonic function. All components of κ but one are imaginary and drawn within a band, like the
frequencies of sines; the last component is a root of the polynomial det P. Each axis that is not periodic
is solved for in turn, because modes that decay in time differ from modes that enter through a wall.
`Features` uses these waves as basis functions, so that its field satisfies the equation exactly.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Complex, Float, Int

from pgt.geometry.low_discrepancy import evenly
from pgt.nn.trees import Frozen

# Nodes of the frequency lattice per wave that is asked for: more nodes choose the longest waves more
# exactly and take more memory. Half of the nodes are the negatives of the others.
NODES_PER_WAVE = 8


def wave_vectors(
    count: int, band: Sequence[float], periodic: Sequence[bool], seed: int = 0
) -> Float[np.ndarray, "m d"]:
    """`count` frequencies within ±band in unit coordinates, where an axis is 2 long; the first is zero.

    There are fewer where all axes are periodic and the band holds fewer frequencies.

    >>> wave_vectors(9, (7.0, 3.2), (True, True)).round(2).tolist()[:3]
    [[0.0, 0.0], [3.14, 0.0], [0.0, 3.14]]
    """
    is_periodic, band_limits = np.asarray(periodic, bool), np.asarray(band, float)
    orders = _wave_orders(np.round(band_limits[is_periodic] / np.pi), count)
    if is_periodic.all():
        return np.pi * orders
    # Each periodic wave is paired with several frequencies along the other axes.
    repeat, wave = np.divmod(np.arange(count), len(orders))
    unit = _cube_points(repeat, wave, int((~is_periodic).sum()), seed)
    unit[0] = 0.0  # the constant function
    vectors = np.zeros((count, len(band_limits)))
    vectors[:, is_periodic] = np.pi * orders[wave]
    vectors[:, ~is_periodic] = unit * band_limits[~is_periodic]
    return vectors


def _wave_orders(max_orders: Float[np.ndarray, " d"], count: int) -> Int[np.ndarray, "m d"]:
    """The whole numbers of periods along each axis of at most `count` waves, the longest wave first.

    The negative of a wave is left out, because it has the same sine and cosine.
    """
    if not len(max_orders):
        return np.zeros((1, 0), int)
    share = (NODES_PER_WAVE * count / np.prod(2 * max_orders + 1)) ** (1 / len(max_orders))
    nodes = [np.arange(-m, m + 1) for m in np.ceil(max_orders * min(share, 1.0)).astype(int)]
    orders = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, len(max_orders))
    orders = orders[
        len(orders) // 2 :
    ]  # the middle row is zero, and the rows before it are negatives
    relative_square = np.sum((orders / np.maximum(max_orders, 1)) ** 2, axis=1)
    return orders[np.argsort(relative_square, kind="stable")[:count]]


def _cube_points(
    repeat: Int[np.ndarray, " m"], wave: Int[np.ndarray, " m"], dimension: int, seed: int
) -> Float[np.ndarray, "m d"]:
    """One point of the cube [-1, 1]^d for each pair; the points of each wave fill the cube evenly."""
    starts = evenly(int(wave.max()) + 1, dimension, seed + 1)
    starts[0] = 0.0
    shifts = evenly(int(repeat[-1]) + 1, dimension, seed)
    return 2 * ((starts[wave] + shifts[repeat]) % 1.0) - 1


# ------------------------------------------------------------------------------- exact waves

# A singular value of P(κ) counts as zero below this share of the size of its terms.
SINGULAR_VALUE_SHARE = 1e-9
# The number of Newton steps that refine a root, and the relative step of their central difference.
NEWTON_STEPS, DIFFERENCE_STEP = 4, 1e-4
# The most e-foldings over half of an axis: steeper modes are nonzero only in a point of the edge.
MAX_GROWTH = 300.0
# Coefficients of a polynomial below this share of the largest one count as rounding errors.
ROUNDING_OF_COEFFICIENTS = 1e-13
# Two roots whose relative distance is smaller than this count as one root.
EQUAL_ROOT_SHARE = 1e-6


class Symbol(Frozen):
    """P(κ) = Σ_k factors_k Πₐ κₐ^powers_ka, in unit coordinates and in units of the fields' spreads."""

    powers: Int[np.ndarray, "k d"]
    factors: Float[np.ndarray, "k c c"]

    @property
    def fields(self) -> int:
        """The number of fields, which is also the number of equations."""
        return self.factors.shape[1]

    @property
    def holds_constants(self) -> bool:
        """Whether constant fields are solutions."""
        return not self.factors[~self.powers.any(axis=1)].any()

    def at(self, kappa: Complex[np.ndarray, "*n d"]) -> Complex[np.ndarray, "*n c c"]:
        """The matrix P(κ) for each κ."""
        terms = np.prod(kappa[..., None, :] ** self.powers, axis=-1)
        return np.tensordot(terms, self.factors, axes=1)

    def roots(self, kappa: Complex[np.ndarray, "n d"], axis: int) -> Complex[np.ndarray, "n r"]:
        """The components of κ along an axis for which det P(κ) = 0, padded with NaN."""
        degree = self.fields * int(self.powers[:, axis].max(initial=0))
        roots = np.full((len(kappa), degree), np.nan, complex)
        if not degree:
            return roots
        # det P is a polynomial; a Fourier transform of its values on a circle gives its coefficients.
        radius = 1 + np.max(np.abs(kappa), axis=1, initial=0.0)
        circle = np.exp(2j * np.pi * np.arange(degree + 1) / (degree + 1))
        on_circle = np.repeat(kappa[:, None], degree + 1, axis=1)
        on_circle[..., axis] = radius[:, None] * circle
        values = np.linalg.det(self.at(on_circle))
        polynomials = np.fft.fft(values, axis=1) / (degree + 1)
        for row, polynomial in enumerate(polynomials):
            size = np.abs(polynomial).max()
            if not size > 0:
                continue
            rounded = np.where(
                np.abs(polynomial) > ROUNDING_OF_COEFFICIENTS * size, polynomial, 0.0
            )
            row_roots = radius[row] * np.roots(rounded[::-1])
            roots[row, : len(row_roots)] = row_roots
        return roots


class ExactWaves(NamedTuple):
    """κ of each wave, and the amplitudes v of the fields in it, with norm 1."""

    kappa: Complex[np.ndarray, "m d"]
    amplitudes: Complex[np.ndarray, "m c"]


def exact_waves(
    symbol: Symbol,
    count: int,
    band: tuple[float, ...],
    periodic: tuple[bool, ...],
    seed: int = 0,
) -> ExactWaves:
    """About `count` exact waves, whose drawn components fill the band evenly.

    >>> helmholtz = Symbol(np.array([[2, 0], [0, 2], [0, 0]]), np.array([1, 1, 25.0])[:, None, None])
    >>> waves = exact_waves(helmholtz, 20, (8.0, 8.0), (False, False))
    >>> bool(np.allclose(np.sum(waves.kappa**2, axis=1), -25))
    True
    """
    solved = [a for a in range(len(band)) if not periodic[a] and symbol.powers[:, a].any()]
    if not solved or len(band) < 2:
        return ExactWaves(np.zeros((0, len(band)), complex), np.zeros((0, symbol.fields), complex))
    parts = []
    for axis in solved:
        others = [a for a in range(len(band)) if a != axis]
        roots = symbol.fields * int(symbol.powers[:, axis].max())
        drawn = wave_vectors(
            max(count // (len(solved) * roots), 1),
            [band[a] for a in others], [periodic[a] for a in others], seed + axis,
        )  # fmt: skip
        kappa = np.zeros((len(drawn), len(band)), complex)
        kappa[:, others] = 1j * drawn
        parts.append(_solutions(symbol, kappa, axis))
    return ExactWaves(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _solutions(symbol: Symbol, kappa: Complex[np.ndarray, "n d"], axis: int) -> ExactWaves:
    """All exact waves whose components along the other axes are those of `kappa`."""
    roots = symbol.roots(kappa, axis)
    row, _ = indices = np.nonzero(_is_first_occurrence(roots))
    waves = kappa[row]
    waves[:, axis] = roots[indices]
    waves = _refined_roots(symbol, waves, axis)
    waves = waves[np.max(np.abs(waves.real), axis=1, initial=0.0) <= MAX_GROWTH]
    _, singular_values, right = np.linalg.svd(symbol.at(waves))
    is_null = singular_values <= SINGULAR_VALUE_SHARE * _term_sizes(symbol, waves)[:, None]
    indices = np.nonzero(is_null)
    return ExactWaves(waves[indices[0]], right[indices].conj())


def _term_sizes(symbol: Symbol, waves: Complex[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
    """The size of the terms of P(κ) before they cancel at a root."""
    terms = np.prod(np.abs(waves)[:, None, :] ** symbol.powers, axis=-1)
    return np.max(np.tensordot(terms, np.abs(symbol.factors), axes=1), axis=(1, 2))


def _is_first_occurrence(roots: Complex[np.ndarray, "n r"]) -> Bool[np.ndarray, "n r"]:
    """Whether each root differs from all roots before it in its row; False for padding."""
    is_apart = np.abs(roots[:, :, None] - roots[:, None, :]) > EQUAL_ROOT_SHARE * (
        1 + np.abs(roots[:, :, None])
    )
    is_before = np.tri(roots.shape[1], k=-1, dtype=bool)
    is_padding = np.isnan(roots)
    return (is_apart | ~is_before | is_padding[:, None, :]).all(axis=2) & ~is_padding


def _refined_roots(
    symbol: Symbol, waves: Complex[np.ndarray, "n d"], axis: int
) -> Complex[np.ndarray, "n d"]:
    """The roots after Newton steps on the determinant; a step that does not lower it is not taken."""
    value = np.linalg.det(symbol.at(waves))
    for _ in range(NEWTON_STEPS):
        step = np.zeros_like(waves)
        step[:, axis] = DIFFERENCE_STEP * (1 + np.abs(waves[:, axis]))
        up, down = (np.linalg.det(symbol.at(waves + sign * step)) for sign in (1, -1))
        slope = (up - down) / (2 * step[:, axis])
        moved = np.array(waves)
        moved[:, axis] -= np.where(slope == 0, 0.0, value / np.where(slope == 0, 1.0, slope))
        moved_value = np.linalg.det(symbol.at(moved))
        is_better = np.abs(moved_value) < np.abs(value)
        waves = np.where(is_better[:, None], moved, waves)
        value = np.where(is_better, moved_value, value)
    return waves
