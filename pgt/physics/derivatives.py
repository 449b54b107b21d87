"""Derivatives by name: ask a residual once which ones it needs, compute just those in one pass."""

from collections.abc import Callable, Iterable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from pgt._errors import InputError
from pgt._types import Point
from pgt._unknown import resolve
from pgt.physics.pde import AbstractPDE
from pgt.physics.streams import Plan, propagate

Request = tuple[int, tuple[int, ...]]  # field index, coordinate indices to differentiate along
LAPLACIAN = "lap"


def parse_name(name: str, coords: tuple[str, ...], fields: tuple[str, ...]) -> Request:
    """Split "u_xt" into the field's index and the sorted coordinate indices.

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
    """The derivatives at one point, looked up by name; hand it to `AbstractPDE.residual`."""

    def __init__(self, values: dict[str, Array]):
        self._values = values

    def __call__(self, name: str) -> Float[Array, ""]:
        return self._values[name]

    def laplacian(self, field: str) -> Float[Array, ""]:
        return self._values[f"{LAPLACIAN}({field})"]


class _Recorder:
    """Answers every question with zero and remembers the questions."""

    def __init__(self):
        self.names: dict[str, None] = {}

    def __call__(self, name: str) -> Array:
        self.names[name] = None
        return jnp.zeros(())

    def laplacian(self, field: str) -> Array:
        return self(f"{LAPLACIAN}({field})")


def requested(pde: AbstractPDE) -> tuple[str, ...]:
    """The names of all derivatives and coordinates that the residual asks for."""
    recorder = _Recorder()
    jax.eval_shape(lambda: resolve(pde).residual(recorder))
    return tuple(recorder.names)


def differentiate(
    function: Callable[[Point], Float[Array, " c"]],
    names: Iterable[str],
    coords: tuple[str, ...],
    fields: tuple[str, ...],
) -> Callable[[Point], DerivativeTable]:
    """A function of one point that returns the named derivatives of `function` there."""
    names = tuple(names)
    requests = {n: _requests(n, coords, fields) for n in names if n not in coords}
    orders = sorted({r for rs in requests.values() for r in rs}, key=lambda r: (len(r[1]), r))
    laplacian = any(n.startswith(f"{LAPLACIAN}(") for n in names)
    spatial = tuple(i for i, c in enumerate(coords) if c != "t")
    axes = {a for _, a in orders}

    def table(z: Point) -> DerivativeTable:
        values = {c: z[i] for i, c in enumerate(coords)}
        streams, laplacians = _all_orders(function, z, axes, spatial if laplacian else ())
        for name, parts in requests.items():
            if name.startswith(f"{LAPLACIAN}("):
                values[name] = laplacians[parts[0][0]]
            else:
                field, along = parts[0]
                values[name] = streams[along][field]
        return DerivativeTable(values)

    return table


def residual(
    pde: AbstractPDE, function: Callable[[Point], Float[Array, " c"]], z: Point
) -> dict[str, Float[Array, ""]]:
    """The residual of each equation for the field `function` at one point."""
    pde = resolve(pde)
    return pde.residual(differentiate(function, requested(pde), pde.coords, pde.fields)(z))


def highest_order(pde: AbstractPDE) -> int:
    """The order of the highest derivative that the residual asks for."""
    names = [n for n in requested(pde) if n not in pde.coords]
    orders = [len(_requests(n, pde.coords, pde.fields)[0][1]) for n in names]
    return max([2 * any(n.startswith(f"{LAPLACIAN}(") for n in names), *orders])


def expansion(function: Callable[[Point], Float[Array, " k"]], z: Point):
    """Value (k), gradient (k, d) and Hessian (k, d, d) of `function` at one point."""
    size = len(z)
    pairs = [(i, j) for i in range(size) for j in range(i, size)]
    plan, layout = _plan({(i,) for i in range(size)} | set(pairs), ())
    stack = propagate(function, z, plan)
    slope = jnp.stack([stack[layout[i,]] for i in range(size)], axis=-1)
    rows = [[stack[layout[min(i, j), max(i, j)]] for j in range(size)] for i in range(size)]
    return stack[0], slope, jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def _requests(name: str, coords, fields) -> list[Request]:
    if name.startswith(f"{LAPLACIAN}("):
        return [parse_name(name[len(LAPLACIAN) + 1 : -1], coords, fields)]
    return [parse_name(name, coords, fields)]


def _all_orders(function, z: Point, axes: set[tuple[int, ...]], laplacian: tuple[int, ...]):
    """{coordinate indices: derivative of all fields}, and the Laplacian of all fields."""
    low = {a for a in axes if len(a) <= 2}
    plan, layout = _plan(low, laplacian)
    stack = propagate(function, z, plan) if plan.directions else function(z)[None]
    streams = {a: stack[layout[a]] for a in low}
    laplacians = stack[layout["laplacian"]] if laplacian else None
    for along in axes - low:
        # Orders above two: differentiate the pass itself along the remaining axes.
        streams[along] = _nested(function, z, along)
    return streams, laplacians


def _nested(function, z: Point, along: tuple[int, ...]) -> Array:
    if len(along) <= 2:
        plan, layout = _plan({along}, ())
        return propagate(function, z, plan)[layout[along]]
    direction = jnp.zeros_like(z).at[along[-1]].set(1.0)
    return jax.jvp(lambda y: _nested(function, y, along[:-1]), (z,), (direction,))[1]


def _plan(axes: set[tuple[int, ...]], laplacian: tuple[int, ...]) -> tuple[Plan, dict]:
    """The streams to carry and where each derivative stands in the stack."""
    directions = tuple(sorted({i for a in axes for i in a} | set(laplacian)))
    position = {axis: k for k, axis in enumerate(directions)}
    layout: dict = {(): 0} | {(axis,): 1 + k for axis, k in position.items()}
    forms = []
    for i, j in sorted(a for a in axes if len(a) == 2):
        # A mixed derivative is the form with A_ij = A_ji = 1/2.
        forms.append(((position[i], position[j], 1.0 if i == j else 0.5),))
        layout[i, j] = len(directions) + len(forms)
    if laplacian:
        forms.append(tuple((position[i], position[i], 1.0) for i in laplacian))
        layout["laplacian"] = len(directions) + len(forms)
    return Plan(directions, tuple(forms)), layout
