"""All problems by name, and the groups of them."""

from pgt.core.errors import InputError
from pgt.core.parser import suggestion
from pgt_bench.zoo.problem import GROUPS, ZooProblem
from pgt_bench.zoo.problems import (
    chaotic,
    dispersive,
    elliptic,
    flow,
    hyperbolic,
    later_in_line,
    later_in_space,
    parabolic,
    reaction,
)

KINDS = (parabolic, hyperbolic, elliptic, dispersive, chaotic, reaction, flow)
MODULES = (*KINDS, later_in_line, later_in_space)
ALL = {problem.name: problem for module in MODULES for problem in module.PROBLEMS}


def names(group: str | None = None) -> tuple[str, ...]:
    """The names of all problems, or of one group: those that defaults were tuned on, those held back, or
    those added later.

    >>> [len(names(group)) for group in GROUPS]
    [20, 18, 22]
    """
    if group not in (None, *GROUPS):
        raise InputError(f"there is no group {group!r}; write one of {', '.join(GROUPS)}.")
    return tuple(name for name, problem in ALL.items() if group in (None, problem.group))


def get(name: str) -> ZooProblem:
    """One problem.

    >>> get("beltrami").domain.axes
    ('x', 'y', 'z', 't')
    """
    if name not in ALL:
        raise InputError(f"the zoo has no problem {name!r}.{suggestion(name, ALL)}")
    return ALL[name]
