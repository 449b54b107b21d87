"""What a sum of sines can afford in the seconds of a fit.

A solve takes as long as the cube of the number of its weights. A small one, timed first, says how many
sines there can be; the clock is asked before every further band and linearisation.
"""

import math
import time

import numpy as np

from pgt.training.gaussian import Rows, most_probable

PROBE = 120  # weights of the solve that is timed: so small that it is not shared among cores
PROBES = 3  # the quickest counts: on cores that others use, one may take thirty times as long
ROWS_PER_WEIGHT = 1.7
TURNS = 12  # linearisations that one band may need
LAST = 0.5  # of the seconds: what the last and largest band may take
FEWEST = 24  # sines per field: with fewer there is nothing to be seen


class Deadline:
    """The seconds of a fit, which began now; None: as long as it takes."""

    def __init__(self, seconds: float | None):
        self.seconds, self.began = seconds, time.monotonic()

    @property
    def spent(self) -> float:
        return time.monotonic() - self.began

    def allows(self, expected: float, share: float = 1.0) -> bool:
        """Whether so much more is possible within a share of the seconds."""
        return self.seconds is None or self.spent + expected <= share * self.seconds

    def sines(self, count: int, fields: int, at_once: bool) -> int:
        """As many of `count` sines per field as can be solved for in time."""
        if self.seconds is None:
            return count
        probed = min(PROBE, count * fields)
        each = seconds_of_solve(probed) * (1 if at_once else TURNS)
        most = probed * math.cbrt(LAST * self.seconds / each)
        return min(count, max(int(most / fields), FEWEST))

    def sines_left(self, count: int, wanted: int, took: float, share: float = 1.0) -> int:
        """Where `count` sines took so long, as many of those wanted as there is time left for, within a
        share of the seconds."""
        if self.seconds is None:
            return wanted
        left = max(share * self.seconds - self.spent, 0.0)
        return min(wanted, int(count * math.cbrt(left / max(took, 1e-9))))


def seconds_of_solve(size: int) -> float:
    """How long this machine takes for a problem of so many weights."""
    random = np.random.default_rng(0)
    equation, readings = random.normal(size=(math.ceil(ROWS_PER_WEIGHT * size), size)), size // 2
    seen, values = random.normal(size=(readings, size)), random.normal(size=readings)
    rows = Rows(equation, np.zeros(len(equation)), seen, values, np.ones(readings))
    return max(min(_timed(rows) for _ in range(PROBES)), 1e-6)


def _timed(rows: Rows) -> float:
    began = time.monotonic()
    most_probable(rows)
    return time.monotonic() - began
