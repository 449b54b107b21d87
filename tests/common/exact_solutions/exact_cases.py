"""Every exact case of the zoo, of whatever kind."""

from exact_solutions import flow, scalar, solids, waves
from exact_solutions.case import ExactCase

ALL_PDES: tuple[ExactCase, ...] = (*scalar.CASES, *flow.CASES, *solids.CASES, *waves.CASES)
