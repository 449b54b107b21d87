"""Axes and bounds of a domain, checked."""

import math
from collections.abc import Mapping, Sequence

from pgt.ground.errors import InputError

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


def no_wall(axis: str) -> str:
    """Why an axis has no wall."""
    if axis == "t":
        return "time has no walls; its start is `start()`."
    return (
        f"the domain is periodic along {axis}: no wall there; drop the condition or take '{axis}' out "
        "of the domain's `periodic`."
    )
