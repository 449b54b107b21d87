"""Learnt coefficients that a fit has lost: gone from their equation, anyone's guess, or far away.

Where an equation is hardly fulfilled, the readings are explained as well with a coefficient
that is next to nothing: the field may follow them closely, and the number means nothing all the same.
"""

from pgt.ground.numbers import number, percent
from pgt.ground.unknown import Unknown
from pgt.trust.intervals import Estimate

GONE = 1e-3  # of the size of the terms of every equation it is in
VAGUE = 10.0  # times, from one end of an interval to the other
FAR = 1e4  # times the first guess, or one such part of it


def why_lost(
    node: Unknown,
    share: float | None = None,
    estimate: Estimate | None = None,
    first: float | None = None,
) -> str:
    """Why a coefficient means nothing; nothing where it may be believed.

    `share` is how much of its equation hangs on it, `first` its first guess; each where it is known. A
    coefficient that may have either sign may be zero as well as not: nothing is lost of it.
    """
    if node.is_plain:
        return ""
    if share is not None and share < GONE:
        return (
            f"its terms are {percent(share)} of the size of the equation's, as if it were not there. "
            "Either leave them out, or begin closer to what is expected"
        )
    if estimate is not None and node.positive and estimate.upper > VAGUE * estimate.lower:
        ends = f"{number(estimate.lower, 2)} and {number(estimate.upper, 2)}"
        return f"not determined by the readings: it may as well be anything between {ends}"
    is_known = estimate is not None and estimate.determined
    return "" if is_known else far_from(node, first)


def far_from(node: Unknown, first: float | None) -> str:
    """That a positive coefficient has left its first guess far behind, where it has."""
    value = float(node.value)
    if not first or not node.positive or 1 / FAR < value / first < FAR:
        return ""
    return (
        f"it ended at {number(value / first, 2)} times its first guess, {number(first, 2)}. Check the "
        "units of both, or begin closer to what is expected"
    )
