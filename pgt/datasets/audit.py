"""How well a data set solves its own equation: the floor no method can pass honestly."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.unknown import resolve

MARGIN = 4  # grid points lost at each end of every axis
HIGHEST_ORDER = 2 * MARGIN


@checked
def audit(dataset: xr.Dataset, pde) -> dict[str, float]:
    """Mean square residual of each equation, by central differences on the interior of the grid.

    Nine-point stencils along every axis: eighth order for first and second derivatives, two orders
    less for each further pair. The numbers hold what the data gets wrong and what the grid does not
    resolve: a method that leaves a smaller residual is no closer to this data for it. Points whose
    stencil meets a NaN do not count.

    Parameters
    ----------
    dataset : the fields of the equation on an evenly spaced grid over its coordinates.
    pde : anything with `coords`, `fields` and `residual(d)`, as every equation of this library.

    >>> import pgt
    >>> floor = audit(pgt.datasets.cylinder_wake(), pgt.NavierStokes2D(viscosity=0.01))
    >>> {name: f"{value:.0e}" for name, value in floor.items()}
    {'momentum_x': '3e-08', 'momentum_y': '9e-09', 'continuity': '2e-08'}

    Half of that is the file's rounding to 15 bits, which differences amplify.
    """
    if isinstance(pde, type) or not all(hasattr(pde, n) for n in ("coords", "fields", "residual")):
        raise InputError(f"audit(pde={pde!r:.60}): write an equation, such as pgt.Heat(0.01).")
    grid = _Grid(dataset, tuple(pde.coords), tuple(pde.fields))
    pde = resolve(pde)
    names = []

    def rows(index: jax.Array) -> list[jax.Array]:
        residual = pde.residual(_AtPoint(grid, index))
        names[:] = residual  # kept apart: a dictionary comes out of JAX in alphabetical order
        return list(residual.values())

    with jax.enable_x64(True):  # a small difference of large terms
        columns = jax.vmap(rows)(jnp.arange(grid.size))
    return {
        name: _mean_square(name, np.asarray(column))
        for name, column in zip(names, columns, strict=True)
    }


class _Grid:
    """Fields and derivatives on all interior points, each worked out when first asked for."""

    def __init__(self, dataset: xr.Dataset, coords: tuple[str, ...], fields: tuple[str, ...]):
        _check_names(dataset, coords, fields)
        self.coords = coords
        self.steps = {axis: _step(axis, dataset[axis].to_numpy()) for axis in coords}
        self._fields = {
            name: dataset[name].transpose(*coords).to_numpy().astype(np.float64) for name in fields
        }
        inside = [dataset[axis].to_numpy().astype(np.float64)[MARGIN:-MARGIN] for axis in coords]
        places = np.meshgrid(*inside, indexing="ij")
        self._flat = {axis: place.ravel() for axis, place in zip(coords, places, strict=True)}
        self.size = places[0].size

    def flat(self, name: str) -> np.ndarray:
        if name not in self._flat:
            self._flat[name] = self._derivative(name).ravel()
        return self._flat[name]

    def _derivative(self, name: str) -> np.ndarray:
        field, letters = (name, "") if name in self._fields else _split(name)
        orders = [letters.count(axis) for axis in self.coords]
        if field not in self._fields or sum(orders) < len(letters) or max(orders) > HIGHEST_ORDER:
            raise InputError(
                f"audit: the equation asks for {name!r}, which is no field or derivative here; "
                f"fields are {', '.join(self._fields)}, coordinates {', '.join(self.coords)}."
            )
        values = self._fields[field]
        # Cut first, so that fewer points are differentiated.
        for axis in sorted(range(len(orders)), key=lambda axis: orders[axis]):
            values = _along(values, axis, orders[axis], self.steps[self.coords[axis]])
        return values


class _AtPoint:
    """What `residual` asks: derivatives by name at one grid point."""

    def __init__(self, grid: _Grid, index: jax.Array):
        self._grid, self._index = grid, index

    def __call__(self, name: str) -> jax.Array:
        return jnp.asarray(self._grid.flat(name))[self._index]

    def laplacian(self, field: str) -> jax.Array:
        spatial = [axis for axis in self._grid.coords if axis != "t"]
        return jnp.stack([self(f"{field}_{axis}{axis}") for axis in spatial]).sum()


def _split(name: str) -> tuple[str, str]:
    field, _, letters = name.rpartition("_")
    return field, letters


def _along(values: np.ndarray, axis: int, order: int, step: float) -> np.ndarray:
    """The derivative along one axis, which loses `MARGIN` points at both ends."""
    windows = np.lib.stride_tricks.sliding_window_view(values, 2 * MARGIN + 1, axis)
    return windows @ _central_weights(order) / step**order if order else windows[..., MARGIN]


def _central_weights(order: int) -> np.ndarray:
    """Nine weights w with Σ w_k f(x + k) = f^(order)(x) for every polynomial of degree 8 or less."""
    offsets = np.arange(-MARGIN, MARGIN + 1.0)
    powers = offsets ** np.arange(len(offsets))[:, None]
    wanted = np.zeros(len(offsets))
    wanted[order] = math.factorial(order)
    weights = np.linalg.solve(powers, wanted)
    # Central weights are even or odd; made exactly so, a constant has no slope.
    return (weights + (-1) ** order * weights[::-1]) / 2


def _check_names(dataset: xr.Dataset, coords: tuple[str, ...], fields: tuple[str, ...]) -> None:
    for name in fields:
        if name not in dataset.data_vars:
            raise InputError(
                f"audit: the equation has a field {name!r} but the data set holds only "
                f"{', '.join(map(str, dataset.data_vars))}; add it or rename one."
            )
        dims = dataset[name].dims
        if set(dims) != set(coords) or not all(axis in dataset.coords for axis in coords):
            raise InputError(
                f"audit: {name!r} has dimensions {dims} but the equation has coordinates {coords}; "
                "give the data exactly those, with positions."
            )


def _step(axis: str, positions: np.ndarray) -> float:
    count = len(positions)
    if count <= 2 * MARGIN:
        raise InputError(
            f"audit: {count} points along {axis!r} leave no interior; give at least "
            f"{2 * MARGIN + 1}."
        )
    positions = positions.astype(np.float64)
    step = (positions[-1] - positions[0]) / (count - 1)
    # Positions may have passed through float32.
    if not (step != 0 and np.all(np.abs(np.diff(positions) - step) <= 1e-4 * abs(step))):
        raise InputError(
            f"audit: the points along {axis!r} are not evenly spaced; interpolate the data to an "
            f"even grid first: dataset.interp({axis}=...)."
        )
    return float(step)


def _mean_square(name: str, values: np.ndarray) -> float:
    counted = values[np.isfinite(values)]
    if counted.size == 0:
        raise InputError(f"audit: no point of the grid gives a finite residual of {name!r}.")
    return float(np.mean(counted**2))
