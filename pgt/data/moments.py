"""Weights of scattered points by which polynomials are integrated exactly.

Points that fill a shape evenly integrate a smooth field to about a thousandth. What even weights make of
a polynomial is known, and what it should be follows from the walls by Gauss's theorem; the smallest
change of the weights that mends it mends smooth fields, too.
"""

import itertools

import numpy as np
from jaxtyping import Float, Int

from pgt.data.shapes.base import Boundary

DEGREES = {2: 8, 3: 5}  # by the number of axes of space
FEWEST = 10  # points for every polynomial, or the weights stay even


def balanced(
    points: Float[np.ndarray, "n k"], walls: Boundary, volume: float
) -> Float[np.ndarray, " n"]:
    """Weights that sum to the volume within the walls; even ones where a better one is not above 0.

    >>> from pgt.data.evenly import evenly
    >>> from pgt.data.shapes import Rectangle
    >>> places = evenly(1000, 2)
    >>> weights = balanced(places, Rectangle((0, 1), (0, 1)).walls(), 1.0)
    >>> round(float(places[:, 0] ** 3 @ weights), 7)
    0.25
    """
    even = np.full(len(points), volume / len(points))
    powers = _powers(points.shape[1])
    if len(points) < FEWEST * len(powers):
        return even
    lower, upper = walls.points.min(axis=0), walls.points.max(axis=0)
    middle, half = (lower + upper) / 2, (upper - lower) / 2
    table = _monomials((points - middle) / half, powers)
    exact = _moments(walls, middle, half, powers)
    exact *= volume / exact[0]
    weights = even + np.linalg.lstsq(table.T, exact - table.T @ even, rcond=None)[0]
    return weights if (weights > 0).all() else even


def _powers(axes: int) -> Int[np.ndarray, "m k"]:
    """Those of all monomials up to a degree, 1 first."""
    degrees = range(DEGREES[axes] + 1)
    rows = [row for row in itertools.product(degrees, repeat=axes) if sum(row) <= DEGREES[axes]]
    return np.array(sorted(rows, key=sum))


def _monomials(unit: Float[np.ndarray, "n k"], powers) -> Float[np.ndarray, "n m"]:
    return np.prod(unit[:, None, :] ** powers, axis=2)


def _moments(walls: Boundary, middle, half, powers) -> Float[np.ndarray, " m"]:
    """∫ of each monomial over what the walls enclose: the mean of Gauss's theorem along every axis."""
    unit, found = (walls.points - middle) / half, []
    for axis in range(len(middle)):
        raised = powers + np.eye(len(middle), dtype=int)[axis]
        across = walls.weights * walls.normals[:, axis]
        found.append(half[axis] * across @ _monomials(unit, raised) / raised[:, axis])
    return np.mean(found, axis=0)
