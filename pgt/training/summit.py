"""The summit of the posterior of a network, to first order in its weights.

Second-order steps follow a curved valley, by shares of a step where it bends too much; the seconds end
long before its end. But the field itself is not bent: beside the fit it may be moved along the
derivatives of its weights, u = u_θ + J δ, by far more than θ could be (models/linearised.py). In that
space, equation and readings are rows that are linear in δ, and the most probable δ is one solve away:

    δ = argmin |r_d + J_d δ|² + w² |r_e + J_e δ|² + a |θ + δ|²

with σ, the stiffness w = σ / |r_e + J_e δ| and the prior a found in turn, as in posterior.py. Where clean
readings and a smooth field are followed by a small network, that takes away most of its error.

There it shows whether readings have noise, however little. What a network cannot follow it misses alike
in equation and readings; noise is in the readings alone, and an equation that is free to become stiff is
fulfilled many times better than they are.

Of noisy readings the posterior of so stiff an equation is too sure: it has solutions that no δ follows
closely. So it is softened, but not where it determines the field: there what is left open is nothing but
how soft it is.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from pgt.training import dense
from pgt.training.evidence import EXCEEDED, LEAST_DETERMINED, LEAST_FREE
from pgt.training.least_squares import Normal, Prior

ROUNDS = 4  # of σ, w and a: the misfit falls by decades from one to the next
ROUNDS_NEARBY = 2  # from where these ended with another w
SMALLEST_SIGMA = 1e-14  # of the spread: readings have no more digits
MOST_WEIGHTS, MOST_ON_GPU = 4000, 12_000  # of which a solve takes some seconds
LEAST_LEFT = 1e-3  # of a reading that does not go into what is said at its place
FREELY = 20.0  # an equation that may become so stiff tells noise from what a network cannot follow
NOISE = 5.0  # times better than readings: an equation fulfilled so well, and these have noise
SOFTER = (3.0, 5.0, 8.0, 12.0)  # w of noisy readings, the softest first
GROWS = 1.8  # times the mean variance at readings under a stiff equation: no softer one leaves more open
LEAST_NOISE = (
    1e-4  # of the spread: few instruments have less; small networks miss fields by so much
)


class Summit(NamedTuple):
    """The step δ to the summit, R of the posterior there, σ of the readings and the stiffness w; by how
    much readings were missed at θ, and are at the summit, each by what the others say; how many numbers
    readings determine, by how many σ what is said of them is `moved`; the `cost` there, the mean square
    of readings and equation; the rows of readings at θ, what they are missed by last; R with which δ was
    found, where the posterior is softer; and whether it is noise that readings are missed by."""

    step: Float[np.ndarray, " p"]
    factor: Float[np.ndarray, "p p"]
    sigma: float
    stiffness: float
    missed_before: float
    left_out: float
    determined: float
    moved: float
    cost: float
    read: Float[np.ndarray, "n q"]
    firm: Float[np.ndarray, "p p"]
    is_noise: bool = False

    def around(self, other: "Summit") -> "Summit":
        """The posterior of another stiffness around this summit, of noisy readings."""
        return self._replace(
            factor=other.factor, sigma=other.sigma, stiffness=other.stiffness,
            determined=other.determined, is_noise=True,
        )  # fmt: skip


def summit(normal: Normal, prior: Prior, untold: float) -> Summit | None:
    """From the rows at θ with equation and readings of one weight. What no reading tells of a
    coefficient, among the last of θ, is `untold` at most. None where rows are not finite, or a solve
    would take long."""
    theta = np.asarray(normal.jacobian.theta)
    is_sound = np.isfinite(normal.rows).all() and np.isfinite(normal.slope).all()
    most = MOST_WEIGHTS if dense.on_host() else MOST_ON_GPU
    if not is_sound or len(theta) > most or not theta.any():
        return None
    rows = np.column_stack([normal.jacobian.assembled(), normal.rows])
    parts = rows[: prior.rows], dense.triangle(rows[prior.rows :])
    start = _start(*parts, theta, prior)
    found, end = _climbed(*parts, theta, prior, FREELY, untold, start)
    if found.stiffness < NOISE or found.sigma < LEAST_NOISE:
        return found
    for stiffness in SOFTER:
        softer, _ = _climbed(*parts, theta, prior, stiffness, untold, end, rounds=ROUNDS_NEARBY)
        if softer.determined <= GROWS * found.determined:
            return found.around(softer)
    return found.around(found)


class Start(NamedTuple):
    """σ, the prior a and by how much the equation is missed, from which they are found in turn."""

    sigma: float
    hold: float
    unmet: float


def _start(read, physics, theta, prior: Prior) -> Start:
    """As if all weights were determined, and readings as noisy as they are missed at θ."""
    held, count = prior.held(theta), prior.mask(len(theta)).sum()
    sigma = max(float(np.linalg.norm(read[:, -1])), SMALLEST_SIGMA)
    hold = sigma**2 / prior.count * count / float(held @ held)
    return Start(sigma, hold, float(np.linalg.norm(physics[:, -1])))


def _climbed(
    read,
    physics,
    theta,
    prior: Prior,
    stiffest: float,
    untold: float,
    start: Start,
    rounds: int = ROUNDS,
) -> tuple[Summit, Start]:
    """From the rows of readings and physics, their values in the last column, after some rounds."""
    held, is_weight = prior.held(theta), prior.mask(len(theta))
    sigma, hold, unmet = start
    for _ in range(rounds):
        stiffness = float(np.clip(sigma / max(unmet, SMALLEST_SIGMA), 1.0, stiffest))
        firm = np.where(is_weight > 0, hold, sigma**2 / prior.count / untold**2)
        towards = np.column_stack([np.diag(np.sqrt(firm)), np.sqrt(hold) * held])
        whole = dense.triangle(np.concatenate([read, stiffness * physics, towards]))
        factor = whole[:-1, :-1]
        step = -dense.back(factor, whole[:-1, -1])
        sigma, hold = _revised(read, factor, step, hold, held, is_weight, prior)
        unmet = float(np.linalg.norm(physics @ np.append(step, 1.0)))
    inverse = dense.back(factor, read[:, :-1].T, transposed=True)
    free = np.maximum(1 - np.sum(inverse**2, axis=0), LEAST_LEFT)
    missed = read @ np.append(step, 1.0)
    before, left_out = (float(np.linalg.norm(part)) for part in (read[:, -1], missed / free))
    moved = float(np.linalg.norm(read[:, :-1] @ step)) / sigma
    determined, cost = float(np.sum(inverse**2)), float(missed @ missed) + unmet**2
    found = Summit(
        step, factor, sigma, stiffness, before, left_out, determined, moved, cost, read, factor
    )
    return found, Start(sigma, hold, unmet)


def _revised(read, factor, step, hold: float, held, is_weight, prior: Prior):
    """σ as the readings are missed at the summit, or as it is given, and a, by the evidence
    (evidence.py)."""
    inverse = dense.back(factor, np.eye(len(step)))
    by_readings = float(np.sum((read[:, :-1] @ inverse) ** 2))
    missed = float(np.sum((read @ np.append(step, 1.0)) ** 2))
    free = max(prior.count - by_readings, LEAST_FREE * prior.count)
    sigma = max(float(np.sqrt(prior.count * missed / free)), SMALLEST_SIGMA)
    sigma = prior.given if sigma < EXCEEDED * prior.given else sigma
    weights = is_weight.sum() - hold * float(is_weight @ np.sum(inverse**2, axis=1))
    return sigma, sigma**2 / prior.count * max(weights, LEAST_DETERMINED) / float(held @ held)
