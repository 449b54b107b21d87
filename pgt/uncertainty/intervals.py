"""Intervals of learned coefficients, and which coefficients are not identified.

If the readings do not determine a coefficient, its interval is wide. A coefficient may also be
unidentified: its terms have vanished from the equation, or it is orders of magnitude from the first
guess. If the equation is hardly fulfilled, the field may follow the readings closely with a coefficient
near zero, and that number means nothing.

Intervals are symmetric in the learned number `raw`: the logarithm of a positive coefficient, the logit of
a bounded one, and otherwise the coefficient in its unit.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy import special, stats

from pgt.core.errors import InputError
from pgt.core.numbers import number, percent
from pgt.core.unknown import Unknown, named_coefficients
from pgt.nn.trees import is_double, precision
from pgt.uncertainty.members import Members, require_members

# A coefficient is not determined if the standard deviation of its logarithm, or its relative standard
# deviation, exceeds the first limit. Near zero the second limit counts instead, in the unit at which its
# term balances the others.
MAX_RELATIVE_DEVIATION, MAX_DEVIATION_NEAR_ZERO = 0.5, 0.05
# A bounded coefficient is not determined if its interval covers more than this share, times the level, of
# the admissible range.
MAX_INTERVAL_SHARE = 0.8
# A coefficient within this share of the admissible range from a bound is at the bound.
BOUND_MARGIN = 0.01
# Two coefficients are reported as tied if their absolute correlation is larger.
MIN_TIED_CORRELATION = 0.95
# The default level of an interval.
DEFAULT_LEVEL = 0.9
# A fit is not at the maximum of its posterior if one more step would move a coefficient, or the
# predictions of the readings, by more than this share of their standard deviation.
MAX_REMAINING_STEP = 0.5


class Estimate(NamedTuple):
    """A learned coefficient with its interval, and whether the readings determine it.

    >>> print(Estimate(0.01, 0.0098, 0.0103, True, "").in_words.replace("\N{NO-BREAK SPACE}", " "))
    0.01, with 90 % between 0.0098 and 0.0103
    """

    value: float
    lower: float
    upper: float
    determined: bool
    note: str
    level: float = DEFAULT_LEVEL

    @property
    def in_words(self) -> str:
        """The value, the level and the interval in words."""
        between = f"between {number(self.lower, 4)} and {number(self.upper, 4)}"
        return f"{number(self.value, 4)}, with {percent(self.level)} {between}"


def intervals(
    members: Members | None,
    level: float = DEFAULT_LEVEL,
    remaining_step: float = 0.0,
    shifts: Mapping[str, float] = MappingProxyType({}),
) -> dict[str, Estimate]:
    """The learned coefficients by name, with intervals that hold the true value at the given level.

    They are symmetric in the learned number. A posterior is Gaussian there; for an ensemble, Student's t
    accounts for the small number of members. If the interval is so wide that it says next to nothing, the
    coefficient is not `determined`, and `note` says why.

    `remaining_step` is the change of a coefficient by one more step of the fit, in standard deviations.
    The intervals of a fit that has not converged may not hold the truth, and the note says so. `shifts`
    are the shares by which the residual of the equations may shift each coefficient; no interval is
    narrower.
    """
    members = require_members(members)
    if not 0 < level < 1:
        raise InputError(f"intervals(level={level!r}): write a number between 0 and 1, as 0.9.")
    with precision(is_double(members)):
        named = named_coefficients(members.pdes)
    raws = {name: np.asarray(node.raw, float) for name, node in named}
    is_posterior = members.is_posterior
    distribution = stats.norm if is_posterior else stats.t(len(members) - 1)
    quantile, estimates = float(distribution.ppf((1 + level) / 2)), {}
    for name, node in named:
        middle, deviation = _moments(raws[name], is_posterior)
        tied_note = partial(_tied_note, name, raws)
        shift = shifts.get(name, 0.0)
        estimates[name] = _estimate(
            node, middle, deviation, quantile, level, remaining_step, shift, tied_note
        )
    return estimates


def interval_of_fit(
    node: Unknown,
    deviation: float,
    level: float = DEFAULT_LEVEL,
    remaining_step: float = 0.0,
    shift: float = 0.0,
) -> Estimate:
    """The interval of a learned coefficient whose learned number has this standard deviation."""
    quantile = float(stats.norm.ppf((1 + level) / 2))
    return _estimate(node, float(node.raw), deviation, quantile, level, remaining_step, shift)


def _estimate(
    node: Unknown,
    middle: float,
    deviation_of_members: float,
    quantile: float,
    level: float,
    remaining_step: float,
    shift: float,
    tied_note: Callable[[], str] = str,
) -> Estimate:
    """The estimate from the middle of the learned number and its deviation over the members."""
    deviation = max(deviation_of_members, _deviation(node, middle, shift))
    reach = quantile * deviation
    value, lower, upper = (_value(node, raw) for raw in (middle, middle - reach, middle + reach))
    why_undetermined = _why_undetermined(node, middle, deviation, upper - lower, level)
    shifted = _shift_note(shift) if why_undetermined and deviation > deviation_of_members else ""
    main_note = _bound_note(node, value) or (
        why_undetermined + tied_note() if why_undetermined else ""
    )
    note = "; ".join(filter(None, (main_note, shifted, _step_note(remaining_step))))
    return Estimate(value, lower, upper, not why_undetermined, note, level)


def _moments(raw: Float[np.ndarray, " k"], is_posterior: bool) -> tuple[float, float]:
    """(median, standard deviation) of the learned number over the members.

    The middle of a posterior is known, that of an ensemble is estimated.
    """
    return float(np.median(raw)), float(np.std(raw, ddof=0 if is_posterior else 1))


def _deviation(node: Unknown, raw: float, share: float) -> float:
    """The standard deviation of the learned number if the coefficient may be off by a share of itself."""
    if node.bounds is not None:
        position = float(special.expit(raw))
        low, high = node.bounds
        slope = max((high - low) * position * (1 - position), np.finfo(float).tiny)
        return share * abs(low + (high - low) * position) / slope
    return share if node.positive else share * abs(raw)


def _shift_note(share: float) -> str:
    return f"the residual of its equation may shift it by {percent(share)}"


def _value(node: Unknown, raw: float) -> float:
    """The coefficient whose learned number is `raw`."""
    with np.errstate(over="ignore"):
        if node.bounds is not None:
            low, high = node.bounds
            return float(low + (high - low) * special.expit(raw))
        return float(np.exp(raw) if node.positive else node.unit * raw)


def _why_undetermined(
    node: Unknown, middle: float, deviation: float, width: float, level: float
) -> str:
    """Why a coefficient is not determined; empty if it is."""
    if node.bounds is not None:
        low, high = node.bounds
        is_known = width <= MAX_INTERVAL_SHARE * level * (high - low)
        why = f"the interval is most of what the bounds {low:g} and {high:g} allow"
    elif node.positive:
        is_known = deviation <= MAX_RELATIVE_DEVIATION
        why = f"its logarithm has the standard deviation {deviation:.2g}"
    else:
        is_known = deviation <= max(MAX_RELATIVE_DEVIATION * abs(middle), MAX_DEVIATION_NEAR_ZERO)
        why = f"its standard deviation is {node.unit * deviation:.2g}"
    return "" if is_known else f"not determined by the readings: {why}"


def _tied_note(name: str, raws: dict[str, Float[np.ndarray, " k"]]) -> str:
    """The other coefficients that can change together with this one while the fit stays the same."""
    others = [
        other for other, raw in raws.items()
        if other != name and abs(np.corrcoef(raws[name], raw)[0, 1]) > MIN_TIED_CORRELATION
    ]  # fmt: skip
    return f"; it is tied to {', '.join(others)}" if others else ""


def _step_note(remaining_step: float) -> str:
    if remaining_step <= MAX_REMAINING_STEP:
        return ""
    return (
        f"the polish had not converged, one more step would move a coefficient by {remaining_step:.1f} "
        "standard deviations: do not trust the interval, and give training.polish more iterations"
    )


def _bound_note(node: Unknown, value: float) -> str:
    if node.bounds is None:
        return ""
    low, high = node.bounds
    is_inside = BOUND_MARGIN * (high - low) < min(value - low, high - value)
    return "" if is_inside else "at its bound: the readings ask for one beyond"


# A coefficient is unidentified if its terms are less than this share of the size of every equation's
# terms.
MIN_TERM_SHARE = 1e-3
# A positive coefficient is unidentified if the ends of its interval differ by a larger factor.
MAX_INTERVAL_RATIO = 10.0
# A positive coefficient is unidentified if it differs from the first guess by a larger factor.
MAX_RATIO_TO_FIRST_GUESS = 1e4


def why_unidentified(
    node: Unknown,
    share: float | None = None,
    estimate: Estimate | None = None,
    first: float | None = None,
) -> str:
    """Why a coefficient is not identified; empty if it is.

    `share` is the share of its equation that depends on it, and `first` is its first guess, if they are
    known. A coefficient of either sign may be zero, so it is never called unidentified.
    """
    if node.is_plain:
        return ""
    if share is not None and share < MIN_TERM_SHARE:
        return (
            f"its terms are {percent(share)} of the size of the equation's, as if it were not there. "
            "Either leave them out, or begin closer to what is expected"
        )
    if (
        estimate is not None
        and node.positive
        and estimate.upper > MAX_INTERVAL_RATIO * estimate.lower
    ):
        ends = f"{number(estimate.lower, 2)} and {number(estimate.upper, 2)}"
        return f"not determined by the readings: it may as well be anything between {ends}"
    is_known = estimate is not None and estimate.determined
    return "" if is_known else why_far_from_first_guess(node, first)


def why_far_from_first_guess(node: Unknown, first: float | None) -> str:
    """A text that says so if a positive coefficient is orders of magnitude from its first guess."""
    value = float(node.value)
    if (
        not first
        or not node.positive
        or 1 / MAX_RATIO_TO_FIRST_GUESS < value / first < MAX_RATIO_TO_FIRST_GUESS
    ):
        return ""
    return (
        f"it ended at {number(value / first, 2)} times its first guess, {number(first, 2)}. Check the "
        "units of both, or begin closer to what is expected"
    )
