"""Whether units fit an equation: what it adds up must be alike.

Which powers of length and time a coefficient or a field has, the class of the equation says.
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
    """Raise where axes or fields have units that the equation cannot add up; "1" fits everything."""
    if pde.about is None or _has_factors(pde):
        return  # a text may hold factors between units
    given = {key: unit for key, unit in units.items() if unit.strip() != "1"}
    for name, (needed, whose) in fitting_units(pde.about, pde.coords, given, _named(pde)).items():
        require_same(name, {"the readings": given.get(name), whose: needed})


def fitting_units(
    about: About, coords: Sequence[str], units: Mapping[str, str], named: Mapping[str, str]
) -> dict[str, tuple[str | None, str]]:
    """By name the unit that an axis or a field has to have beside the others, and by whom.

    `named` are the names of fields by those in what the equation says of itself.

    >>> import pgt
    >>> given = {"x": "mm", "y": "cm", "u": "m/s"}
    >>> found = fitting_units(pgt.Stokes.about, ("x", "y"), given, {"u": "u", "v": "v"})
    >>> {name: unit for name, (unit, _) in found.items()}
    {'y': 'mm', 'u': 'm/s', 'v': 'm/s'}
    """
    length, *others = [axis for axis in coords if axis != "t"] or [""]
    found = {axis: (units.get(length), f"the axis {length}") for axis in others}
    speed = None if "t" in coords else _speed(about, units, named)
    clock = f"t in {units.get('t')!r}" if speed is None else f"{speed} in {units[speed]!r}"
    whose = f"the equation ({length} in {units.get(length)!r}, {clock})"
    for own, powers in about.units.items():
        needed = _unit(units, length, powers, speed)
        found[named.get(own, own)] = (needed, whose)
    return found


def coefficient_units(pde: AbstractPDE, units: Mapping[str, str]) -> dict[str, str]:
    """The unit in which each coefficient of the equation is to be given, where it is known.

    >>> import pgt
    >>> coefficient_units(pgt.Heat(0.01), {"x": "mm", "t": "s"})
    {'diffusivity': 'mm2 s-1'}
    >>> coefficient_units(pgt.Stokes(0.01), {"x": "mm", "u": "m/s"})
    {'viscosity': 'mm m/s'}
    """
    return units_of_arguments(type(pde), pde.coords, units, _named(pde))


def units_of_arguments(
    kind: type[AbstractPDE], coords: Sequence[str], units: Mapping[str, str], named=None
) -> dict[str, str]:
    """The same for a kind of equation, as long as there is none."""
    length = next((axis for axis in coords if axis != "t"), "")
    steady = kind.about if "t" not in coords else None
    speed = None if steady is None else _speed(steady, units, named or {})
    needed = {
        name: _unit(units, length, powers, speed)
        for name, powers in powers_of(kind).items()
        if not _is_heavy(units.get(powers.pressure or ""))
    }
    return {name: unit for name, unit in needed.items() if unit}


def _named(pde: AbstractPDE) -> dict[str, str]:
    return dict(zip(own_names(pde), pde.fields, strict=True))


def _is_heavy(unit: str | None) -> bool:
    """Whether there is a mass in a unit."""
    found = parse_unit(unit) if unit else None
    return found is not None and "g" in found[1]


def _speed(about: About, units: Mapping[str, str], named: Mapping[str, str]) -> str | None:
    """The first field that is a velocity, and whose unit is known: it tells how times are counted."""
    speeds = [named.get(own, own) for own, n in about.units.items() if n == Powers(1, -1)]
    return next((name for name in speeds if parse_unit(units.get(name, ""))), None)


def _has_factors(pde: AbstractPDE) -> bool:
    """Whether a pure number is not what it is by default: it may stand between two units."""
    arguments = inspect.signature(type(pde)).parameters
    pure = [name for name, powers in powers_of(type(pde)).items() if powers == Powers()]
    return any(getattr(pde, name) != arguments[name].default for name in pure)


def _unit(
    units: Mapping[str, str], length: str, powers: Powers, speed: str | None = None
) -> str | None:
    """A unit such as "m2 s-1"; None where those of length and time are not both plain symbols. Of a
    steady flow, whose velocity is `speed`, "m m/s"."""
    if speed is not None:  # a time is a length over it
        lengths = _power(units, length, powers.length + powers.time)
        if lengths is None or powers.time > 0:
            return None
        return " ".join([lengths, *([units[speed]] * -powers.time)]).strip()
    parts = [_power(units, length, powers.length), _power(units, "t", powers.time)]
    return None if None in parts else " ".join(part for part in parts if part)


def _power(units: Mapping[str, str], axis: str, power: int) -> str | None:
    symbol = units.get(axis, "").partition(" since ")[0].strip()
    symbol = WORDS.get(symbol, symbol)  # seconds, as dates count them, are s
    if power and (not symbol.isalpha() or parse_unit(symbol) is None):
        return None
    return {0: "", 1: symbol}.get(power, f"{symbol}{power}")


# ------------------------------------------------------------------------------- homogeneous

# Whether an equation given as text adds up what its fields are read in, beside converted
# coefficients.
#
# A coefficient such as "1e-6 m^2/s" becomes a number in the units of the axes. With x in mm and t
# in s a velocity is then to be in mm/s: in `u*u_x` one in m/s is wrong by a factor, in `u_t =
# nu*u_xx` it is not.


UNIT_DRAWS = 4
MAX_RATIO_DIFFERENCE = 1e-6  # of a ratio


def check_homogeneous(pde: AbstractPDE, units: Mapping[str, str]) -> None:
    """Raise where the equation does not stay the same when fields are read in the units of the axes."""
    factors = {name: _factor(units, name) for name in pde.fields if name in units}
    wrong = {
        name: factor for name, factor in factors.items() if abs(factor - 1) > MAX_RATIO_DIFFERENCE
    }
    if not wrong:
        return
    with jax.enable_x64(True):
        ratios = np.array([_ratios(pde, factors, wrong, seed) for seed in range(UNIT_DRAWS)])
    told = ratios[:, np.isfinite(ratios).all(axis=0)]
    if np.any(np.ptp(told, axis=0) > MAX_RATIO_DIFFERENCE * np.abs(told).max(axis=0, initial=0.0)):
        name, factor = next(iter(wrong.items()))
        raise InputError(
            f"coefficients with units are converted to those of the axes, but {name!r} is in "
            f"{units[name]!r}, which is {factor:.6g} of what these make: the terms of the equation do "
            "not add up. Give it such a unit in `units`, or write the coefficients as numbers alone."
        )


def _factor(units: Mapping[str, str], name: str) -> float:
    """A field's unit as a number in the units of the axes; 1 where nobody can tell."""
    try:
        return in_units(f"1 {units[name]}", units)
    except InputError:
        return 1.0


def _ratios(
    pde: AbstractPDE, known: Mapping[str, float], wrong: Mapping[str, float], seed: int
) -> np.ndarray:
    """Of each residual for random fields as they are read, to that for fields in the other units; fields
    that nobody knows the unit of are left out."""
    random = np.random.default_rng(seed)
    first, second = {}, {}
    for name in requested(pde):
        field = "" if name in pde.coords else _field(name, pde)
        value = random.uniform(0.5, 2.0) if not field or field in known else 0.0
        first[name], second[name] = value, value * wrong.get(field, 1.0)
    one, other = (_residual(pde, table) for table in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        return one / other


def _field(name: str, pde: AbstractPDE) -> str:
    inside = name[len(LAPLACIAN) + 1 : -1] if name.startswith(f"{LAPLACIAN}(") else name
    return pde.fields[parse_name(inside, pde.coords, pde.fields)[0]]


def _residual(pde: AbstractPDE, table: Mapping[str, float]) -> np.ndarray:
    values = DerivativeTable({name: jnp.asarray(value) for name, value in table.items()})
    return np.asarray([float(r) for r in resolve(pde).residual(values).values()])


# ------------------------------------------------------------------------------- well posed

# Whether an equation can be followed forward in time.
#
# A wave of number k along an axis grows in $ u_t = a\, \partial^{2m} u $ at the rate $ (-1)^m a\,
# k^{2m} $: where that is positive, the shorter a wave the faster it grows, and no field of any use
# is left. A sign was mistaken. Only a single field's derivatives with constant coefficients are
# looked at.


def warn_of_growth(pde: AbstractPDE) -> None:
    """Warn where an equation in words is ill-posed forward in time, with the line to write instead."""
    if isinstance(pde, Equation):
        for text, doubt in _doubts(pde):
            warn_of(f"the equation '{text}' {doubt}")


def _doubts(pde: Equation) -> Iterator[tuple[str, str]]:
    space = [axis for axis in pde.coords if axis != "t"]
    for text, form in zip(pde.texts, pde.forms(), strict=True):
        field = _driven(form)
        wrong = [] if field is None else [*_growing(form, field, space)]
        if field is not None and wrong:
            grows = f"with this sign of {field}_{wrong[0]} short waves grow without bound"
            line = _mended(form, field, wrong)
            yield text, f"is ill-posed forward in time: {grows}. Write {line}"


def _driven(form: Affine) -> str | None:
    """The field of which the equation gives the first time derivative, where it is one."""
    timed = [(name, letters) for name, letters in form.derivatives if "t" in letters]
    if len(timed) != 1 or timed[0][1] != "t" or not form.linear.get(timed[0]):
        return None
    return timed[0][0]


def _growing(form: Affine, field: str, space: list[str]) -> Iterator[str]:
    """The derivatives along an axis that let short waves grow: of the highest even order, unless other
    fields or products have one as high."""
    for axis in space:
        orders = [
            len(letters) for name, letters in form.linear
            if name == field and letters and set(letters) == {axis} and len(letters) % 2 == 0
        ]  # fmt: skip
        order = max(orders, default=0)
        rivals = form.others | {d for d in form.linear if d[0] != field}
        if not order or any(len(letters) >= order for _, letters in rivals):
            continue
        rate = -form.linear[field, order * axis] / form.linear[field, "t"]
        if rate * (-1) ** (order // 2) > 0:
            yield order * axis


def _mended(form: Affine, field: str, wrong: list[str]) -> str:
    """The equation with the other sign where it was wrong, as it can be written."""
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

# Whether an equation says something everywhere in a domain.
#
# A table that ends before the domain does would go on as its last number, and a root of a negative
# coordinate is no number at all: both are refused before anything is fitted.


PLACES, FIELD_DRAWS = 256, 8


def check_defined(pde: AbstractPDE, domain: Domain) -> None:
    """Raise where what the equation knows of the coordinates does not reach over the domain."""
    name = type(bare(pde)).__name__
    for table in jax.tree.leaves(pde, is_leaf=_is_table):
        if _is_table(table):
            check_reach(name, table, domain.box, domain.axes)
    if not set(requested(pde)) & set(pde.coords):
        return
    places = domain.even(PLACES)
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
    """The places at which no field fulfils an equation, of several that are fine elsewhere.

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
    telling = finite[finite.any(axis=1)]  # a field of which it is infinite everywhere tells nothing
    return ~np.asarray(telling.any(axis=0)) if len(telling) else np.zeros(len(places), bool)


def _is_table(node) -> bool:
    return isinstance(node, Table)


# ------------------------------------------------------------------------------- equivalence

# Whether two equations are one, however they are written.


EQUATION_DRAWS = 4
MAX_PROPORTIONALITY_ERROR = (
    1e-4  # of a ratio: coefficients may have passed through single precision
)


def same_equation(one: AbstractPDE, other: AbstractPDE) -> bool:
    """Whether residuals of any field differ by a constant factor only; unknowns count as their guess.

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
    # Two rows are multiples of each other where their products across draws agree.
    left, right = first * second[0], second * first[0]
    size = np.abs(left).max(axis=0) + np.abs(right).max(axis=0)
    return bool(
        np.all(np.abs(left - right) <= MAX_PROPORTIONALITY_ERROR * size) and np.all(size > 0)
    )


def _residuals(pdes: Iterable[AbstractPDE], seed: int) -> list[Float[np.ndarray, " k"]]:
    """Of each equation, for the same random field at one point."""
    random, drawn = np.random.default_rng(seed), {}

    def value(name: str) -> float:
        return drawn.setdefault(name, random.uniform(0.5, 2.0))

    def residual(pde: AbstractPDE) -> Float[np.ndarray, " k"]:
        table = {name: jnp.asarray(_random_value(name, pde, value)) for name in requested(pde)}
        return np.array([float(r) for r in resolve(pde).residual(DerivativeTable(table)).values()])

    return [residual(pde) for pde in pdes]


def _random_value(name: str, pde: AbstractPDE, value) -> float:
    """A random number for a coordinate, a derivative, or a Laplacian, which is a sum of these."""
    if name in pde.coords:
        return value(name)
    if not name.startswith(f"{LAPLACIAN}("):
        field, along = parse_name(name, pde.coords, pde.fields)
        return value(f"{pde.fields[field]}_{''.join(sorted(pde.coords[k] for k in along))}")
    field = name[len(LAPLACIAN) + 1 : -1]
    return sum(value(f"{field}_{axis}{axis}") for axis in pde.coords if axis != "t")
