"""From a condition as it is written to one that knows where it holds: checks and binding."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import equinox as eqx
import numpy as np

from pgt.core.errors import InputError
from pgt.core.parser import suggestion
from pgt.data.bounds import Bounds
from pgt.data.condition_regions import Faces, Spread, ends_of
from pgt.data.domain import Domain
from pgt.data.moving_boundary import Swept
from pgt.physics.condition_values import Value, as_value, bind_value, check_finite
from pgt.physics.interpolation_table import Table
from pgt.physics.unknown_function import UnknownFunction

NODES = 16  # at which a value is looked at before it is fitted


def as_values(where, values) -> dict[str, Value]:
    """Values by field in the form we keep."""
    if not values:
        raise InputError(f"{where}: no field given; write {where}(u=0.0) for a field called u.")
    return {field: as_given(f"{where}({field}=...)", value) for field, value in values.items()}


def as_given(where: str, value) -> Value:
    """A value in the form we keep; in a condition it may be an unknown function."""
    return value if isinstance(value, UnknownFunction) else as_value(where, value)


def as_tuple(names: str | Sequence[str] | None) -> tuple[str, ...] | None:
    """One name or several as a tuple."""
    return (names,) if isinstance(names, str) else None if names is None else tuple(names)


def as_axes(where, axis, side, wall) -> tuple[str, ...] | None:
    """The axes that a condition names; checked as far as possible without the domain."""
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


def wall_of(condition, domain: Domain) -> Faces | Spread | Swept:
    """The part of the boundary that a condition names by its axis and side, or by its wall."""
    name, axes, where = type(condition).__name__, condition.axis, condition.where
    if condition.wall is not None:
        with said_of(f"{name}(wall={condition.wall!r})"):
            return domain.wall(condition.wall, where)
    with said_of(f"{name}(axis={axes[0] if len(axes) == 1 else axes!r})" if axes else name):
        return domain.walls(axes, condition.side, where)


@contextmanager
def said_of(where: str) -> Iterator[None]:
    """What the domain refuses is told of the condition that asked."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def check_fields(where, names, fields, derivatives=()) -> None:
    """Each name is a field, or a derivative of one along the axes listed in `derivatives`."""
    for name in names:
        field, _, letters = name.rpartition("_")
        is_derivative = field in fields and letters and set(letters) <= set(derivatives)
        if name not in fields and not is_derivative:
            raise InputError(
                f"{where}: there is no field '{name}', only {', '.join(fields)}."
                + suggestion(name, fields)
            )


def bound_to(condition, region):
    """The condition with its region, and with its values bound to the domain's coordinates."""
    axes, free, values = region.box.axes, free_axes(region), {}
    for field, value in condition.values.items():
        where = f"{type(condition).__name__}({field}=...)"
        values[field] = bind_value(where, value, axes, free)
        if isinstance(value, Table):
            check_cover(where, values[field], region)
        check_finite(where, values[field], axes, edges_and_nodes(region))
    return with_region(eqx.tree_at(lambda c: c.values, condition, values), region)


def free_axes(region: Faces | Spread | Swept) -> tuple[str, ...]:
    """The axes that a value may depend on. With faces across several axes none of those is free on all
    faces: a value then sees them all."""
    axes = region.box.axes
    return region.free if len(axes) - len(region.free) == 1 else axes


def with_static(condition, **values):
    """The same condition with other static fields."""
    bound = object.__new__(type(condition))
    for name in type(condition).__dataclass_fields__:
        object.__setattr__(bound, name, values.get(name, getattr(condition, name)))
    return bound


def with_region(condition, region):
    """The same condition, knowing where it holds."""
    return eqx.tree_at(lambda c: c.region, condition, region, is_leaf=lambda node: node is None)


def check_cover(where, table, region) -> None:
    """Raise unless a table reaches over all axes that vary in the region."""
    check_reach(where, table, region.box, region.free)


def check_reach(where, table: Table, box: Bounds, free: Sequence[str]) -> None:
    """Raise unless a table reaches over those of its axes that are free, from end to end of the box."""
    for name, axis in zip(table.names or (), table.axes, strict=True):
        lower, upper = box.bounds(name)
        slack = 1e-6 * (upper - lower)
        first, last = (box.to_local(name, float(axis[k])) for k in (0, -1))
        if name in free and not (first <= lower + slack and last >= upper - slack):
            raise InputError(
                f"{where}: the table covers {name} from {axis[0]:g} to {axis[-1]:g} but the domain "
                f"goes from {lower:g} to {upper:g}; extend the table to the ends of the domain."
            )


def edges_and_nodes(region: Faces | Spread | Swept) -> np.ndarray:
    """Points of the region, those at the ends of its free axes among them."""
    inside, box = np.asarray(region.nodes(NODES), float), region.box
    if isinstance(region, Spread | Swept):
        return inside
    ends = [inside]
    for axis in region.free:
        for bound in box.bounds(axis):
            moved = inside.copy()
            moved[:, box.index(axis)] = bound
            ends.append(moved)
    return np.concatenate(ends)
