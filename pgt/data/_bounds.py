"""Axes and bounds of a domain, checked."""

import math
from collections.abc import Mapping, Sequence

from pgt.core.errors import InputError
from pgt.data.dates import are_counted, text

AXES = ("x", "y", "z", "t")


def check_names(bounds: Mapping, periodic: Sequence[str], units: Mapping[str, str]) -> None:
    """Every axis has a name that is known, and what is said of axes is said of these."""
    if not bounds:
        raise InputError("Domain() has no axes; write for example Domain(x=(0, 1), t=(0, 1)).")
    for axis in bounds:
        if axis not in AXES:
            raise InputError(f"Domain: unknown axis {axis!r}; the axes are named x, y, z and t.")
    for axis in periodic:
        if axis == "t":
            raise InputError("Domain: time cannot be periodic; remove 't' from `periodic`.")
    for argument, names in (("periodic", periodic), ("units", units)):
        for axis in names:
            if axis not in bounds:
                raise InputError(
                    f"Domain: `{argument}` names {axis!r}, which has no bounds; the domain's axes "
                    f"are {tuple(bounds)}."
                )


def limits_of(axis: str, pair) -> tuple[float, float]:
    """Two finite numbers, the lower one first."""
    try:
        low, high = (float(bound) for bound in pair)
    except (TypeError, ValueError):
        raise InputError(
            f"Domain({axis}={pair!r}): write the bounds as two numbers, {axis}=(0, 1)."
        ) from None
    if not (math.isfinite(low) and math.isfinite(high) and math.isfinite(high - low)):
        raise InputError(f"Domain({axis}=({low:g}, {high:g})): both bounds must be finite.")
    if low >= high:
        raise InputError(
            f"Domain({axis}=({low:g}, {high:g})): the lower bound must be below the upper one."
        )
    return low, high


def shown(axis: str, position: float, units: Mapping[str, str]) -> str:
    """A position along an axis as it was written: with all its digits, or as a date.

    >>> shown("x", 431256.75, {}), shown("t", 60.0, {"t": "seconds since 1970-01-01"})
    ('431256.75', '1970-01-01T00:01:00')
    """
    is_date = axis == "t" and are_counted(units)
    return text(position) if is_date else f"{position:.12g}"


def spanned(axis: str, bounds: tuple[float, float], units: Mapping[str, str]) -> str:
    """The same of two bounds: "(0, 1)"."""
    low, high = (shown(axis, bound, units) for bound in bounds)
    return f"({low}, {high})"


def no_wall(axis: str) -> str:
    """Why an axis has no wall."""
    if axis == "t":
        return "time has no walls; its start is `start()`."
    return (
        f"the domain is periodic along {axis}: no wall there; drop the condition or take '{axis}' out "
        "of the domain's `periodic`."
    )
