r"""Functions that satisfy a linear equation with constant coefficients.

For a system of as many equations as fields, P(∂) u = 0, the field

$$ u(z) = \operatorname{Re}\, a v e^{\kappa \cdot z}, \qquad \det P(\kappa) = 0, \quad P(\kappa) v = 0 $$

is a solution for every complex a: a plane wave, a decaying or evanescent mode, a harmonic function,
whatever the equation has. All components of κ but one are drawn as frequencies of sines are, imaginary
and within a band; the last one is a root of the polynomial det P. Every axis that is not periodic is
solved for in turn: modes that decay in time and such as enter through a wall are different ones.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Complex, Float, Int

from pgt.geometry.low_discrepancy import evenly
from pgt.nn.trees import Frozen

# Nodes of a box for every wave that is wanted: half of them are the negative of another one.
NODES_PER_WAVE = 8


def wave_vectors(
    count: int, band: Sequence[float], periodic: Sequence[bool], seed: int = 0
) -> Float[np.ndarray, "m d"]:
    """`count` frequencies within ±band in unit coordinates, where an axis is 2 long; the first is zero.
    Fewer where all axes are periodic and there are no more.

    >>> wave_vectors(9, (7.0, 3.2), (True, True)).round(2).tolist()[:3]
    [[0.0, 0.0], [3.14, 0.0], [0.0, 3.14]]
    """
    wraps, reach = np.asarray(periodic, bool), np.asarray(band, float)
    whole = _whole_waves(np.round(reach[wraps] / np.pi), count)
    if wraps.all():
        return np.pi * whole
    turns, wave = np.divmod(np.arange(count), len(whole))
    unit = _filled(turns, wave, int((~wraps).sum()), seed)
    unit[0] = 0.0  # a constant
    vectors = np.zeros((count, len(reach)))
    vectors[:, wraps], vectors[:, ~wraps] = np.pi * whole[wave], unit * reach[~wraps]
    return vectors


def _whole_waves(most: Float[np.ndarray, " d"], count: int) -> Int[np.ndarray, "m d"]:
    """At most `count` whole waves along each axis, the longest first, each without its negative, which
    has the same sines."""
    if not len(most):
        return np.zeros((1, 0), int)
    share = (NODES_PER_WAVE * count / np.prod(2 * most + 1)) ** (1 / len(most))
    nodes = [np.arange(-m, m + 1) for m in np.ceil(most * min(share, 1.0)).astype(int)]
    waves = np.stack(np.meshgrid(*nodes, indexing="ij"), axis=-1).reshape(-1, len(most))
    waves = waves[len(waves) // 2 :]  # the first of them is zero, those before it are the negatives
    length = np.sum((waves / np.maximum(most, 1)) ** 2, axis=1)
    return waves[np.argsort(length, kind="stable")[:count]]


def _filled(
    turns: Int[np.ndarray, " m"], wave: Int[np.ndarray, " m"], dimension: int, seed: int
) -> Float[np.ndarray, "m d"]:
    """Points of the cube from -1 to 1, turn by turn: those of each wave fill it by themselves."""
    starts = evenly(int(wave.max()) + 1, dimension, seed + 1)
    starts[0] = 0.0
    return 2 * ((starts[wave] + evenly(int(turns[-1]) + 1, dimension, seed)[turns]) % 1.0) - 1


# ------------------------------------------------------------------------------- exact waves

# A singular value of P(κ) is zero below this share of the size of its terms.
SINGULAR_VALUE_SHARE = 1e-9
# Newton steps that refine a root, and the relative step of their central difference.
NEWTON_STEPS, DIFFERENCE = 4, 1e-4
MAX_GROWTH = (
    300.0  # e-foldings over half of an axis: steeper modes live in a point of the domain's edge
)
ROUNDING_OF_COEFFICIENTS = 1e-13  # of the largest coefficient of a polynomial
EQUAL_ROOT_SHARE = 1e-6  # relative: two roots that are one


class Symbol(Frozen):
    """P(κ) = Σ factors_k Πₐ κₐ^powers_ka in unit coordinates and in units of the fields' spreads."""

    powers: Int[np.ndarray, "k d"]
    factors: Float[np.ndarray, "k c c"]

    @property
    def fields(self) -> int:
        """How many fields and equations."""
        return self.factors.shape[1]

    @property
    def holds_constants(self) -> bool:
        """Whether constant fields are solutions."""
        return not self.factors[~self.powers.any(axis=1)].any()

    def at(self, kappa: Complex[np.ndarray, "*n d"]) -> Complex[np.ndarray, "*n c c"]:
        """P(κ)."""
        terms = np.prod(kappa[..., None, :] ** self.powers, axis=-1)
        return np.tensordot(terms, self.factors, axes=1)

    def roots(self, kappa: Complex[np.ndarray, "n d"], axis: int) -> Complex[np.ndarray, "n r"]:
        """The components along an axis with which det P(κ) is zero; NaN where there are fewer."""
        degree = self.fields * int(self.powers[:, axis].max(initial=0))
        found = np.full((len(kappa), degree), np.nan, complex)
        if not degree:
            return found
        # The polynomial of det P by its values on a circle as large as its roots may be.
        radius = 1 + np.max(np.abs(kappa), axis=1, initial=0.0)
        circle = np.exp(2j * np.pi * np.arange(degree + 1) / (degree + 1))
        asked = np.repeat(kappa[:, None], degree + 1, axis=1)
        asked[..., axis] = radius[:, None] * circle
        values = np.linalg.det(self.at(asked))
        polynomials = np.fft.fft(values, axis=1) / (degree + 1)
        for number, polynomial in enumerate(polynomials):
            size = np.abs(polynomial).max()
            if not size > 0:
                continue
            kept = np.where(np.abs(polynomial) > ROUNDING_OF_COEFFICIENTS * size, polynomial, 0.0)
            own = radius[number] * np.roots(kept[::-1])
            found[number, : len(own)] = own
        return found


class ExactWaves(NamedTuple):
    """κ of every wave, and the amplitudes of the fields in it, of norm 1."""

    kappa: Complex[np.ndarray, "m d"]
    amplitudes: Complex[np.ndarray, "m c"]


def exact_waves(
    symbol: Symbol,
    count: int,
    band: tuple[float, ...],
    periodic: tuple[bool, ...],
    seed: int = 0,
) -> ExactWaves:
    """About `count` solutions, whose free components fill the band evenly.

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
        free = wave_vectors(
            max(count // (len(solved) * roots), 1),
            [band[a] for a in others], [periodic[a] for a in others], seed + axis,
        )  # fmt: skip
        kappa = np.zeros((len(free), len(band)), complex)
        kappa[:, others] = 1j * free
        parts.append(_solutions(symbol, kappa, axis))
    return ExactWaves(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _solutions(symbol: Symbol, kappa: Complex[np.ndarray, "n d"], axis: int) -> ExactWaves:
    """All solutions with these components, but for that along an axis."""
    roots = symbol.roots(kappa, axis)
    number, _ = rows = np.nonzero(_is_new(roots))
    waves = kappa[number]
    waves[:, axis] = roots[rows]
    waves = _polished(symbol, waves, axis)
    waves = waves[np.max(np.abs(waves.real), axis=1, initial=0.0) <= MAX_GROWTH]
    _, sizes, right = np.linalg.svd(symbol.at(waves))
    which = np.nonzero(sizes <= SINGULAR_VALUE_SHARE * _sizes(symbol, waves)[:, None])
    return ExactWaves(waves[which[0]], right[which].conj())


def _sizes(symbol: Symbol, waves: Complex[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
    """Those of the terms of P(κ), which cancel at a root."""
    terms = np.prod(np.abs(waves)[:, None, :] ** symbol.powers, axis=-1)
    return np.max(np.tensordot(terms, np.abs(symbol.factors), axes=1), axis=(1, 2))


def _is_new(roots: Complex[np.ndarray, "n r"]) -> Bool[np.ndarray, "n r"]:
    """Which roots are none of those before them in their row."""
    apart = np.abs(roots[:, :, None] - roots[:, None, :]) > EQUAL_ROOT_SHARE * (
        1 + np.abs(roots[:, :, None])
    )
    before = np.tri(roots.shape[1], k=-1, dtype=bool)
    missing = np.isnan(roots)
    return (apart | ~before | missing[:, None, :]).all(axis=2) & ~missing


def _polished(
    symbol: Symbol, waves: Complex[np.ndarray, "n d"], axis: int
) -> Complex[np.ndarray, "n d"]:
    """Roots by Newton's steps on the determinant, as long as these lower it."""
    here = np.linalg.det(symbol.at(waves))
    for _ in range(NEWTON_STEPS):
        step = np.zeros_like(waves)
        step[:, axis] = DIFFERENCE * (1 + np.abs(waves[:, axis]))
        up, down = (np.linalg.det(symbol.at(waves + sign * step)) for sign in (1, -1))
        slope = (up - down) / (2 * step[:, axis])
        moved = np.array(waves)
        moved[:, axis] -= np.where(slope == 0, 0.0, here / np.where(slope == 0, 1.0, slope))
        there = np.linalg.det(symbol.at(moved))
        is_better = np.abs(there) < np.abs(here)
        waves, here = np.where(is_better[:, None], moved, waves), np.where(is_better, there, here)
    return waves
