"""Whether units fit an equation of the zoo: what it adds up must be alike."""

from collections.abc import Mapping

from pgt.data.units import parse_unit, require_same
from pgt.physics.pde import AbstractPDE

Powers = tuple[int, int]  # of the units of length and time

COEFFICIENTS: dict[str, Powers] = {
    "diffusivity": (2, -1),
    "viscosity": (2, -1),
    "speed": (1, -1),
    "velocity": (1, -1),
    "reaction": (0, -1),
}
# By equation: fields that stand beside lengths and times. Pressure is the one divided by density.
FIELDS: dict[str, dict[str, Powers]] = {
    "Burgers": {"u": (1, -1)},
    "NavierStokes2D": {"u": (1, -1), "v": (1, -1), "p": (2, -2)},
    **{
        name: {}
        for name in ("Heat", "AdvectionDiffusion", "AllenCahn", "Wave", "Poisson", "Laplace")
    },
}


def check_dimensions(pde: AbstractPDE, units: Mapping[str, str]) -> None:
    """Raise where axes or fields have units that the equation cannot add up; "1" fits everything."""
    name = type(pde).__name__
    if name not in FIELDS or getattr(pde, "convection", 1.0) != 1.0:
        return  # a text may hold factors between units, and so may a coefficient of convection
    length, *others = [axis for axis in pde.coords if axis != "t"]
    given = {key: unit for key, unit in units.items() if unit.strip() != "1"}
    for axis in others:
        known = {"the readings": given.get(axis), f"the axis {length}": given.get(length)}
        require_same(axis, known)
    for field, powers in FIELDS[name].items():
        needed = _unit(given, length, powers)
        what = f"the equation ({length} in {given.get(length)!r}, t in {given.get('t')!r})"
        require_same(field, {"the readings": given.get(field), what: needed})


def coefficient_units(pde: AbstractPDE, units: Mapping[str, str]) -> dict[str, str]:
    """The unit in which each coefficient of the equation is to be given, where it is known.

    >>> import pgt
    >>> coefficient_units(pgt.Heat(0.01), {"x": "mm", "t": "s"})
    {'diffusivity': 'mm2 s-1'}
    """
    if type(pde).__name__ not in FIELDS:
        return {}
    length = next(axis for axis in pde.coords if axis != "t")
    needed = {n: _unit(units, length, powers) for n, powers in COEFFICIENTS.items()}
    return {n: unit for n, unit in needed.items() if unit is not None and hasattr(pde, n)}


def _unit(units: Mapping[str, str], length: str, powers: Powers) -> str | None:
    """A unit such as "m2 s-1"; None where those of length and time are not both plain symbols."""
    parts = []
    for axis, power in zip((length, "t"), powers, strict=True):
        if not power:
            continue
        symbol = units.get(axis, "").partition(" since ")[0].strip()
        if not symbol.isalpha() or parse_unit(symbol) is None:
            return None
        parts.append(symbol if power == 1 else f"{symbol}{power}")
    return " ".join(parts)
