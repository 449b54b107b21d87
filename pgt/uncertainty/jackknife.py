"""The jackknife of a fit: how far it moves without groups of neighboring readings.

A posterior assumes that its model can follow the field. It does not know what the model is too
stiff for: where an equation leaves much undetermined, near a first instant that was not measured or
in a corner, it is sure of one of many fields. Without the group G of readings the MAP estimate
moves by

    δ_G = (RᵀR)⁻¹ J_Gᵀ (1 - H_GG)⁻¹ r_G,        H = J (RᵀR)⁻¹ Jᵀ

with r their residuals, J their rows and R of linearized_map.py. Groups of neighbors are left out in
turn, since a single reading adds little to what its neighbors show, and Σ δ_G δ_Gᵀ is the
covariance of the jackknife (Efron & Stein 1981; Bell & McCaffrey 2002 for groups). A model that is
too stiff misses the left-out readings by far more than it expects, and the field moves as far where
it depends on them alone.

Beyond a gap between the readings and a face of the domain, the field is an extrapolation. The
readings next to the gap, to the depth of the gap, are also left out together: their residuals test
an extrapolation of that length.
"""

import numpy as np
from jaxtyping import Float, Int

from pgt.inference import linear_algebra
from pgt.uncertainty.linearized_map import MIN_RESIDUAL_SHARE, MapEstimate

# The largest group of readings that is left out together; groups have three to five.
MAX_GROUP_SIZE = 5
# A gap needs this many readings within twice its width; with fewer it is the distance between
# readings.
MIN_READINGS_AT_GAP = 10
# A gap may contain this many readings.
MAX_READINGS_IN_GAP = 2


def neighbor_groups(
    points: Float[np.ndarray, "n d"], max_size: int = MAX_GROUP_SIZE
) -> list[Int[np.ndarray, " _"]]:
    """The numbers of the points in groups of neighbors.

    The points are halved repeatedly along the axis in which they differ most.

    >>> [group.tolist() for group in neighbor_groups(np.array([[0.0], [0.9], [0.1], [1.0]]), max_size=2)]
    [[0, 2], [1, 3]]
    """
    parts, found = [np.arange(len(points))], []
    while parts:
        part = parts.pop(0)
        if len(part) <= max_size:
            found.append(part)
            continue
        axis = int(np.argmax(np.ptp(points[part], axis=0)))
        ordered = part[np.argsort(points[part, axis], kind="stable")]
        parts += np.array_split(ordered, 2)
    return found


def gap_groups(points: Float[np.ndarray, "n d"]) -> list[Int[np.ndarray, " _"]]:
    """For every face of the unit box that readings stay away from, the numbers of the readings next
    to the gap.

    >>> line = np.linspace(0.2, 1, 81)[:, None]
    >>> [line[group].max().round(2).item() for group in gap_groups(line)]
    [0.44]
    """
    found = []
    for distances in (*points.T, *(1 - points.T)):
        ordered = np.sort(distances)
        group = np.flatnonzero(
            distances <= 2 * ordered[min(MAX_READINGS_IN_GAP, len(distances) - 1)]
        )
        if MIN_READINGS_AT_GAP < len(group) <= len(distances) // 2:
            found.append(group)
    return found


def steps_without(
    estimate: MapEstimate, groups: list[Int[np.ndarray, " _"]]
) -> Float[np.ndarray, "g p"]:
    """The step of the MAP estimate without the rows of each group of readings."""
    inverse = linear_algebra.back(estimate.stiff_factor, np.eye(len(estimate.stiff_factor)))
    rows = estimate.reading_rows[:, :-1] @ inverse
    residuals = estimate.reading_rows @ np.append(estimate.step, 1.0)
    found = []
    for group in groups:
        own = rows[group]
        shares, vectors = np.linalg.eigh(np.eye(len(group)) - own @ own.T)
        left_out = (vectors.T @ residuals[group]) / np.maximum(shares, MIN_RESIDUAL_SHARE)
        found.append(own.T @ (vectors @ left_out))
    return np.array(found) @ inverse.T


def jackknife_steps(
    estimate: MapEstimate, points: Float[np.ndarray, "n d"], count: int
) -> Float[np.ndarray, "count p"]:
    """Steps with the covariance of the jackknife, in pairs ±; `points` are those of the readings,
    in the unit box.
    """
    each = len(estimate.reading_rows) // len(points)  # a reading has one row per field
    groups = [*neighbor_groups(points), *gap_groups(points)]
    rows = [(each * g[:, None] + np.arange(each)).ravel() for g in groups]
    found = steps_without(estimate, rows)
    steps = np.random.default_rng(0).standard_normal((count // 2, len(found))) @ found
    return np.concatenate([steps, -steps])
