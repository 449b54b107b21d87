"""What the page asks for, checked: every mistake is one sentence."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from pgt.ground.errors import InputError
from pgt.ground.numbers import listed, number
from pgt.live.source import TIME, Rig, has_instants, places

MOST_SENSORS = 1000
MOST_NOISE = 1.0  # of the spread of a field
MOST_SEED = 2**31 - 1
KEYS = ("sensors", "off", "noise", "coefficients", "seed", "instant", "field")


@dataclass(frozen=True)
class Wish:
    """Sensors at places of the picture, which of them are silent, and the system they stand on."""

    sensors: Float[np.ndarray, "n 2"]
    off: frozenset[int]
    noise: float
    coefficients: dict[str, float]
    seed: int
    instant: int | None
    field: str


def read_wish(text: bytes, rig: Rig) -> Wish:
    """A wish from JSON; what is left out has a default."""
    given = _object(text)
    if strange := [key for key in given if key not in KEYS]:
        raise InputError(f"there is no key {strange[0][:40]!r}; known are {listed(KEYS)}.")
    sensors = _sensors(given.get("sensors", []), rig)
    return Wish(
        sensors=sensors,
        off=_off(given.get("off", []), len(sensors)),
        noise=_within(given.get("noise", 0.0), "noise", 0.0, MOST_NOISE),
        coefficients=_coefficients(given.get("coefficients", {}), rig),
        seed=_whole(given.get("seed", 0), "seed", MOST_SEED),
        instant=_instant(given.get("instant"), rig),
        field=_field(given.get("field", rig.fields[0]), rig),
    )


def _object(text: bytes) -> dict[str, Any]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("this is not JSON; send an object with a list of sensors.") from None
    if not isinstance(given, dict):
        raise InputError('send an object, such as {"sensors": [[0.5, 0.5]]}.')
    return given


def _sensors(given: Any, rig: Rig) -> Float[np.ndarray, "n 2"]:
    """Places on the picture, moved onto its edge where they are beyond."""
    axes = places(rig.axes)
    if not isinstance(given, list):
        raise InputError(f"sensors: a list of places ({listed(axes)}) is wanted.")
    if len(given) > MOST_SENSORS:
        raise InputError(f"sensors: {len(given)} are too many; {MOST_SENSORS} at most.")
    for row, place in enumerate(given):
        if not (isinstance(place, list) and len(place) == 2 and all(map(_is_number, place))):
            raise InputError(f"sensors: number {row} is not a pair of finite numbers.")
    bounds = np.array([(rig.axes[axis][0], rig.axes[axis][-1]) for axis in axes], float)
    return np.clip(np.array(given, float).reshape(-1, 2), bounds[:, 0], bounds[:, 1])


def _off(given: Any, count: int) -> frozenset[int]:
    if not isinstance(given, list) or len(given) > count:
        raise InputError("off: a list of the numbers of silent sensors is wanted.")
    return frozenset(_whole(row, "off", max(count - 1, 0)) for row in given)


def _coefficients(given: Any, rig: Rig) -> dict[str, float]:
    known = {part.name: part for part in rig.coefficients}
    if not isinstance(given, dict):
        raise InputError("coefficients: an object of names and numbers is wanted.")
    if strange := [name for name in given if name not in known]:
        said = listed(known) if known else "none"
        raise InputError(f"coefficients: there is no {strange[0][:40]!r}; known: {said}.")
    return {
        name: _within(given.get(name, part.value), name, part.low, part.high)
        for name, part in known.items()
    }


def _instant(given: Any, rig: Rig) -> int | None:
    if not has_instants(rig.axes):
        if given is None:
            return None
        raise InputError("instant: the picture shows all times at once; leave it out.")
    last = len(rig.axes[TIME]) - 1
    return last if given is None else _whole(given, "instant", last)


def _field(given: Any, rig: Rig) -> str:
    if not isinstance(given, str) or given not in rig.fields:
        raise InputError(f"field: one of {listed(rig.fields)} is wanted.")
    return given


def _within(given: Any, name: str, low: float, high: float) -> float:
    if not _is_number(given) or not low <= given <= high:
        raise InputError(f"{name}: a number from {number(low)} to {number(high)} is wanted.")
    return float(given)


def _whole(given: Any, name: str, most: int) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or not 0 <= given <= most:
        raise InputError(f"{name}: a whole number from 0 to {most} is wanted.")
    return given


def _is_number(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number of hundreds of digits
        return False
