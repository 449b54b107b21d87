"""Every exact case of the zoo, of whatever kind."""

from pgt.physics.exact import flow, scalar, solids, waves
from pgt.physics.exact.case import ExactCase

ALL_PDES: tuple[ExactCase, ...] = (*scalar.CASES, *flow.CASES, *solids.CASES, *waves.CASES)
