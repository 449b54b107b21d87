"""Derivatives by name, and derived quantities by name.

A residual is called once with a recorder, which finds the derivatives that it needs (`requested`). These
are then computed in one forward pass (`differentiate`, taylor_mode.py) and looked up in a
`DerivativeTable`.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt.core.errors import InputError
from pgt.core.types import Point
from pgt.core.unknown import resolve
from pgt.data.origin import HERE, Origin
from pgt.physics.pde import AbstractPDE, Quantity
from pgt.physics.taylor_mode import PropagationPlan, propagate

LAPLACIAN = "lap"
Along = Any  # a tuple of the coordinate indices to differentiate along, or LAPLACIAN


def parse_name(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...]
) -> tuple[int, tuple[int, ...]]:
    """The field's index and the sorted coordinate indices of a name such as "u_xt".

    >>> parse_name("v_yx", ("x", "y", "t"), ("u", "v"))
    (1, (0, 1))
    """
    if name in fields:
        return fields.index(name), ()
    field, _, letters = name.rpartition("_")
    if field not in fields or not letters or any(letter not in coords for letter in letters):
        raise InputError(
            f"'{name}' is no field or derivative here. Fields are {', '.join(fields)}; a derivative "
            f"is written {fields[0]}_{coords[0]} or {fields[0]}_{coords[0] * 2}, with coordinates "
            f"out of {', '.join(coords)}."
        )
    return fields.index(field), tuple(sorted(coords.index(letter) for letter in letters))


class DerivativeTable:
    """The derivatives at one point by name, as `AbstractPDE.residual` takes them."""

    def __init__(self, values: dict[str, Array]):
        self._values = values

    def __call__(self, name: str) -> Float[Array, ""]:
        return self._values[name]

    def laplacian(self, field: str) -> Float[Array, ""]:
        return self._values[f"{LAPLACIAN}({field})"]

    def counted_from(self, origin: Origin) -> "DerivativeTable":
        """The table with physical coordinates and field values, from one that counts from the origin
        (data/origin.py)."""
        shifts = dict(origin.shifts)
        return DerivativeTable(
            {n: v + shifts[n] if n in shifts else v for n, v in self._values.items()}
        )

    def value(self, name: str) -> Float[Array, ""]:
        """The value by a name from `requested`, which may be the name of a Laplacian."""
        return self._values[name]


class _Recorder:
    """Derivatives that are all zero; it records the names that are looked up."""

    def __init__(self):
        self.names: dict[str, None] = {}

    def __call__(self, name: str) -> Array:
        self.names[name] = None
        return jnp.zeros(())

    def laplacian(self, field: str) -> Array:
        return self(f"{LAPLACIAN}({field})")


def requested(pde: AbstractPDE) -> tuple[str, ...]:
    """The names of all derivatives and coordinates that the residual uses."""
    recorder = _Recorder()
    jax.eval_shape(lambda: resolve(pde).residual(recorder))
    return tuple(recorder.names)


def residual_names(pde: AbstractPDE) -> tuple[str, ...]:
    """The names of the residuals of an equation."""
    return tuple(jax.eval_shape(lambda: resolve(pde).residual(_Recorder())))


class KnownDerivatives:
    """Replaces a field whose derivatives at the point are known.

    `values` holds the derivatives of all fields by the sorted coordinate indices to differentiate along.
    """

    def __init__(self, values: Mapping[tuple[int, ...], Float[Array, " c"]]):
        self.values = values

    def __call__(self, z: Point) -> Float[Array, " c"]:
        return self.values[()]

    def along(self, along: Along, spatial: tuple[int, ...]) -> Float[Array, " c"]:
        if along == LAPLACIAN:
            return sum((self.values[axis, axis] for axis in spatial), jnp.zeros(()))
        return self.values[along]


def derivatives_of(values: Callable, dimension: int, fields: int) -> tuple[tuple[int, ...], ...]:
    """The derivatives that `values(field, z)` uses, each by its coordinate indices.

    >>> derivatives_of(lambda field, z: differentiate(field, ["u_xx"], ("x",), ("u",))(z)("u_xx"), 1, 1)
    ((0, 0),)
    """
    requests: dict[tuple[int, ...], None] = {}

    class Recorder(Mapping):
        def __getitem__(self, along):
            requests[along] = None
            return jnp.zeros(fields)

        def __iter__(self):
            return iter(requests)

        def __len__(self):
            return len(requests)

    jax.eval_shape(lambda z: values(KnownDerivatives(Recorder()), z), jnp.zeros(dimension))
    return tuple(requests)


def differentiate(
    function: Callable[[Point], Float[Array, " c"]],
    names: Iterable[str],
    coords: tuple[str, ...],
    fields: tuple[str, ...],
) -> Callable[[Point], DerivativeTable]:
    """A function that returns the named derivatives of `function` at a point."""
    requests = {n: _parse_request(n, coords, fields) for n in names if n not in coords}
    wanted = {along for _, along in requests.values()}
    spatial = tuple(i for i, c in enumerate(coords) if c != "t")

    def table(z: Point) -> DerivativeTable:
        values = {c: z[i] for i, c in enumerate(coords)}
        streams = _derivatives_at(function, z, wanted, spatial)
        for name, (field, along) in requests.items():
            values[name] = streams[along][field]
        return DerivativeTable(values)

    return table


def residual(
    pde: AbstractPDE,
    function: Callable[[Point], Float[Array, " c"]],
    z: Point,
    origin: Origin = HERE,
) -> dict[str, Float[Array, ""]]:
    """The residual of each equation for the field `function` at one point; both count from `origin`."""
    pde = resolve(pde)
    table = differentiate(function, requested(pde), pde.coords, pde.fields)(z)
    return pde.residual(table.counted_from(origin))


def residual_and_size(
    pde: AbstractPDE,
    function: Callable[[Point], Float[Array, " c"]],
    z: Point,
    origin: Origin = HERE,
) -> dict[str, tuple[Float[Array, ""], Float[Array, ""]]]:
    """The residual r of each equation at one point, and the size of its terms, Σ |∂r/∂d · d|.

    The sum runs over all derivatives d in the residual. The second derivatives of a Laplacian count one
    by one, because they cancel in their sum.
    """
    pde = resolve(pde)
    names = [name for name in requested(pde) if name not in pde.coords]
    parts = {name: _second_derivatives(name, pde.coords) for name in names}
    needed = (*names, *(part for group in parts.values() for part in group), *pde.coords)
    local = differentiate(function, needed, pde.coords, pde.fields)(z)
    table = local.counted_from(origin)
    point = {axis: table.value(axis) for axis in pde.coords}
    values = {name: table.value(name) for name in names}
    sizes = {n: sum(jnp.abs(table.value(part)) for part in group) for n, group in parts.items()}

    def rows(values):
        return pde.residual(DerivativeTable(values | point))

    residuals, slopes = rows(values), jax.jacrev(rows)(values)
    return {
        row: (r, jnp.sum(jnp.stack([jnp.abs(slopes[row][n]) * sizes[n] for n in names])))
        for row, r in residuals.items()
    }


def _second_derivatives(name: str, coords: tuple[str, ...]) -> tuple[str, ...]:
    """The names u_xx, u_yy, ... of the terms of lap(u); for any other derivative its own name."""
    if not name.startswith(f"{LAPLACIAN}("):
        return (name,)
    field = name[len(LAPLACIAN) + 1 : -1]
    return tuple(f"{field}_{axis}{axis}" for axis in coords if axis != "t")


def highest_order(pde: AbstractPDE) -> int:
    """The order of the highest derivative in the residual."""
    names = [n for n in requested(pde) if n not in pde.coords]
    along = [_parse_request(n, pde.coords, pde.fields)[1] for n in names]
    return max((2 if a == LAPLACIAN else len(a) for a in along), default=0)


def expansion(function: Callable[[Point], Float[Array, " k"]], z: Point):
    """The value (k), gradient (k, d) and Hessian (k, d, d) of `function` at one point."""
    size = len(z)
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    plan, layout = _plan({(i,) for i in range(size)} | set(pairs), ())
    stack = propagate(function, z, plan)
    slope = jnp.stack([stack[layout[i,]] for i in range(size)], axis=-1)
    rows = [[stack[layout[min(i, j), max(i, j)]] for j in range(size)] for i in range(size)]
    return stack[0], slope, jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def _parse_request(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...]
) -> tuple[int, Along]:
    if name.startswith(f"{LAPLACIAN}("):
        return parse_name(name[len(LAPLACIAN) + 1 : -1], coords, fields)[0], LAPLACIAN
    return parse_name(name, coords, fields)


def _derivatives_at(
    function, z: Point, wanted: set[Along], spatial: tuple[int, ...]
) -> dict[Along, Array]:
    """Each wanted derivative of all fields at once."""
    if isinstance(function, KnownDerivatives):
        return {along: function.along(along, spatial) for along in wanted}
    high = {a for a in wanted if a != LAPLACIAN and len(a) > 2}
    plan, layout = _plan(wanted - high, spatial)
    stack = propagate(function, z, plan) if plan.directions else function(z)[None]
    streams = {along: stack[layout[along]] for along in wanted - high}
    for along in high:
        # For orders above two, the pass itself is differentiated along the remaining axes.
        streams[along] = _nested_derivative(function, z, along)
    return streams


def _nested_derivative(function, z: Point, along: Along) -> Array:
    if len(along) <= 2:
        plan, layout = _plan({along}, ())
        return propagate(function, z, plan)[layout[along]]
    direction = jnp.zeros_like(z).at[along[-1]].set(1.0)
    return jax.jvp(lambda y: _nested_derivative(function, y, along[:-1]), (z,), (direction,))[1]


def _plan(wanted: set[Along], spatial: tuple[int, ...]) -> tuple[PropagationPlan, dict[Along, int]]:
    """The streams to propagate, and the index of each derivative in their stack."""
    pairs = sorted(a for a in wanted if a != LAPLACIAN)
    axes = {i for a in pairs for i in a} | set(spatial if LAPLACIAN in wanted else ())
    directions = tuple(sorted(axes))
    position = {axis: k for k, axis in enumerate(directions)}
    layout: dict[Along, int] = {(): 0} | {(axis,): 1 + k for axis, k in position.items()}
    forms = []
    for i, j in (a for a in pairs if len(a) == 2):
        # A mixed derivative is the form with A_ij = A_ji = 1/2.
        forms.append(((position[i], position[j], 1.0 if i == j else 0.5),))
        layout[i, j] = len(directions) + len(forms)
    if LAPLACIAN in wanted:
        forms.append(tuple((position[i], position[i], 1.0) for i in spatial))
        layout[LAPLACIAN] = len(directions) + len(forms)
    return PropagationPlan(directions, tuple(forms)), layout


# ------------------------------------------------------------------------------- quantities

# Derived quantities by name: fields, derivatives, and those defined below.


Named = Mapping[str, Quantity]


def _euclidean_length(*parts):
    return sum(part**2 for part in parts) ** 0.5


def _curl_length(w_y, v_z, u_z, w_x, v_x, u_y):
    return _euclidean_length(w_y - v_z, u_z - w_x, v_x - u_y)


# Quantities of a flow (u, v) in the plane, and of a flow (u, v, w) in space, where "vorticity" is the
# length of a vector.
NAMED: Named = {
    "vorticity": Quantity(("v_x", "u_y"), lambda v_x, u_y: v_x - u_y),
    "divergence": Quantity(("u_x", "v_y"), lambda u_x, v_y: u_x + v_y),
    "speed": Quantity(("u", "v"), _euclidean_length),
}
IN_SPACE: Named = {
    "vorticity": Quantity(("w_y", "v_z", "u_z", "w_x", "v_x", "u_y"), _curl_length),
    "vorticity_x": Quantity(("w_y", "v_z"), lambda w_y, v_z: w_y - v_z),
    "vorticity_y": Quantity(("u_z", "w_x"), lambda u_z, w_x: u_z - w_x),
    "vorticity_z": NAMED["vorticity"],
    "divergence": Quantity(("u_x", "v_y", "w_z"), lambda *parts: sum(parts)),
    "speed": Quantity(("u", "v", "w"), _euclidean_length),
}


def parts_of(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...], own: Named | None = None
) -> tuple[str, ...]:
    """The fields and derivatives of which a quantity is made; raise for an unknown name.

    `own` are the quantities that an equation defines.

    >>> parts_of("vorticity", ("x", "y", "t"), ("u", "v", "p"))
    ('v_x', 'u_y')
    >>> parts_of("speed", ("x", "y", "z"), ("u", "v", "w"))
    ('u', 'v', 'w')
    """
    defined = _defined_quantity(name, coords, fields, own)
    parts = defined.parts if defined else (name,)
    for part in parts:
        parse_name(part, coords, fields)
    return parts


def quantity(
    name: str,
    table: DerivativeTable,
    coords: tuple[str, ...],
    fields: tuple[str, ...],
    own: Named | None = None,
) -> Float[Array, ""]:
    """The value of a quantity at one point."""
    if defined := _defined_quantity(name, coords, fields, own):
        return defined.formula(*(table(part) for part in defined.parts))
    return table(name)


def units_of(
    name: str, units: dict[str, str], coords: tuple[str, ...], fields: tuple[str, ...]
) -> str | None:
    """The unit of a field or derivative, where the units of its parts are known.

    >>> units_of("u_xx", {"u": "K", "x": "m"}, ("x", "t"), ("u",))
    'K m-2'
    """
    if defined := _defined_quantity(name, coords, fields):
        return units_of(defined.parts[0], units, coords, fields)
    field, _, letters = (name, "", "") if name in fields else name.rpartition("_")
    if field not in units or any(letter not in units for letter in letters):
        return None
    powers = {axis: letters.count(axis) for axis in dict.fromkeys(letters)}
    # The origin of time does not affect a derivative.
    per = {axis: units[axis].partition(" since ")[0] for axis in powers}
    parts = [units[field], *(f"{per[axis]}-{n}" for axis, n in powers.items())]
    # The unit "1" of a pure number is left out.
    return " ".join(p for p in parts if p != "1" and not p.startswith("1-")) or "1"


def _defined_quantity(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...], own: Named | None = None
) -> Quantity | None:
    """The definition of a quantity; None for fields and derivatives, which take precedence."""
    if name in fields or name.rpartition("_")[0] in fields:
        return None
    if own and name in own:
        return own[name]
    return (IN_SPACE if "z" in coords and "w" in fields else NAMED).get(name)
