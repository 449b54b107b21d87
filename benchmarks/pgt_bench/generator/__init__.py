"""Problems drawn from a seed: kinds of equations with known solutions, read and posed at random.

draws: numbers, units, states ──► linear, planes, evolved: cases of a kind ──► problem: how one is read
                                                         comparison: ours beside rivals, seed by seed
"""

import numpy as np

from pgt_bench.generator import evolved, linear, planes
from pgt_bench.generator.draws import Draw
from pgt_bench.generator.problem import Problem, posed

KINDS = {**linear.KINDS, **planes.KINDS, **evolved.KINDS}
REPORTED = 1000  # seeds from here on are for reporting; those below, for tuning
_ORDER = 7  # of the shuffles of kinds


def draw(seed: int) -> Problem:
    """The problem of a seed.

    >>> draw(3).name == kind_of(3)
    True
    """
    return draw_kind(kind_of(seed), seed)


def kind_of(seed: int) -> str:
    """The kind of a seed's problem: every kind once in as many consecutive seeds as there are kinds.

    >>> len({kind_of(seed) for seed in range(len(KINDS))}) == len(KINDS) == 30
    True
    """
    turn, place = divmod(seed, len(KINDS))
    return str(np.random.default_rng((_ORDER, turn)).permutation(sorted(KINDS))[place])


def draw_kind(kind: str, seed: int) -> Problem:
    """A problem of one kind."""
    source = Draw(np.random.default_rng((seed, *kind.encode())))
    return posed(source, kind, KINDS[kind](source))
