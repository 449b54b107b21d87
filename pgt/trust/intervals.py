"""Intervals of learnt coefficients, and whether the readings determine them at all."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special, stats

from pgt.ground.errors import InputError
from pgt.ground.numbers import number, percent
from pgt.ground.unknown import Unknown, named_unknowns
from pgt.nn.precision import is_double, precision
from pgt.trust.members import Members, required

# Standard deviation of the logarithm, or share of the value, from which nothing is known.
VAGUE = 0.5
SMALL = 0.05  # of the unit, at which its term balances the others: known to be about zero
WIDE = 0.8  # share of the admissible range that an interval may have
AT_BOUND = 0.01  # share of the admissible range
TIED = 0.95  # correlation
LEVEL = 0.9  # of an interval, where none is asked for
TINY = np.finfo(float).tiny
RESTLESS = 0.5  # standard deviations by which one more step would move a coefficient


class Estimate(NamedTuple):
    """A learnt coefficient: its value, the interval around it, and whether it is determined.

    >>> print(Estimate(0.01, 0.0098, 0.0103, True, "").in_words.replace("\N{NO-BREAK SPACE}", " "))
    0.01, with 90 % between 0.0098 and 0.0103
    """

    value: float
    lower: float
    upper: float
    determined: bool
    note: str
    level: float = LEVEL

    @property
    def in_words(self) -> str:
        """Value, level and interval."""
        between = f"between {number(self.lower, 4)} and {number(self.upper, 4)}"
        return f"{number(self.value, 4)}, with {percent(self.level)} {between}"


def intervals(
    members: Members | None,
    level: float = LEVEL,
    unrest: float = 0.0,
    moves: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, Estimate]:
    """The learnt coefficients by name, with intervals that hold the true value at the level asked for.

    They are symmetric in the number that is learnt: the logarithm of a positive coefficient, the logit
    of one with bounds. A posterior is Gaussian there; of an ensemble, Student's t allows for its few
    members. A coefficient is not `determined` where the interval says next to nothing; `note` says why.

    `unrest` is how far the fit was from rest, in standard deviations of a coefficient: intervals around
    a fit that was still on its way need not hold anything, and the note says so. `moves` are the shares
    of coefficients by which what is left of their equations may move them: no interval is narrower.
    """
    members = required(members)
    if not 0 < level < 1:
        raise InputError(f"intervals(level={level!r}): write a number between 0 and 1, as 0.9.")
    with precision(is_double(members)):
        named = named_unknowns(members.pdes)
    raws = {name: np.asarray(node.raw, float) for name, node in named}
    is_posterior = members.is_posterior
    found = {}
    for name, node in named:
        middle, own = _moments(raws[name], is_posterior)
        deviation = max(own, _deviation(node, middle, moves.get(name, 0.0)))
        within = stats.norm if is_posterior else stats.t(len(members) - 1)
        reach = float(within.ppf((1 + level) / 2)) * deviation
        value, lower, upper = (
            _value(node, raw) for raw in (middle, middle - reach, middle + reach)
        )
        why = _why_not(node, middle, deviation, upper - lower, level)
        moved = _by_residual(moves.get(name, 0.0)) if why and deviation > own else ""
        about = why + _tied_to(name, raws) if why else _at_bound(node, value)
        note = "; ".join(filter(None, (about, moved, _on_its_way(unrest))))
        found[name] = Estimate(value, lower, upper, not why, note, level)
    return found


def estimated(
    node: Unknown, own: float, level: float = LEVEL, unrest: float = 0.0, move: float = 0.0
) -> Estimate:
    """A learnt coefficient of such a standard deviation, of which there are no members."""
    deviation = max(own, _deviation(node, float(node.raw), move))
    middle, within = float(node.raw), float(stats.norm.ppf((1 + level) / 2)) * deviation
    value, lower, upper = (_value(node, raw) for raw in (middle, middle - within, middle + within))
    why = _why_not(node, middle, deviation, upper - lower, level)
    moved = _by_residual(move) if why and deviation > own else ""
    note = "; ".join(filter(None, (_at_bound(node, value) or why, moved, _on_its_way(unrest))))
    return Estimate(value, lower, upper, not why, note, level)


def _moments(raw: Float[np.ndarray, " k"], is_posterior: bool) -> tuple[float, float]:
    """Middle and standard deviation; the middle of a posterior is known, that of an ensemble is not."""
    return float(np.median(raw)), float(np.std(raw, ddof=0 if is_posterior else 1))


def _deviation(node: Unknown, raw: float, share: float) -> float:
    """Of the number that is learnt, where the coefficient may be off by a share of itself."""
    if node.bounds is not None:
        part = float(special.expit(raw))
        low, high = node.bounds
        return share * abs(low + (high - low) * part) / max((high - low) * part * (1 - part), TINY)
    return share if node.positive else share * abs(raw)


def _by_residual(share: float) -> str:
    return f"what is left over of its equation may move it by {percent(share)}"


def _value(node: Unknown, raw: float) -> float:
    """What a coefficient is worth whose learnt number is `raw`."""
    with np.errstate(over="ignore"):
        if node.bounds is not None:
            low, high = node.bounds
            return float(low + (high - low) * special.expit(raw))
        return float(np.exp(raw) if node.positive else node.unit * raw)


def _why_not(node: Unknown, middle: float, deviation: float, width: float, level: float) -> str:
    """Why a coefficient is not determined; nothing where it is."""
    if node.bounds is not None:
        low, high = node.bounds
        known = width <= WIDE * level * (high - low)
        why = f"the interval is most of what the bounds {low:g} and {high:g} allow"
    elif node.positive:
        known = deviation <= VAGUE
        why = f"its logarithm has the standard deviation {deviation:.2g}"
    else:
        known = deviation <= max(VAGUE * abs(middle), SMALL)
        why = f"its standard deviation is {node.unit * deviation:.2g}"
    return "" if known else f"not determined by the readings: {why}"


def _tied_to(name: str, raws: dict[str, Float[np.ndarray, " k"]]) -> str:
    """The other coefficients with which this one can change and nothing be seen of it."""
    others = [
        other for other, raw in raws.items()
        if other != name and abs(np.corrcoef(raws[name], raw)[0, 1]) > TIED
    ]  # fmt: skip
    return f"; it is tied to {', '.join(others)}" if others else ""


def _on_its_way(unrest: float) -> str:
    if unrest <= RESTLESS:
        return ""
    return (
        f"the polish had not come to rest, one more step would move a coefficient by {unrest:.1f} "
        "standard deviations: do not trust the interval, and give training.polish more iterations"
    )


def _at_bound(node: Unknown, value: float) -> str:
    if node.bounds is None:
        return ""
    low, high = node.bounds
    is_inside = AT_BOUND * (high - low) < min(value - low, high - value)
    return "" if is_inside else "at its bound: the readings ask for one beyond"
