"""A family whose systems are simulations: a folder of NetCDF files, all on one grid.

A draw takes the fields of one file, or a random window of them. The files are read once and held in
memory. Networks are trained on such a family like on one that solves its equation.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Bool, Float, Int

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.types import Key
from pgt.data.domain import Domain
from pgt.families.family import (
    AbstractFamily,
    Coefficients,
    Number,
    SampledSystem,
    centered,
    check_names,
    extents,
    with_traced_coefficients,
)
from pgt.io.netcdf import NETCDF_ENDINGS, read_field
from pgt.nn.scaling import Scaling
from pgt.physics.pde import AbstractPDE

VALIDATION_STRIDE = 5  # Every fifth file is for validation, and the others are for training.
# A repeated end node differs by less than this share of the field's variation along the axis.
REPEAT_TOLERANCE = 1e-5


@checked
class Simulations(AbstractFamily):
    """A family of simulations, each of them a NetCDF file of a folder; a draw takes one of them.

    All files have the same grid. They are held in memory, in single precision. Compile a draw with
    `equinox.filter_jit(family.draw)`, which passes them as arguments and not as constants.

    Parameters
    ----------
    folder
        The folder with the files: .nc, .nc4 or .cdf.
    pde
        The equation, called with the coefficients by name: `pgt.NavierStokes2D`, for example. Every
        file must have its coordinates and fields.
    coefficients
        The names of the coefficients. Each file has them as attributes, or as scalar variables.
    crop
        The number of nodes of a random window that a draw takes along an axis: {"t": 33}. The axis
        starts at zero in each window, so the equation must not depend on it explicitly.
    periodic
        The periodic axes. Their period ends one step after the last node; where the last node repeats
        the first one in all files, it is dropped.

    >>> import tempfile
    >>> import pgt
    >>> family, keys = pgt.families.get("heat"), jax.random.split(jax.random.key(0), 3)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for i, key in enumerate(keys):
    ...         system = family.dataset(family.draw(key))
    ...         _ = pgt.io.write_field(system, f"{folder}/{i}.nc")
    ...     own = Simulations(folder, pgt.Heat, ["diffusivity"], crop={"t": 33})
    >>> own.draw(keys[0]).values.shape, own.domain
    ((64, 33, 1), Domain(x=(0, 1), t=(0, 0.5)))
    """

    name: ClassVar[str] = "simulations"
    fields: tuple[str, ...] = eqx.field(static=True)
    form: Callable[..., AbstractPDE] | None = eqx.field(static=True)
    region: Domain = eqx.field(static=True)
    nodes: tuple[tuple[str, tuple[float, ...]], ...] = eqx.field(static=True)
    bounds: tuple[tuple[str, tuple[float, float]], ...] = eqx.field(static=True)
    spreads: tuple[float, ...] = eqx.field(static=True)
    values: Float[Array | np.ndarray, "files *grid c"]
    given: Float[Array | np.ndarray, "files k"]

    def __init__(
        self,
        folder: str | os.PathLike,
        pde: Callable[..., AbstractPDE],
        coefficients: Sequence[str] = (),
        crop: Mapping[str, int] | None = None,
        periodic: Sequence[str] = (),
    ):
        names = tuple(coefficients)
        equation = with_traced_coefficients(pde, dict.fromkeys(names, 1.0))
        self.form, self.fields = pde, tuple(equation.fields)
        files = read_folder(folder, equation.coords, self.fields, names)
        content = without_repeated_ends(files, periodic)
        window = {axis: _window(axis, n, dict(crop or {})) for axis, n in content.axes.items()}
        _check_crop(content.axes, dict(crop or {}), tuple(periodic))
        self.region = Domain(periodic=periodic, **_bounds_of(window, tuple(periodic)))
        self.nodes = tuple((axis, tuple(nodes.tolist())) for axis, nodes in window.items())
        self.values, self.given = content.values, content.coefficients.astype(np.float32)
        self.spreads = tuple(
            float(content.values[..., i].std(dtype=np.float64)) or 1.0
            for i in range(len(self.fields))
        )
        ends = zip(names, content.coefficients.min(0), content.coefficients.max(0), strict=True)
        self.bounds = tuple((name, (float(low), float(high))) for name, low, high in ends)

    @property
    def domain(self) -> Domain:
        return self.region

    @property
    def axes(self) -> dict[str, np.ndarray]:
        return {axis: np.asarray(nodes) for axis, nodes in self.nodes}

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        return dict(self.bounds)

    def draw(self, key: Key, coefficients: Coefficients | None = None) -> SampledSystem:
        """A random simulation, or the one whose coefficients are nearest to the given ones."""
        for_file, *for_axes = jax.random.split(key, 1 + len(self.nodes))
        file = (
            self._nearest(coefficients)
            if coefficients
            else jax.random.randint(for_file, (), 0, len(self.values))
        )
        sizes = [len(nodes) for _, nodes in self.nodes]
        whole = jnp.asarray(self.values)[file]
        starts = [
            jax.random.randint(axis_key, (), 0, length - size + 1)
            for axis_key, length, size in zip(for_axes, whole.shape[:-1], sizes, strict=True)
        ]
        values = jax.lax.dynamic_slice(whole, (*starts, 0), (*sizes, len(self.fields)))
        return SampledSystem(self._coefficients_of(file), values)

    def equation(self, **coefficients: Any) -> AbstractPDE:
        if self.form is None:
            raise InputError(
                "the file of a network over simulations does not hold their equation; give the equation "
                "itself."
            )
        return self.form(**coefficients)

    def split(self) -> "tuple[Simulations, Simulations]":
        """The files for training and those for validation, which are every fifth.

        With fewer than three files, all serve for both, and the validation errors are too small.
        """
        validates = np.arange(len(self.values)) % VALIDATION_STRIDE == VALIDATION_STRIDE // 2
        if not validates.any():
            return self, self
        return self._subset(~validates), self._subset(validates)

    def without_systems(self) -> "Simulations":
        """The family with one example only, and without the equation, which may be the user's code."""
        return _replaced(self, form=None, values=np.asarray(self.values[:1]), given=self.given[:1])

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " k"]:
        """The coefficients scaled by their ranges, and all scales relative to those of the files."""
        scaled = [_scaled(coefficients[name], *ends) for name, ends in self.ranges.items()]
        spreads = jnp.asarray(self.spreads)
        sizes, means = jnp.log(jnp.asarray(scaling.spread) / spreads), scaling.mean / spreads
        lengths = jnp.log(extents(scaling) / self.domain.extent)
        return jnp.concatenate([jnp.asarray(scaled), sizes, means, lengths])

    @property
    def number_names(self) -> tuple[str, ...]:
        scaled = (f"the scaled {name}" for name in self.ranges)
        sizes, means = ([f"the {what} of {f}" for f in self.fields] for what in ("size", "mean"))
        return (*scaled, *sizes, *means, *(f"the extent of {axis}" for axis in self.domain.axes))

    def nearest_coefficients(self, coefficients: Coefficients) -> dict[str, float]:
        """The coefficients of the nearest file."""
        row = self._coefficients_of(self._nearest(coefficients))
        return {name: float(value) for name, value in row.items()}

    def _subset(self, which: Bool[np.ndarray, " files"]) -> "Simulations":
        """A family of some of the simulations, with the coefficient ranges of all."""
        return _replaced(
            self, values=np.asarray(self.values)[which], given=np.asarray(self.given)[which]
        )

    def _coefficients_of(self, which: Int[Array, ""]) -> dict[str, Array]:
        return dict(zip(self.ranges, jnp.asarray(self.given)[which], strict=True))

    def _nearest(self, coefficients: Coefficients) -> Int[Array, ""]:
        check_names(self, coefficients)
        distance = jnp.zeros(len(self.given))
        for i, (name, ends) in enumerate(self.ranges.items()):
            if name in coefficients:
                miss = _scaled(coefficients[name], *ends) - _scaled(self.given[:, i], *ends)
                distance += miss**2
        return jnp.argmin(distance)


def _replaced(family: Simulations, **fields: Any) -> Simulations:
    """A copy with other fields; it bypasses the constructor, which reads files."""
    copy = object.__new__(type(family))
    for name, value in (vars(family) | fields).items():
        object.__setattr__(copy, name, value)
    return copy


def _scaled(value: Number, low: float, high: float):
    """A coefficient scaled to -1 to 1 within its range, logarithmically where the range is positive."""
    if low > 0:
        return centered(value, low, high)
    return (jnp.asarray(value) - (low + high) / 2) / ((high - low) / 2 or 1.0)


def _window(axis: str, nodes: np.ndarray, crop: dict[str, int]) -> np.ndarray:
    """The nodes of a draw along one axis; a window of `crop` nodes starts at zero."""
    return nodes if axis not in crop else nodes[: crop[axis]] - nodes[0]


def _check_crop(axes: dict[str, np.ndarray], crop: dict[str, int], periodic: tuple[str, ...]):
    for axis in (*crop, *periodic):
        if axis not in axes:
            raise InputError(f"Simulations: there is no axis {axis!r}; they are {', '.join(axes)}.")
        steps = np.diff(axes[axis])
        if not np.allclose(steps, steps[0], rtol=1e-3):
            raise InputError(
                f"Simulations: the nodes along {axis!r} are not evenly spaced, so it can neither be "
                "cropped nor periodic."
            )
    for axis, count in crop.items():
        if axis in periodic or not 2 <= count <= axes[axis].size:
            raise InputError(
                f"Simulations(crop={{{axis!r}: {count}}}): write 2 to {axes[axis].size} nodes, of an "
                "axis that is not periodic."
            )


def _bounds_of(axes: dict[str, np.ndarray], periodic: tuple[str, ...]) -> dict[str, Any]:
    """The bounds of each axis: from the first node to the last, plus one step on a periodic axis."""
    return {
        axis: (float(n[0]), float(n[-1] + (n[1] - n[0] if axis in periodic else 0.0)))
        for axis, n in axes.items()
    }


# ------------------------------------------------------------------------------- files


class SimulationFiles(NamedTuple):
    """The content of a folder: nodes, fields (file, *axes, field) and coefficients (file, name)."""

    axes: dict[str, np.ndarray]
    values: np.ndarray
    coefficients: np.ndarray


def read_folder(
    folder: str | os.PathLike,
    coords: Sequence[str],
    fields: Sequence[str],
    coefficients: Sequence[str],
) -> SimulationFiles:
    """The content of all files, in the order of their names."""
    paths = sorted(p for p in Path(folder).glob("*") if p.suffix.lower() in NETCDF_ENDINGS)
    if not paths:
        raise InputError(
            f"Simulations: there is no NetCDF file ({', '.join(NETCDF_ENDINGS)}) in "
            f"{os.fspath(folder)!r}."
        )
    axes, values, numbers = {}, [], []
    for path in paths:
        dataset = read_field(path)
        nodes = {axis: _nodes_in(path, dataset, axis) for axis in coords}
        axes = axes or nodes
        _check_same_grid(path, paths[0], nodes, axes)
        values.append(_fields_in(path, dataset, coords, fields))
        numbers.append([_coefficient_in(path, dataset, name) for name in coefficients])
    table = np.asarray(numbers, float).reshape(len(paths), -1)
    return SimulationFiles(axes, np.stack(values), table)


def without_repeated_ends(files: SimulationFiles, periodic: Sequence[str]) -> SimulationFiles:
    """The files without the last node of a periodic axis where it repeats the first one.

    Such a node would lengthen the period by one step. It is recognized by its fields, which equal those
    of the first node in every file. Where no field varies along the axis, the node is kept.
    """
    axes, values = dict(files.axes), files.values
    for position, axis in enumerate(axes, start=1):
        if axis not in periodic or values.shape[position] < 3:
            continue
        first, last = (values.take(end, axis=position) for end in (0, -1))
        variation = float(values.std(axis=position).max())
        if variation > 0 and np.abs(last - first).max() < REPEAT_TOLERANCE * variation:
            values = values.take(range(values.shape[position] - 1), axis=position)
            axes[axis] = axes[axis][:-1]
    return SimulationFiles(axes, values, files.coefficients)


def _nodes_in(path: Path, dataset: xr.Dataset, axis: str) -> np.ndarray:
    if axis not in dataset.coords:
        listed = ", ".join(map(str, dataset.coords)) or "none"
        raise InputError(f"{path.name}: there is no coordinate {axis!r}; it has {listed}.")
    nodes = np.asarray(dataset[axis].values, float)
    if nodes.ndim != 1 or nodes.size < 2 or not (np.diff(nodes) > 0).all():
        raise InputError(
            f"{path.name}: the coordinate {axis!r} must have at least two values that increase."
        )
    return nodes


def _check_same_grid(path: Path, first: Path, nodes_by_axis: dict, axes: dict) -> None:
    for axis, nodes in nodes_by_axis.items():
        same = nodes.size == axes[axis].size
        if not same or not np.allclose(nodes, axes[axis], atol=1e-6 * np.ptp(axes[axis])):
            raise InputError(
                f"{path.name}: its values of {axis!r} are not those of {first.name}; put all "
                "simulations on one grid."
            )


def _fields_in(path: Path, dataset: xr.Dataset, coords: Sequence[str], fields: Sequence[str]):
    arrays = []
    for name in fields:
        if name not in dataset.data_vars:
            listed = ", ".join(map(str, dataset.data_vars))
            raise InputError(f"{path.name}: there is no field {name!r}; it has {listed}.")
        if set(dataset[name].dims) != set(coords):
            raise InputError(
                f"{path.name}: the field {name!r} lies over {', '.join(map(str, dataset[name].dims))}; "
                f"the equation has the coordinates {', '.join(coords)}."
            )
        arrays.append(np.asarray(dataset[name].transpose(*coords).values, np.float32))
        if not np.isfinite(arrays[-1]).all():
            missing = int((~np.isfinite(arrays[-1])).sum())
            raise InputError(
                f"{path.name}: the field {name!r} is not finite at {missing} of {arrays[-1].size} nodes; "
                "fill them, or leave the file out."
            )
    return np.stack(arrays, axis=-1)


def _coefficient_in(path: Path, dataset: xr.Dataset, name: str) -> float:
    """The value of a coefficient, from an attribute of the file or else from a scalar variable."""
    held = dataset.attrs.get(name, dataset.get(name))
    write = f"dataset.attrs[{name!r}] = ..."
    if held is None:
        raise InputError(
            f"{path.name}: the coefficient {name!r} is missing; write it as an attribute of the file, "
            f"{write}, or as a variable that is one number."
        )
    try:
        value = float(np.asarray(held).item())
    except (TypeError, ValueError):
        value = np.nan
    if not np.isfinite(value):
        shown = repr(held) if isinstance(held, str) else np.asarray(held)
        raise InputError(
            f"{path.name}: the coefficient {name!r} is {shown}, which is no number; write one without "
            f"its unit, {write}."
        )
    return value
