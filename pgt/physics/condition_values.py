"""Values of conditions and sources: the forms in which a user may give them, and binding to a domain.

A known function of the coordinates is a number, a formula in text, a JAX function, or a table of numbers
to interpolate. `as_value` converts it to the form that the library keeps, `bind_value` checks it against
a domain, and `value_at` evaluates it at a point. The second part of the file binds conditions to a
domain.
"""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Annotated, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from pgt.core.arguments import CURVE, FORMULA
from pgt.core.errors import InputError
from pgt.core.parser import suggestion
from pgt.core.unknown import Unknown, is_unknown
from pgt.data.bounds import Bounds
from pgt.data.condition_regions import Faces, Spread, ends_of
from pgt.data.domain import AXES, Domain
from pgt.physics.coefficient_tree import as_coefficient
from pgt.physics.expression import Expression
from pgt.physics.interpolation_table import Table, named_table, table_from_pair, table_from_xarray
from pgt.physics.pde import Derivatives
from pgt.physics.unknown_function import UnknownFunction


class Function(eqx.Module):
    """A JAX function of the coordinates, called by name or in coordinate order."""

    function: Callable
    named: tuple[str, ...] | None = eqx.field(static=True)
    positional: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, point: Mapping[str, Any]) -> Float[Array, ""]:
        if self.named is None:
            value = self.function(*(point[c] for c in self.positional))
        else:
            value = self.function(**{c: point[c] for c in self.named})
        return jnp.asarray(value, float)


class Learnt(eqx.Module):
    """Replaces an unknown number, which `Bordered` holds under this name (unknown_conditions.py)."""

    name: str = eqx.field(static=True)


class Varying(eqx.Module):
    """Replaces an unknown function, which a field represents (unknown_conditions.py)."""

    field: str = eqx.field(static=True)
    function: UnknownFunction = eqx.field(static=True)


Value = (
    float | Unknown | Float[Array | np.ndarray, ""] | Expression | Function | Table | Learnt
    | UnknownFunction | Varying
)  # fmt: skip
# What a user may give for a value of a condition, and for the right-hand side of an equation.
Formula = Annotated[str, FORMULA]
Writable = float | int | Formula | Callable | Annotated[tuple, CURVE] | xr.DataArray | Table
Source = float | int | Formula | Unknown | Callable | tuple | xr.DataArray | Table


def as_value(where: str, value: Any) -> Value:
    """The value in the form that is kept, checked as far as possible without the domain."""
    if isinstance(value, str):
        expression = Expression(value)
        expression.require(AXES, where)
        return expression
    if isinstance(value, xr.DataArray):
        return table_from_xarray(where, value)
    if isinstance(value, tuple):
        return table_from_pair(where, value)
    if isinstance(value, (Function, Table, Expression)):
        return value
    if isinstance(value, UnknownFunction):
        raise InputError(
            f"{where}: an unknown function stands in the text of an equation, or in a condition on a "
            'wall or at the start: pgt.Equation("u_t = D*u_xx + q", q=pgt.UnknownFunction("x"), D=0.1).'
        )
    if callable(value) and not is_unknown(value):
        # Partial makes a plain function a PyTree without leaves; JAX accepts only arrays as leaves.
        function: Any = value if isinstance(value, eqx.Module) else jax.tree_util.Partial(value)
        return Function(function, None, ())
    return as_coefficient(where, value)


def bind_value(where: str, value: Value, coords: tuple[str, ...], free: tuple[str, ...]) -> Value:
    """The value for a domain with `coords`, of which `free` vary in the region of the value."""
    if isinstance(value, Expression):
        value.require(coords, where)
    if isinstance(value, Function):
        named, positional = _arguments(where, value.function, coords, free)
        return Function(value.function, named, positional)
    if isinstance(value, Table):
        return named_table(where, value, coords, free)
    if isinstance(value, UnknownFunction | Varying):
        function = value if isinstance(value, UnknownFunction) else value.function
        function.require(where, coords, free)
    return value


def value_at(value: Value, point: Mapping[str, Any]) -> Float[Array, ""]:
    """The value at one point, which is given as {coordinate name: number}."""
    if isinstance(value, Expression):
        return jnp.asarray(value(**point), float)
    if isinstance(value, (Function, Table)):
        return value(point)
    return jnp.asarray(value.value if isinstance(value, Unknown) else value, float)


def value_beside(
    value: Value, evaluate: Callable[[Any, str], Float[Array, ""]], z: Any, point: Mapping[str, Any]
) -> Float[Array, ""]:
    """The value at a point z; the field of an unknown function is evaluated by `evaluate`."""
    if isinstance(value, Varying):
        return value.function.of_field(evaluate(z, value.field))
    return value_at(value, point)


def check_finite(
    where: str, value: Value, axes: tuple[str, ...], points: Float[np.ndarray, "n d"]
) -> None:
    """Raise if a formula or function is not finite at one of the points."""
    if not isinstance(value, Expression | Function):
        return
    shown = value.text if isinstance(value, Expression) else "the function"
    try:
        values = jax.vmap(lambda z: value_at(value, dict(zip(axes, z, strict=True))))(
            jnp.asarray(points, float)
        )
    except InputError:
        raise
    except Exception as error:  # whatever a user's function raises
        reason = str(error).partition("\n")[0][:200]
        raise InputError(
            f"{where}: the function fails ({type(error).__name__}: {reason}); write it with jax.numpy, "
            "for one point; it must give one number."
        ) from None
    bad = np.flatnonzero(~np.isfinite(np.asarray(values)))
    if bad.size:
        place = ", ".join(f"{a} = {v:g}" for a, v in zip(axes, points[bad[0]], strict=True))
        raise InputError(
            f"{where}: {shown} is not finite at {place}; write what it is there, or leave out the ends."
        )


def as_source(where: str, source: Any, coords: tuple[str, ...]) -> Value | None:
    """The right-hand side f(coords) in the form that is kept, or None if there is none."""
    if source is None:
        return None
    return bind_value(where, as_value(where, source), coords, coords)


def source_at(source: Value | None, d: Derivatives, coords: tuple[str, ...]):
    """The source at the point of the derivatives `d`; 0.0 if there is none."""
    return 0.0 if source is None else value_at(source, {c: d(c) for c in coords})


def _arguments(where, function, coords, free):
    """(names, ()) for a function called by name, or (None, coordinates) for one called in order."""
    try:
        target = function.func if isinstance(function, jax.tree_util.Partial) else function
        parameters = inspect.signature(target).parameters.values()
    except ValueError:  # some built-ins have no signature
        return None, free
    required = [
        p.name
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)
    ]
    by_name = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    if set(required) <= set(coords) & set(by_name) and set(by_name) & set(coords):
        return tuple(c for c in coords if c in by_name), ()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return coords, ()
    for candidate in (free, coords):
        if len(required) == len(candidate):
            return None, candidate
    raise InputError(
        f"{where}: the function takes {required} but the coordinates are {list(coords)}; write "
        f"`lambda {', '.join(free)}: ...`."
    )


# ------------------------------------------------------------------------------- binding

# A condition is bound to a domain: it is checked, and its region is stored in it.


# The number of points of a region at which a value is checked before a fit.
NODES = 16


def as_values(where, values) -> dict[str, Value]:
    """The values by field, in the form that is kept."""
    if not values:
        raise InputError(f"{where}: no field given; write {where}(u=0.0) for a field called u.")
    return {field: as_given(f"{where}({field}=...)", value) for field, value in values.items()}


def as_given(where: str, value) -> Value:
    """A value of a condition in the form that is kept; it may be an unknown function."""
    return value if isinstance(value, UnknownFunction) else as_value(where, value)


def as_tuple(names: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """One or several names as a tuple."""
    return (names,) if isinstance(names, str) else None if names is None else tuple(names)


def as_axes(where, axis, side, wall) -> tuple[str, ...] | None:
    """The axes that a condition names, checked as far as possible without the domain."""
    with said_of(f"{where}(side={side!r})"):
        ends_of(side)
    axes = as_tuple(axis)
    if axes and "t" in axes:
        raise InputError(
            f"{where}(axis='t'): write Initial(...) for the state at the start of time."
        )
    if wall is not None and (axes or side != "both"):
        raise InputError(
            f"{where}(wall={wall!r}): a wall of the shape has no axis or side; leave them out, or name "
            "the axis alone."
        )
    return axes


def wall_of(condition, domain: Domain) -> Faces | Spread:
    """The part of the boundary that a condition names by its axis and side, or by its wall."""
    name, axes, where = type(condition).__name__, condition.axis, condition.where
    if condition.wall is not None:
        with said_of(f"{name}(wall={condition.wall!r})"):
            return domain.wall(condition.wall, where)
    with said_of(f"{name}(axis={axes[0] if len(axes) == 1 else axes!r})" if axes else name):
        return domain.walls(axes, condition.side, where)


@contextmanager
def said_of(where: str) -> Iterator[None]:
    """A context that puts `where` in front of the messages of input errors."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def check_fields(where, names, fields, derivatives=()) -> None:
    """Raise unless each name is a field, or a derivative of one along the axes in `derivatives`."""
    for name in names:
        field, _, letters = name.rpartition("_")
        is_derivative = field in fields and letters and set(letters) <= set(derivatives)
        if name not in fields and not is_derivative:
            raise InputError(
                f"{where}: there is no field '{name}', only {', '.join(fields)}."
                + suggestion(name, fields)
            )


def bound_to(condition, region):
    """The condition with its region and with values bound to the coordinates of the domain."""
    axes, free, values = region.box.axes, free_axes(region), {}
    for field, value in condition.values.items():
        where = f"{type(condition).__name__}({field}=...)"
        values[field] = bind_value(where, value, axes, free)
        if isinstance(value, Table):
            check_cover(where, values[field], region)
        check_finite(where, values[field], axes, edges_and_nodes(region))
    return with_region(eqx.tree_at(lambda c: c.values, condition, values), region)


def free_axes(region: Faces | Spread) -> tuple[str, ...]:
    """The axes on which a value may depend.

    With faces across several axes no axis is fixed on all faces; a value may then depend on all axes.
    """
    axes = region.box.axes
    return region.free if len(axes) - len(region.free) == 1 else axes


def with_static(condition, **values):
    """A copy of the condition with other static fields."""
    bound = object.__new__(type(condition))
    for name in type(condition).__dataclass_fields__:
        object.__setattr__(bound, name, values.get(name, getattr(condition, name)))
    return bound


def with_region(condition, region):
    """A copy of the condition with its region."""
    return eqx.tree_at(lambda c: c.region, condition, region, is_leaf=lambda node: node is None)


def check_cover(where, table, region) -> None:
    """Raise unless a table covers all axes that vary in the region."""
    check_reach(where, table, region.box, region.free)


def check_reach(where, table: Table, box: Bounds, free: Sequence[str]) -> None:
    """Raise unless a table covers the box from end to end along its free axes."""
    for name, axis in zip(table.names or (), table.axes, strict=True):
        lower, upper = box.bounds(name)
        slack = 1e-6 * (upper - lower)
        first, last = (box.to_local(name, float(axis[k])) for k in (0, -1))
        if name in free and not (first <= lower + slack and last >= upper - slack):
            raise InputError(
                f"{where}: the table covers {name} from {axis[0]:g} to {axis[-1]:g} but the domain "
                f"goes from {lower:g} to {upper:g}; extend the table to the ends of the domain."
            )


def edges_and_nodes(region: Faces | Spread) -> np.ndarray:
    """Points of the region, which include points at the ends of its free axes."""
    inside, box = np.asarray(region.nodes(NODES), float), region.box
    if isinstance(region, Spread):
        return inside
    ends = [inside]
    for axis in region.free:
        for bound in box.bounds(axis):
            moved = inside.copy()
            moved[:, box.index(axis)] = bound
            ends.append(moved)
    return np.concatenate(ends)
