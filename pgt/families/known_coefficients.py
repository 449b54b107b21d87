"""Which coefficients of a family's system are known: by name, or from an equation that has them."""

import math
from collections.abc import Mapping

from pgt.core.arguments import LARGEST
from pgt.core.errors import InputError
from pgt.core.unknown import is_unknown
from pgt.families.family import AbstractFamily, check_names
from pgt.physics.coefficient_tree import current
from pgt.physics.equivalence import same_equation
from pgt.physics.pde import AbstractPDE

CoefficientSource = Mapping | AbstractPDE


def coefficient_values(family: AbstractFamily, given: CoefficientSource) -> dict[str, float]:
    """The given coefficients as numbers; an `Unknown` has its initial guess.

    >>> import pgt
    >>> coefficient_values(pgt.families.get("heat"), pgt.Heat(0.02))
    {'diffusivity': 0.02}
    """
    if isinstance(given, AbstractPDE):
        found = {name: _coefficient_of(given, name) for name in family.ranges}
        found = {name: current(value) for name, value in found.items() if value is not None}
    else:
        found = {name: value for name, value in given.items() if value is not None}
        check_names(family, dict.fromkeys(found, 1.0))
    return {name: _as_number(family, name, value) for name, value in found.items()}


def known_coefficients(family: AbstractFamily, given: CoefficientSource | None) -> dict[str, float]:
    """The coefficients that are known, by name; an `Unknown` of an equation is not one of them."""
    numbers = coefficient_values(family, given or {})
    if not has_equation_of(family, given or {}):
        raise InputError(
            f"assimilate: the equation is not that of the family {family.name!r}, whose law and solver "
            "answer; use pgt.reconstruct with your equation."
        )
    for name in unknown_names(family, given or {}):
        del numbers[name]
    return numbers


def unknown_names(family: AbstractFamily, given: CoefficientSource) -> list[str]:
    """The coefficients of an equation that are `Unknown`."""
    if not isinstance(given, AbstractPDE):
        return []
    return [name for name in family.ranges if is_unknown(_coefficient_of(given, name))]


def holds_equation(family: AbstractFamily) -> bool:
    """Whether the family holds its equation; simulations in the file of a network do not."""
    return getattr(family, "form", family) is not None


def has_equation_of(family: AbstractFamily, given: CoefficientSource) -> bool:
    """Whether a given equation is the family's; other equations may have equally named coefficients."""
    if not isinstance(given, AbstractPDE) or not holds_equation(family):
        return True
    numbers = coefficient_values(family, given)
    return len(numbers) == len(family.ranges) and same_equation(given, family.pde(numbers))


def equation_doubts(family: AbstractFamily, given: CoefficientSource) -> list[str]:
    """Sentences on unknown coefficients and on an equation that is not the family's."""
    numbers = coefficient_values(family, given)
    found = [
        f"{name} is unknown: {numbers[name]:g} is its first guess"
        for name in unknown_names(family, given)
    ]
    if not has_equation_of(family, given):
        found.append(f"the equation is not that of the family {family.name!r}")
    return found


def _coefficient_of(pde: AbstractPDE, name: str):
    held = getattr(pde, "coefficients", {})  # A text equation keeps its coefficients in a dict.
    return held.get(name, getattr(pde, name, None))


def _as_number(family: AbstractFamily, name: str, value) -> float:
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    low, high = family.ranges[name]
    above = 0.0 if low > 0 else -math.inf  # Some coefficients, such as velocities, have a sign.
    if not above < number <= LARGEST or math.isinf(number):
        write = "a number above 0" if low > 0 else "a number"
        raise InputError(
            f"{family.name}: the coefficient {name!r} is {value!r}; write {write}. Its systems have "
            f"{low:g} to {high:g}."
        )
    return number
