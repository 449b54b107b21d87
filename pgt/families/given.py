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
    """The coefficients that are given, each a number above 0; an `Unknown` has its first guess.

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


def is_its_equation(family: AbstractFamily, given: Given) -> bool:
    """Whether an equation that is given is the family's: others have coefficients of the same name."""
    if not isinstance(given, AbstractPDE):
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
    if not 0 < number <= LARGEST:
        low, high = family.ranges[name]
        raise InputError(
            f"{family.name}: the coefficient {name!r} is {value!r}; write a number above 0. Its systems "
            f"have {low:g} to {high:g}."
        )
    return number
