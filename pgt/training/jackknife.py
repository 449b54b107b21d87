"""What an answer would be without some readings that are neighbours, and how unsure of it that makes us.

A posterior believes that its model can follow the field. Of what the model is too stiff for it knows
nothing: where an equation leaves much open, back in time towards a first instant that was not read, or in
a corner, it is sure of one of many fields. Readings tell. Without the group G of them the summit moves by

    δ_G = (RᵀR)⁻¹ J_Gᵀ (1 - H_GG)⁻¹ r_G,        H = J (RᵀR)⁻¹ Jᵀ

with r what they are missed by, J their rows and R of summit.py. Groups of neighbours are all left out in
turn, as each of them says little of what its neighbours say as well, and Σ δ_G δ_Gᵀ is the covariance of
the jackknife (Efron & Stein 1981; Bell & McCaffrey 2002 for groups): a model that is too stiff misses by
what it was not shown by far more than it expected, and what depends on those readings alone moves as far.

Beyond a gap between the readings and a face of the domain, all are far from what is said there. As deep
as the gap is, those that are next to it are left out together: what they are missed by tells of it.
"""

import numpy as np
from jaxtyping import Float, Int

from pgt.training import dense
from pgt.training.summit import LEAST_LEFT, Summit

MOST = 5  # readings that are left out together: three to five
BEFORE_A_GAP = 10  # readings: where fewer lie as near to a face as a gap is wide twice, it is none
STRAY = 2  # readings in a gap, which is one nevertheless


def neighbours(points: Float[np.ndarray, "n d"], most: int = MOST) -> list[Int[np.ndarray, " _"]]:
    """The numbers of the points in groups of neighbours: halved, and halved again, each time along the
    axis in which they differ most.

    >>> [group.tolist() for group in neighbours(np.array([[0.0], [0.9], [0.1], [1.0]]), most=2)]
    [[0, 2], [1, 3]]
    """
    parts, found = [np.arange(len(points))], []
    while parts:
        part = parts.pop(0)
        if len(part) <= most:
            found.append(part)
            continue
        axis = int(np.argmax(np.ptp(points[part], axis=0)))
        ordered = part[np.argsort(points[part, axis], kind="stable")]
        parts += np.array_split(ordered, 2)
    return found


def before_gaps(points: Float[np.ndarray, "n d"]) -> list[Int[np.ndarray, " _"]]:
    """For every face of the unit box that readings stay away from, those that are next to it.

    >>> line = np.linspace(0.2, 1, 81)[:, None]
    >>> [line[group].max().round(2).item() for group in before_gaps(line)]
    [0.44]
    """
    found = []
    for away in (*points.T, *(1 - points.T)):
        ordered = np.sort(away)
        group = np.flatnonzero(away <= 2 * ordered[min(STRAY, len(away) - 1)])
        if BEFORE_A_GAP < len(group) <= len(away) // 2:
            found.append(group)
    return found


def moves(there: Summit, groups: list[Int[np.ndarray, " _"]]) -> Float[np.ndarray, "g p"]:
    """By how much the summit moves without the rows of each group of readings."""
    inverse = dense.back(there.firm, np.eye(len(there.firm)))
    rows, missed = there.read[:, :-1] @ inverse, there.read @ np.append(there.step, 1.0)
    found = []
    for group in groups:
        own = rows[group]
        left, along = np.linalg.eigh(np.eye(len(group)) - own @ own.T)
        pull = along @ ((along.T @ missed[group]) / np.maximum(left, LEAST_LEFT))
        found.append(own.T @ pull)
    return np.array(found) @ inverse.T


def drawn_moves(
    there: Summit, points: Float[np.ndarray, "n d"], count: int
) -> Float[np.ndarray, "count p"]:
    """So many steps with the covariance of the jackknife, in pairs ±; `points` are those of the readings,
    in the unit box."""
    each = len(there.read) // len(points)  # rows of one reading: one for every field
    groups = [*neighbours(points), *before_gaps(points)]
    rows = [(each * g[:, None] + np.arange(each)).ravel() for g in groups]
    found = moves(there, rows)
    steps = np.random.default_rng(0).standard_normal((count // 2, len(found))) @ found
    return np.concatenate([steps, -steps])
