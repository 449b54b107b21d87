"""The summit of the posterior of a network, to first order in its weights.

Second-order steps follow a curved valley, by shares of a step where it bends too much; the seconds end
long before its end. But the field itself is not bent: beside the fit it may be moved along the
derivatives of its weights, u = u_θ + J δ, by far more than θ could be (models/linearised.py). In that
space, equation and readings are rows that are linear in δ, and the most probable δ is one solve away:

    δ = argmin |r_d + J_d δ|² + w² |r_e + J_e δ|² + a |θ + δ|²

with σ, the stiffness w = σ / |r_e + J_e δ| and the prior a found in turn, as in posterior.py. Where clean
readings and a smooth field are followed by a small network, that takes away most of its error.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg
from jaxtyping import Float

from pgt.training.evidence import LEAST_DETERMINED, LEAST_FREE
from pgt.training.least_squares import Normal, Prior

ROUNDS = 4  # of σ, w and a: the misfit falls by decades from one to the next
SMALLEST_SIGMA = 1e-14  # of the spread: readings have no more digits
MOST_WEIGHTS = 4000
LEAST_LEFT = 1e-3  # of a reading that does not go into what is said at its place


class Summit(NamedTuple):
    """The step δ to the summit, R of the posterior there, σ of the readings and the stiffness w; by how
    much readings were missed at θ, and are at the summit, each by what the others say; the `cost` there,
    the mean square of readings and equation; the rows of readings at θ, what they are missed by last."""

    step: Float[np.ndarray, " p"]
    factor: Float[np.ndarray, "p p"]
    sigma: float
    stiffness: float
    missed_before: float
    left_out: float
    cost: float
    read: Float[np.ndarray, "n q"]


def summit(normal: Normal, prior: Prior, stiffest: float, untold: float) -> Summit | None:
    """From the rows at θ with equation and readings of one weight; the equation no stiffer than
    `stiffest`. What no reading tells of a coefficient, among the last of θ, is `untold` at most. None
    where rows are not finite, or a solve would take long."""
    theta = np.asarray(normal.jacobian.theta)
    is_sound = np.isfinite(normal.rows).all() and np.isfinite(normal.slope).all()
    if not is_sound or len(theta) > MOST_WEIGHTS or not theta.any():
        return None
    rows = np.column_stack([normal.jacobian.assembled(), normal.rows])
    read, physics = rows[: prior.rows], _triangle(rows[prior.rows :])
    held, is_weight = prior.held(theta), prior.mask(len(theta))
    # At first as if all weights were determined, and readings as noisy as they are missed at θ.
    sigma, stiffness = max(float(np.linalg.norm(read[:, -1])), SMALLEST_SIGMA), 1.0
    hold = sigma**2 / prior.count * is_weight.sum() / float(held @ held)
    unmet = float(np.linalg.norm(physics[:, -1]))
    for _ in range(ROUNDS):
        stiffness = float(np.clip(sigma / max(unmet, SMALLEST_SIGMA), 1.0, stiffest))
        firm = np.where(is_weight > 0, hold, sigma**2 / prior.count / untold**2)
        towards = np.column_stack([np.diag(np.sqrt(firm)), np.sqrt(hold) * held])
        whole = _triangle(np.concatenate([read, stiffness * physics, towards]))
        factor = whole[:-1, :-1]
        step = -scipy.linalg.solve_triangular(factor, whole[:-1, -1])
        sigma, hold = _revised(read, factor, step, hold, held, is_weight, prior.count)
        unmet = float(np.linalg.norm(physics @ np.append(step, 1.0)))
    inverse = scipy.linalg.solve_triangular(factor, read[:, :-1].T, trans=1)
    free = np.maximum(1 - np.sum(inverse**2, axis=0), LEAST_LEFT)
    missed = read @ np.append(step, 1.0)
    before, left_out = (float(np.linalg.norm(part)) for part in (read[:, -1], missed / free))
    cost = float(missed @ missed) + unmet**2
    return Summit(step, factor, sigma, stiffness, before, left_out, cost, read)


def _revised(read, factor, step, hold: float, held, is_weight, count: float):
    """σ as the readings are missed at the summit, and a, by the evidence (evidence.py)."""
    inverse = scipy.linalg.solve_triangular(factor, np.eye(len(step)))
    by_readings = float(np.sum((read[:, :-1] @ inverse) ** 2))
    missed = float(np.sum((read @ np.append(step, 1.0)) ** 2))
    free = max(count - by_readings, LEAST_FREE * count)
    sigma = max(float(np.sqrt(count * missed / free)), SMALLEST_SIGMA)
    weights = is_weight.sum() - hold * float(is_weight @ np.sum(inverse**2, axis=1))
    return sigma, sigma**2 / count * max(weights, LEAST_DETERMINED) / float(held @ held)


def _triangle(rows: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "q q"]:
    """R of the rows, as high as it is wide."""
    size = rows.shape[1]
    padded = np.concatenate([rows, np.zeros((max(size - len(rows), 0), size))])
    found = scipy.linalg.qr(padded, mode="r", check_finite=False)[0]
    return np.asarray(found)[:size]
