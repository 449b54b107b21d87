"""Checks of an equation before a fit.

- Units: the terms that an equation adds must have equal units. The class of an equation says which powers
  of length and time its coefficients and fields have.
- Homogeneity: an equation from text must not mix units of fields with converted coefficients.
- Well-posedness: an equation must not let short waves grow without bound.
- Domain: tables must cover the domain, and formulas must be finite in it.
- Equivalence: two equations may be the same, written differently.
"""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pgt.core.arguments import Powers, powers_of
from pgt.core.errors import InputError, warn_of
from pgt.core.unknown import resolve
from pgt.data.bounds import shown
from pgt.data.domain import Domain
from pgt.data.units import WORDS, in_units, parse_unit, require_same
from pgt.physics.calculus import Affine
from pgt.physics.condition_values import check_reach
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.equation import Equation
from pgt.physics.interpolation_table import Table
from pgt.physics.pde import About, AbstractPDE
from pgt.physics.unknown_conditions import bare
from pgt.physics.vectors import own_names


def check_dimensions(pde: AbstractPDE, units: Mapping[str, str]) -> None:
    """Raise if the units of axes or fields do not fit the equation; "1" fits all units."""
    if pde.about is None or _has_scaled_terms(pde):
        return  # factors between units are possible
    given = {key: unit for key, unit in units.items() if unit.strip() != "1"}
    for name, (needed, whose) in fitting_units(
        pde.about, pde.coords, given, _field_names(pde)
    ).items():
        require_same(name, {"the readings": given.get(name), whose: needed})


def fitting_units(
    about: About, coords: Sequence[str], units: Mapping[str, str], named: Mapping[str, str]
) -> dict[str, tuple[str | None, str]]:
    """The unit that each axis or field must have beside the others, and what requires it, by name.

    `named` maps the names of fields in the description of the equation to the user's names.

    >>> import pgt
    >>> given = {"x": "mm", "y": "cm", "u": "m/s"}
    >>> found = fitting_units(pgt.Stokes.about, ("x", "y"), given, {"u": "u", "v": "v"})
    >>> {name: unit for name, (unit, _) in found.items()}
    {'y': 'mm', 'u': 'm/s', 'v': 'm/s'}
    """
    length, *others = [axis for axis in coords if axis != "t"] or [""]
    found = {axis: (units.get(length), f"the axis {length}") for axis in others}
    speed = None if "t" in coords else _velocity_field(about, units, named)
    clock = f"t in {units.get('t')!r}" if speed is None else f"{speed} in {units[speed]!r}"
    whose = f"the equation ({length} in {units.get(length)!r}, {clock})"
    for own, powers in about.units.items():
        needed = _unit(units, length, powers, speed)
        found[named.get(own, own)] = (needed, whose)
    return found


def coefficient_units(pde: AbstractPDE, units: Mapping[str, str]) -> dict[str, str]:
    """The unit of each coefficient of the equation, as far as it is known.

    >>> import pgt
    >>> coefficient_units(pgt.Heat(0.01), {"x": "mm", "t": "s"})
    {'diffusivity': 'mm2 s-1'}
    >>> coefficient_units(pgt.Stokes(0.01), {"x": "mm", "u": "m/s"})
    {'viscosity': 'mm m/s'}
    """
    return units_of_arguments(type(pde), pde.coords, units, _field_names(pde))


def units_of_arguments(
    kind: type[AbstractPDE], coords: Sequence[str], units: Mapping[str, str], named=None
) -> dict[str, str]:
    """The unit of each coefficient of a class of equations, as far as it is known."""
    length = next((axis for axis in coords if axis != "t"), "")
    steady = kind.about if "t" not in coords else None
    speed = None if steady is None else _velocity_field(steady, units, named or {})
    needed = {
        name: _unit(units, length, powers, speed)
        for name, powers in powers_of(kind).items()
        if not _has_mass(units.get(powers.pressure or ""))
    }
    return {name: unit for name, unit in needed.items() if unit}


def _field_names(pde: AbstractPDE) -> dict[str, str]:
    return dict(zip(own_names(pde), pde.fields, strict=True))


def _has_mass(unit: str | None) -> bool:
    """Whether a unit contains a mass."""
    found = parse_unit(unit) if unit else None
    return found is not None and "g" in found[1]


def _velocity_field(about: About, units: Mapping[str, str], named: Mapping[str, str]) -> str | None:
    """The first field that is a velocity with a known unit; it determines the unit of time."""
    speeds = [named.get(own, own) for own, n in about.units.items() if n == Powers(1, -1)]
    return next((name for name in speeds if parse_unit(units.get(name, ""))), None)


def _has_scaled_terms(pde: AbstractPDE) -> bool:
    """Whether a dimensionless coefficient differs from its default and may convert between units."""
    arguments = inspect.signature(type(pde)).parameters
    pure = [name for name, powers in powers_of(type(pde)).items() if powers == Powers()]
    return any(getattr(pde, name) != arguments[name].default for name in pure)


def _unit(
    units: Mapping[str, str], length: str, powers: Powers, speed: str | None = None
) -> str | None:
    """A unit such as "m2 s-1"; None unless the units of length and time are plain symbols.

    For a steady flow with the velocity field `speed` it is of the form "m m/s".
    """
    if speed is not None:  # a time is a length over a speed
        lengths = _power(units, length, powers.length + powers.time)
        if lengths is None or powers.time > 0:
            return None
        return " ".join([lengths, *([units[speed]] * -powers.time)]).strip()
    parts = [_power(units, length, powers.length), _power(units, "t", powers.time)]
    return None if None in parts else " ".join(part for part in parts if part)


def _power(units: Mapping[str, str], axis: str, power: int) -> str | None:
    symbol = units.get(axis, "").partition(" since ")[0].strip()
    symbol = WORDS.get(symbol, symbol)  # "seconds" in units of dates is "s"
    if power and (not symbol.isalpha() or parse_unit(symbol) is None):
        return None
    return {0: "", 1: symbol}.get(power, f"{symbol}{power}")


# ------------------------------------------------------------------------------- homogeneous

# A coefficient such as "1e-6 m^2/s" becomes a number in the units of the axes. With x in mm and t in s, a
# velocity must then be in mm/s: in `u*u_x` a velocity in m/s is wrong by a factor, but in `u_t = nu*u_xx`
# it is not. The check therefore compares residuals of random fields in both units.


# The number of random fields, and the largest relative difference between equal ratios.
UNIT_DRAWS = 4
MAX_RATIO_DIFFERENCE = 1e-6


def check_homogeneous(pde: AbstractPDE, units: Mapping[str, str]) -> None:
    """Raise if converting the fields to the units of the axes changes the equation."""
    factors = {name: _unit_factor(units, name) for name in pde.fields if name in units}
    wrong = {
        name: factor for name, factor in factors.items() if abs(factor - 1) > MAX_RATIO_DIFFERENCE
    }
    if not wrong:
        return
    with jax.enable_x64(True):
        ratios = np.array(
            [_residual_ratios(pde, factors, wrong, seed) for seed in range(UNIT_DRAWS)]
        )
    finite = ratios[:, np.isfinite(ratios).all(axis=0)]
    largest = np.abs(finite).max(axis=0, initial=0.0)
    if np.any(np.ptp(finite, axis=0) > MAX_RATIO_DIFFERENCE * largest):
        name, factor = next(iter(wrong.items()))
        raise InputError(
            f"coefficients with units are converted to those of the axes, but {name!r} is in "
            f"{units[name]!r}, which is {factor:.6g} of what these make: the terms of the equation do "
            "not add up. Give it such a unit in `units`, or write the coefficients as numbers alone."
        )


def _unit_factor(units: Mapping[str, str], name: str) -> float:
    """The unit of a field as a number in the units of the axes; 1 if it cannot be converted."""
    try:
        return in_units(f"1 {units[name]}", units)
    except InputError:
        return 1.0


def _residual_ratios(
    pde: AbstractPDE, known: Mapping[str, float], wrong: Mapping[str, float], seed: int
) -> np.ndarray:
    """The ratio of each residual for random fields in their units to that in the units of the axes.

    Fields of unknown units are zero.
    """
    random = np.random.default_rng(seed)
    first, second = {}, {}
    for name in requested(pde):
        field = "" if name in pde.coords else _field_of(name, pde)
        value = random.uniform(0.5, 2.0) if not field or field in known else 0.0
        first[name], second[name] = value, value * wrong.get(field, 1.0)
    one, other = (_residual(pde, table) for table in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        return one / other


def _field_of(name: str, pde: AbstractPDE) -> str:
    inside = name[len(LAPLACIAN) + 1 : -1] if name.startswith(f"{LAPLACIAN}(") else name
    return pde.fields[parse_name(inside, pde.coords, pde.fields)[0]]


def _residual(pde: AbstractPDE, table: Mapping[str, float]) -> np.ndarray:
    values = DerivativeTable({name: jnp.asarray(value) for name, value in table.items()})
    return np.asarray([float(r) for r in resolve(pde).residual(values).values()])


# ------------------------------------------------------------------------------- well posed

# In $ u_t = a\, \partial^{2m} u $ a wave of wavenumber k along an axis grows at the rate
# $ (-1)^m a\, k^{2m} $. If that is positive, shorter waves grow faster and the equation is ill-posed
# forward in time, usually because a sign is wrong. The check considers equations whose time derivative is
# that of one field, with constant coefficients.


def warn_of_growth(pde: AbstractPDE) -> None:
    """Warn if an equation from text is ill-posed forward in time, with the line to write instead."""
    if isinstance(pde, Equation):
        for text, warning in _growth_warnings(pde):
            warn_of(f"the equation '{text}' {warning}")


def _growth_warnings(pde: Equation) -> Iterator[tuple[str, str]]:
    """The text of each ill-posed equation and a warning."""
    space = [axis for axis in pde.coords if axis != "t"]
    for text, form in zip(pde.texts, pde.forms(), strict=True):
        field = _evolving_field(form)
        wrong = [] if field is None else [*_growing_derivatives(form, field, space)]
        if field is not None and wrong:
            grows = f"with this sign of {field}_{wrong[0]} short waves grow without bound"
            line = _corrected_equation(form, field, wrong)
            yield text, f"is ill-posed forward in time: {grows}. Write {line}"


def _evolving_field(form: Affine) -> str | None:
    """The only field with a time derivative, if that is of first order with a constant coefficient."""
    in_time = [(name, letters) for name, letters in form.derivatives if "t" in letters]
    if len(in_time) != 1 or in_time[0][1] != "t" or not form.linear.get(in_time[0]):
        return None
    return in_time[0][0]


def _growing_derivatives(form: Affine, field: str, space: list[str]) -> Iterator[str]:
    """The derivatives along an axis that let short waves grow.

    They are those of the highest even order, unless other fields or products have one of that order.
    """
    for axis in space:
        orders = [
            len(letters) for name, letters in form.linear
            if name == field and letters and set(letters) == {axis} and len(letters) % 2 == 0
        ]  # fmt: skip
        order = max(orders, default=0)
        others = form.others | {d for d in form.linear if d[0] != field}
        if not order or any(len(letters) >= order for _, letters in others):
            continue
        rate = -form.linear[field, order * axis] / form.linear[field, "t"]
        if rate * (-1) ** (order // 2) > 0:
            yield order * axis


def _corrected_equation(form: Affine, field: str, wrong: list[str]) -> str:
    """The text of the equation with corrected signs, for a warning."""
    first, terms = form.linear[field, "t"], []
    for (name, letters), value in form.linear.items():
        if letters != "t" and value:
            factor = (value if name == field and letters in wrong else -value) / first
            terms.append(f"{factor:.6g}*{name}_{letters}" if letters else f"{factor:.6g}*{name}")
    if form.constant:
        terms.append(f"{-form.constant / first:.6g}")
    line = f"{field}_t = {' + '.join(terms)}".replace("+ -", "- ")
    return f"'{line} + ...', the other terms as they are." if form.varies else f"'{line}'."


# ------------------------------------------------------------------------------- defined

# A table that ends inside the domain would continue with its last value, and a root of a negative
# coordinate is not a number. Both are rejected before a fit.


# The number of points at which an equation is evaluated, and of random fields.
CHECK_POINTS, FIELD_DRAWS = 256, 8


def check_defined(pde: AbstractPDE, domain: Domain) -> None:
    """Raise unless tables cover the domain and the residual is finite at points of it."""
    name = type(bare(pde)).__name__
    for table in jax.tree.leaves(pde, is_leaf=_is_table):
        if _is_table(table):
            check_reach(name, table, domain.box, domain.axes)
    if not set(requested(pde)) & set(pde.coords):
        return
    places = domain.even(CHECK_POINTS)
    bad = np.flatnonzero(undefined(pde, places))
    if bad.size:
        pairs = zip(domain.axes, places[bad[0]], strict=True)
        where = ", ".join(f"{axis} = {shown(axis, at, domain.units)}" for axis, at in pairs)
        raise InputError(
            f"{name}: at {where} the equation gives no finite number, whatever the field is there: a "
            "root or logarithm of a negative number, or a division by zero. Write what holds there, or "
            "leave that part out of the domain."
        )


def undefined(pde: AbstractPDE, places: Float[np.ndarray, "n d"]) -> Bool[np.ndarray, " n"]:
    """Whether the residual is not finite at each place, for fields with finite residuals elsewhere.

    >>> import pgt
    >>> undefined(pgt.Poisson("sqrt(x)", 1), np.array([[-1.0], [1.0]])).tolist()
    [True, False]
    """
    known = resolve(pde)
    names = [name for name in requested(pde) if name not in pde.coords]

    def is_finite(values, place):
        here = dict(zip(pde.coords, place, strict=True))
        rows = known.residual(DerivativeTable(dict(zip(names, values, strict=True)) | here))
        return jnp.all(jnp.isfinite(jnp.stack(list(rows.values()))))

    draws = jnp.asarray(np.random.default_rng(0).normal(size=(FIELD_DRAWS, len(names))))
    each_place = jax.vmap(is_finite, (None, 0))
    finite = np.asarray(jax.vmap(each_place, (0, None))(draws, jnp.asarray(places)))
    # A field whose residual is infinite everywhere says nothing about the places.
    usable = finite[finite.any(axis=1)]
    return ~np.asarray(usable.any(axis=0)) if len(usable) else np.zeros(len(places), bool)


def _is_table(node) -> bool:
    return isinstance(node, Table)


# ------------------------------------------------------------------------------- equivalence


# The number of random fields, and the relative error below which two residuals are proportional; the
# coefficients may have been rounded to single precision.
EQUATION_DRAWS = 4
MAX_PROPORTIONALITY_ERROR = 1e-4


def same_equation(one: AbstractPDE, other: AbstractPDE) -> bool:
    """Whether the residuals of all fields are proportional; unknowns have their initial values.

    >>> import pgt
    >>> heat = pgt.Heat(0.02)
    >>> same_equation(heat, pgt.Equation("2*u_t - 0.04*u_xx = 0"))
    True
    >>> same_equation(heat, pgt.Heat(0.02, source=1.0)), same_equation(heat, pgt.AllenCahn(0.02, 1.0))
    (False, False)
    """
    if set(one.coords) != set(other.coords) or set(one.fields) != set(other.fields):
        return False
    with jax.enable_x64(True):
        rows = [_residuals((one, other), seed) for seed in range(EQUATION_DRAWS)]
    if any(len(first) != len(second) for first, second in rows):
        return False
    first, second = (np.array(each) for each in zip(*rows, strict=True))
    # Two rows are proportional if their products across draws agree.
    left, right = first * second[0], second * first[0]
    size = np.abs(left).max(axis=0) + np.abs(right).max(axis=0)
    return bool(
        np.all(np.abs(left - right) <= MAX_PROPORTIONALITY_ERROR * size) and np.all(size > 0)
    )


def _residuals(pdes: Iterable[AbstractPDE], seed: int) -> list[Float[np.ndarray, " k"]]:
    """The residuals of each equation for one random field at one point."""
    random, drawn = np.random.default_rng(seed), {}

    def value(name: str) -> float:
        return drawn.setdefault(name, random.uniform(0.5, 2.0))

    def residual(pde: AbstractPDE) -> Float[np.ndarray, " k"]:
        table = {name: jnp.asarray(_random_value(name, pde, value)) for name in requested(pde)}
        return np.array([float(r) for r in resolve(pde).residual(DerivativeTable(table)).values()])

    return [residual(pde) for pde in pdes]


def _random_value(name: str, pde: AbstractPDE, value) -> float:
    """The random value of a coordinate, of a derivative, or of a Laplacian as a sum of derivatives."""
    if name in pde.coords:
        return value(name)
    if not name.startswith(f"{LAPLACIAN}("):
        field, along = parse_name(name, pde.coords, pde.fields)
        return value(f"{pde.fields[field]}_{''.join(sorted(pde.coords[k] for k in along))}")
    field = name[len(LAPLACIAN) + 1 : -1]
    return sum(value(f"{field}_{axis}{axis}") for axis in pde.coords if axis != "t")
