"""All problems by name, and the two halves of them."""

from pgt.bench.zoo.problem import ZooProblem
from pgt.bench.zoo.problems import (
    chaotic,
    dispersive,
    elliptic,
    flow,
    hyperbolic,
    parabolic,
    reaction,
)
from pgt.ground.errors import InputError
from pgt.ground.parser import suggestion

MODULES = (parabolic, hyperbolic, elliptic, dispersive, chaotic, reaction, flow)
ALL = {problem.name: problem for module in MODULES for problem in module.PROBLEMS}
TUNED, HELD_BACK = "tuned", "held-back"


def names(half: str | None = None) -> tuple[str, ...]:
    """The names of all problems, or of those that defaults were tuned on, or of those held back."""
    if half not in (None, TUNED, HELD_BACK):
        raise InputError(f"there is no half {half!r}; write {TUNED!r} or {HELD_BACK!r}.")
    wanted = {None: (True, False), TUNED: (True,), HELD_BACK: (False,)}[half]
    return tuple(name for name, problem in ALL.items() if problem.tuned_on in wanted)


def get(name: str) -> ZooProblem:
    """One problem.

    >>> get("beltrami").domain.axes
    ('x', 'y', 'z', 't')
    """
    if name not in ALL:
        raise InputError(f"the zoo has no problem {name!r}.{suggestion(name, ALL)}")
    return ALL[name]
