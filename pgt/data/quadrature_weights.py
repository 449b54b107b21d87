"""Weights of points by which polynomials are integrated exactly.

What given weights make of a polynomial is known, and what it should be follows from the walls by Gauss's
theorem; the smallest change of the weights that mends it mends smooth fields, too.
"""

import itertools
import math

import numpy as np
from jaxtyping import Float, Int

from pgt.geometry.shape import Boundary

DEGREES = {2: 8, 3: 5}  # by the number of axes of space
LEAST = 2  # of the degree, or weights stay even
AT_ONCE = 1 << 14  # points of walls, of which a shape with many holes has a million
FEWEST = 10  # points for every polynomial, or its degree is lower


def balanced(
    points: Float[np.ndarray, "n k"], weights: Float[np.ndarray, " n"], walls: Boundary
) -> Float[np.ndarray, " n"]:
    """The weights, changed by as small shares of themselves as possible; as they were where one would not
    stay above 0.

    >>> from pgt.geometry.low_discrepancy import evenly
    >>> from pgt.geometry import Rectangle
    >>> places = evenly(1000, 2)
    >>> weights = balanced(places, np.full(1000, 1e-3), Rectangle((0, 1), (0, 1)).walls())
    >>> round(float(places[:, 0] ** 3 @ weights), 7)
    0.25
    """
    powers = _powers(points.shape[1], len(points) // FEWEST)
    if powers.max() < LEAST:
        return weights
    lower, upper = walls.points.min(axis=0), walls.points.max(axis=0)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    table = _monomials((points - middle) / half, powers)
    exact = _moments(walls, middle, half, powers)
    exact *= weights.sum() / exact[0]
    rows = (table * weights[:, None]).T
    change = np.linalg.lstsq(rows, exact - rows.sum(axis=1), rcond=None)[0]
    return weights * (1 + change) if (change > -1).all() else weights


def _powers(axes: int, most: int) -> Int[np.ndarray, "m k"]:
    """Those of all monomials up to a degree, 1 first, and no more than so many of them."""
    degrees = range(DEGREES[axes] + 1)
    highest = max((d for d in degrees if math.comb(d + axes, axes) <= most), default=0)
    rows = [row for row in itertools.product(degrees, repeat=axes) if sum(row) <= highest]
    return np.array(sorted(rows, key=sum))


def _monomials(unit: Float[np.ndarray, "n k"], powers) -> Float[np.ndarray, "n m"]:
    """By products: a power of every number would take ten times as long."""
    found = np.ones((len(unit), len(powers)))
    for own, exponents in zip(unit.T, powers.T, strict=True):
        found *= np.vander(own, exponents.max() + 1, increasing=True)[:, exponents]
    return found


def _moments(walls: Boundary, middle, half, powers) -> Float[np.ndarray, " m"]:
    """∫ of each monomial over what the walls enclose: the mean of Gauss's theorem along every axis."""
    unit, found = (walls.points - middle) / half, []
    for axis in range(len(middle)):
        raised = powers + np.eye(len(middle), dtype=int)[axis]
        across = walls.weights * walls.normals[:, axis]
        starts = range(0, len(unit), AT_ONCE)
        parts = [
            across[k : k + AT_ONCE] @ _monomials(unit[k : k + AT_ONCE], raised) for k in starts
        ]
        found.append(half[axis] * np.sum(parts, axis=0) / raised[:, axis])
    return np.mean(found, axis=0)
