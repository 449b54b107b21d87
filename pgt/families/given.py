"""Which system of a family a user means: its coefficients by name, or the equation that has them."""

import math
from collections.abc import Mapping

from pgt.families.family import AbstractFamily, check_names
from pgt.ground.arguments import LARGEST
from pgt.ground.errors import InputError
from pgt.ground.unknown import is_unknown
from pgt.physics.coefficients import current
from pgt.physics.pde import AbstractPDE
from pgt.physics.same import same_equation

Given = Mapping | AbstractPDE


def given_numbers(family: AbstractFamily, given: Given) -> dict[str, float]:
    """The coefficients that are given, each a number of its kind; an `Unknown` has its first guess.

    >>> import pgt
    >>> given_numbers(pgt.families.get("heat"), pgt.Heat(0.02))
    {'diffusivity': 0.02}
    """
    if isinstance(given, AbstractPDE):
        found = {name: _held(given, name) for name in family.ranges}
        found = {name: current(value) for name, value in found.items() if value is not None}
    else:
        found = {name: value for name, value in given.items() if value is not None}
        check_names(family, dict.fromkeys(found, 1.0))
    return {name: _number(family, name, value) for name, value in found.items()}


def guessed(family: AbstractFamily, given: Given) -> list[str]:
    """The coefficients of an equation that are unknown."""
    if not isinstance(given, AbstractPDE):
        return []
    return [name for name in family.ranges if is_unknown(_held(given, name))]


def knows_equation(family: AbstractFamily) -> bool:
    """Whether it can tell its equation: simulations that were stored with a network cannot."""
    return getattr(family, "form", family) is not None


def is_its_equation(family: AbstractFamily, given: Given) -> bool:
    """Whether an equation that is given may be the family's: others have coefficients of that name."""
    if not isinstance(given, AbstractPDE) or not knows_equation(family):
        return True
    numbers = given_numbers(family, given)
    return len(numbers) == len(family.ranges) and same_equation(given, family.pde(numbers))


def strange_in(family: AbstractFamily, given: Given) -> list[str]:
    """What about an equation is not known, or not that of the family, in words."""
    numbers = given_numbers(family, given)
    found = [
        f"{name} is unknown: {numbers[name]:g} is its first guess"
        for name in guessed(family, given)
    ]
    if not is_its_equation(family, given):
        found.append(f"the equation is not that of the family {family.name!r}")
    return found


def _held(pde: AbstractPDE, name: str):
    held = getattr(pde, "coefficients", {})  # of an equation in words
    return held.get(name, getattr(pde, name, None))


def _number(family: AbstractFamily, name: str, value) -> float:
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    low, high = family.ranges[name]
    above = 0.0 if low > 0 else -math.inf  # some are velocities, and have a sign
    if not above < number <= LARGEST or math.isinf(number):
        write = "a number above 0" if low > 0 else "a number"
        raise InputError(
            f"{family.name}: the coefficient {name!r} is {value!r}; write {write}. Its systems have "
            f"{low:g} to {high:g}."
        )
    return number
