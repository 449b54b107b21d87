"""The period of a run that repeats, its mean and its harmonics."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize_scalar

LONGEST = 0.9  # period, in shares of the run
FINENESS = 0.1  # of the frequencies tried first, in cycles of the run
PATTERNS = 8  # by whose course in time a period is found
PARTS = 3.0  # times what a period leaves: a half or a third of it that leaves less is the period
STILL = 1e-6  # of the spread: what varies less does not change in time


class Cycle(NamedTuple):
    """Mean, cosines and sines (1 + 2 harmonics, *space); what they leave, in shares of the spread."""

    period: float
    modes: Float[np.ndarray, "m *space"]
    rest: float


def cycle_of(
    values: Float[np.ndarray, "t *space"], t: Float[np.ndarray, " t"], harmonics: int
) -> Cycle:
    """The cycle that passes nearest to a run; phase 0 is at its first instant.

    >>> t = np.linspace(0, 2.5, 26)
    >>> found = cycle_of(3 + np.cos(2 * np.pi * t), t, harmonics=1)
    >>> round(found.period, 6), abs(found.modes).round(6).tolist()
    (1.0, [3.0, 1.0, 0.0])
    """
    t = t - t[0]
    flat = values.reshape(len(t), -1).astype(float)
    varying = flat - flat.mean(axis=0)
    if np.linalg.norm(varying) <= STILL * np.linalg.norm(flat):
        modes = np.zeros((1 + 2 * harmonics, *values.shape[1:]), np.float32)
        modes[0] = values.mean(axis=0)
        return Cycle(float(t[-1]), modes, 0.0)
    period = _period(_courses(varying), t, harmonics)
    along = waves(t / period, harmonics, np)
    modes = np.linalg.lstsq(along, flat, rcond=None)[0]
    rest = float(np.linalg.norm(flat - along @ modes) / np.linalg.norm(flat - flat.mean()))
    return Cycle(period, modes.reshape(-1, *values.shape[1:]).astype(np.float32), rest)


def waves(turns: Any, harmonics: int, module: Any) -> Any:
    """1, then cosines, then sines of 1 to `harmonics` cycles a turn: one row for each phase."""
    angles = 2 * np.pi * turns[:, None] * np.arange(1, harmonics + 1)
    ones = module.ones((len(turns), 1))
    return module.concatenate([ones, module.cos(angles), module.sin(angles)], axis=1)


def _courses(varying: Float[np.ndarray, "t n"]) -> Float[np.ndarray, "t k"]:
    """How the largest patterns come and go: what is small beside them decides no period."""
    sizes, courses = np.linalg.eigh(varying @ varying.T)
    return (courses * np.sqrt(np.maximum(sizes, 0)))[:, -PATTERNS:]


def _period(courses: Float[np.ndarray, "t k"], t: Float[np.ndarray, " t"], harmonics: int) -> float:
    """That whose harmonics leave least: tried finely enough not to miss it, then made exact."""

    def left(frequency: float) -> float:
        basis = np.linalg.qr(waves(t * frequency, harmonics, np))[0]
        return float(np.linalg.norm(courses - basis @ (basis.T @ courses)))

    lowest, highest = 1 / LONGEST, max((len(t) - 1) / 4, 2.0)
    step = FINENESS / t[-1]
    tried = np.arange(lowest, highest, FINENESS) / t[-1]
    best = _least(left, tried[np.argmin([left(frequency) for frequency in tried])], step)
    # Two periods pass through a slow change as well, which is no reason to take them for one.
    parts = [_least(left, n * best, step) for n in (3, 2) if n * best < tried[-1]]
    near = [frequency for frequency in parts if left(frequency) < PARTS * left(best)]
    return float(1 / (near[0] if near else best))


def _least(left: Callable[[float], float], about: float, step: float) -> float:
    bounds, exactly = (about - step, about + step), {"xatol": 1e-7 * about}
    found: Any = minimize_scalar(left, bounds=bounds, method="bounded", options=exactly)
    return float(found.x)
