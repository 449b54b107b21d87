"""Readings of many systems as plain arrays, looked at before a network sees them."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float

from pgt.data.domain import Domain
from pgt.families.family import AbstractFamily
from pgt.families.sensing import STATIONS
from pgt.ground.errors import InputError

TOLERANCE = 1e-6  # of an axis


class Rigs(NamedTuple):
    """k systems with n readings each, in the family's own domain; what was not read is masked."""

    points: Float[np.ndarray, "k n d"]
    values: Float[np.ndarray, "k n c"]
    mask: Bool[np.ndarray, "k n c"]
    coefficients: dict[str, Float[np.ndarray, " k"]]
    at: Float[np.ndarray, "m d"]

    @property
    def counts(self) -> list[int]:
        """Of readings, system by system."""
        return self.mask.any(axis=-1).sum(axis=-1).tolist()

    def still(self, domain: Domain) -> list[bool]:
        """Whose sensors stand still."""
        rows = zip(self.points, self.mask, strict=True)
        return [stand_still(points[mask.any(axis=-1)], domain) for points, mask in rows]


def stand_still(points: Float[np.ndarray, "n d"], domain: Domain) -> bool:
    """Whether a few sensors read again and again where they stand, and are not scattered."""
    if "t" not in domain.axes:
        return False
    space = [i for i, axis in enumerate(domain.axes) if axis != "t"]
    unit = ((points - domain.lower) / domain.extent)[:, space]
    places = len(np.unique(np.round(unit / TOLERANCE), axis=0))
    return places <= min(STATIONS[1], len(points) / 2)


def as_rigs(family: AbstractFamily, points, values, coefficients: Mapping, at) -> Rigs:
    """Arrays of the right form, every reading inside the domain and every coefficient a number."""
    axes, fields, domain = ", ".join(family.domain.axes), ", ".join(family.fields), family.domain
    points = _array("points", points, (None, None, domain.dimension), f"system, reading, ({axes})")
    systems, count = points.shape[:2]
    shape = (systems, count, len(family.fields))
    values = _array("values", values, shape, f"system, reading, ({fields})", may_miss=True)
    at = _array("at", at, (None, domain.dimension), f"point, ({axes})")
    mask = np.isfinite(values)
    read = np.any(mask, axis=2)
    counts = read.sum(axis=1)
    if not counts.all():
        raise InputError(f"answers: system {int(np.argmin(counts))} has no reading.")
    places = np.where(read[..., None], points, domain.lower)
    places = domain.box.wrapped(places.reshape(-1, domain.dimension), domain.periodic)
    _check_inside(places.reshape(points.shape), domain)
    numbers = {
        name: _coefficient(family, name, coefficients, systems) for name in family.ranges
    }  # fmt: skip
    return Rigs(places.reshape(points.shape), np.where(mask, values, 0.0), mask, numbers, at)


def _array(
    name: str, given, shape: tuple[int | None, ...], words: str, may_miss: bool = False
) -> np.ndarray:
    try:
        found = np.asarray(given, float)
    except (TypeError, ValueError):
        found = np.zeros(())
    fits = found.ndim == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, found.shape, strict=True)
    )
    if not fits:
        raise InputError(f"answers: {name} has shape {found.shape}; its axes are {words}.")
    if np.isinf(found).any() or (not may_miss and np.isnan(found).any()):
        missing = "; write NaN for what was not read" if may_miss else ""
        raise InputError(f"answers: {name} has a number that is not finite{missing}.")
    return found


def _check_inside(points: Float[np.ndarray, "k n d"], domain: Domain) -> None:
    slack = TOLERANCE * domain.extent
    beyond = (points < domain.lower - slack) | (points > domain.upper + slack)
    if beyond.any():
        system, row, axis = (int(i) for i in np.argwhere(beyond)[0])
        name = domain.axes[axis]
        low, high = domain.bounds(name)
        raise InputError(
            f"answers: {int(beyond.any(axis=-1).sum())} reading(s) outside the domain {name} = ({low:g}, "
            f"{high:g}), the first of system {system}: {name} = {points[system, row, axis]:g}."
        )


def _coefficient(
    family: AbstractFamily, name: str, given: Mapping, systems: int
) -> Float[np.ndarray, " k"]:
    if name not in given:
        raise InputError(f"answers: {family.name} needs the coefficient {name!r} of every system.")
    found = np.asarray(given[name], float)
    if found.shape != (systems,) or not (np.isfinite(found) & (found > 0)).all():
        raise InputError(
            f"answers: {name} has shape {found.shape}; write a number above 0 for each of the {systems} "
            "systems."
        )
    return found
