"""Simulations that a user brings."""

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pgt.data.domain import Domain
from pgt.families.dimensionless import Number, centred, extents
from pgt.families.family import AbstractFamily, Coefficients, check_names, filled
from pgt.families.simulation_files import read_folder, without_repeated_ends
from pgt.families.system import System
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.types import Key
from pgt.nn.scaling import Scaling
from pgt.physics.pde import AbstractPDE

Kind = TypeVar("Kind", bound="Simulations")
FIFTH = 5  # one of so many files judges a network that was trained on the others


@checked
class Simulations(AbstractFamily):
    """A folder of NetCDF files, each of them one simulation; a draw takes one of them.

    All have the same grid. They are held in memory, in single precision; compile a draw with
    `equinox.filter_jit(family.draw)`, which takes them as arguments and not as constants.

    Parameters
    ----------
    folder
        Where the files are: .nc, .nc4 or .cdf.
    pde
        The equation, called with the coefficients by name: `pgt.NavierStokes2D`, for example. Its
        coordinates and fields are those that every file must have.
    coefficients
        Their names; each file has them as attributes, or as variables that are one number.
    crop
        How many nodes of an axis a draw shows, from a random one on: {"t": 33}. The axis is then counted
        from the start of the window, which is right where the equation holds alike everywhere along it.
    periodic
        Axes whose period is one step longer than their nodes; a last node that repeats the first in all
        files is not counted.

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
    keeps_systems: ClassVar[bool] = False
    fields: tuple[str, ...] = eqx.field(static=True)
    form: Callable[..., AbstractPDE] | None = eqx.field(static=True)
    region: Domain = eqx.field(static=True)
    nodes: tuple[tuple[str, tuple[float, ...]], ...] = eqx.field(static=True)
    bounds: tuple[tuple[str, tuple[float, float]], ...] = eqx.field(static=True)
    usual: tuple[float, ...] = eqx.field(static=True)
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
        equation = filled(pde, dict.fromkeys(names, 1.0))
        self.form, self.fields = pde, tuple(equation.fields)
        stored = read_folder(folder, equation.coords, self.fields, names)
        found = without_repeated_ends(stored, periodic)
        shown = {axis: _shown(axis, n, dict(crop or {})) for axis, n in found.axes.items()}
        _check_crop(found.axes, dict(crop or {}), tuple(periodic))
        bounds: Any = bounds_of(shown, tuple(periodic))
        self.region = Domain(periodic=periodic, **bounds)
        self.nodes = tuple((axis, tuple(nodes.tolist())) for axis, nodes in shown.items())
        self.values, self.given = found.values, found.coefficients.astype(np.float32)
        self.usual = tuple(spread_of(found.values[..., i]) for i in range(len(self.fields)))
        ends = zip(names, found.coefficients.min(0), found.coefficients.max(0), strict=True)
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

    def draw(self, key: Key, coefficients: Coefficients | None = None) -> System:
        """A simulation; where coefficients are given, that whose own, which it keeps, are nearest."""
        for_axes = jax.random.split(key, 1 + len(self.nodes))[1:]
        which = self._nearest(coefficients) if coefficients else self.stored(key)
        sizes = [len(nodes) for _, nodes in self.nodes]
        whole = jnp.asarray(self.values)[which]
        starts = [
            jax.random.randint(own, (), 0, full - size + 1)
            for own, full, size in zip(for_axes, whole.shape[:-1], sizes, strict=True)
        ]
        values = jax.lax.dynamic_slice(whole, (*starts, 0), (*sizes, len(self.fields)))
        return System(self._row(which), values)

    def stored(self, key: Key) -> Int[Array, ""]:
        for_file = jax.random.split(key, 1 + len(self.nodes))[0]
        return jax.random.randint(for_file, (), 0, len(self.values))

    def equation(self, **coefficients: Any) -> AbstractPDE:
        if self.form is None:
            raise InputError(
                "the file of a network over simulations does not hold their equation; give the equation "
                "itself."
            )
        return self.form(**coefficients)

    def parted(self) -> "tuple[Simulations, Simulations]":
        """Every fifth of three or more judges; of fewer all do both, and what they say is too good."""
        judges = np.arange(len(self.values)) % FIFTH == FIFTH // 2
        if not judges.any():
            return self, self
        return self.taken(~judges), self.taken(judges)

    def taken(self, which: Bool[np.ndarray, " files"]) -> "Simulations":
        """Some of the simulations, as a family with the ranges of all."""
        kept = ("values", "given")
        return replaced(self, **{name: np.asarray(getattr(self, name))[which] for name in kept})

    def without_systems(self) -> "Simulations":
        """With one of the simulations, as an example, and without the equation, which may be code."""
        return replaced(self, form=None, values=np.asarray(self.values[:1]), given=self.given[:1])

    def numbers(self, coefficients: Coefficients, scaling: Scaling) -> Float[Array, " k"]:
        """Coefficients within their ranges, and all scales against those of the files."""
        told = [_told(coefficients[name], *ends) for name, ends in self.ranges.items()]
        usual = jnp.asarray(self.usual)
        sizes, means = jnp.log(jnp.asarray(scaling.spread) / usual), scaling.mean / usual
        lengths = jnp.log(extents(scaling) / self.domain.extent)
        return jnp.concatenate([jnp.asarray(told), sizes, means, lengths])

    @property
    def told(self) -> tuple[str, ...]:
        scaled = (f"the scaled {name}" for name in self.ranges)
        sizes, means = ([f"the {what} of {f}" for f in self.fields] for what in ("size", "mean"))
        return (*scaled, *sizes, *means, *(f"the extent of {axis}" for axis in self.domain.axes))

    def settled(self, coefficients: Coefficients) -> dict[str, float]:
        """Those of the nearest file."""
        row = self._row(self._nearest(coefficients))
        return {name: float(value) for name, value in row.items()}

    def _row(self, which) -> dict[str, Array]:
        """The coefficients of one file."""
        return dict(zip(self.ranges, jnp.asarray(self.given)[which], strict=True))

    def _nearest(self, coefficients: Coefficients):
        check_names(self, coefficients)
        apart = jnp.zeros(len(self.given))
        for i, (name, ends) in enumerate(self.ranges.items()):
            if name in coefficients:
                apart += (_told(coefficients[name], *ends) - _told(self.given[:, i], *ends)) ** 2
        return jnp.argmin(apart)


def replaced(family: Kind, **fields: Any) -> Kind:
    """A family with other fields, made without its constructor, which reads files."""
    found = object.__new__(type(family))
    for name, value in (vars(family) | fields).items():
        object.__setattr__(found, name, value)
    return found


def _told(value: Number, low: float, high: float):
    """Where a coefficient lies within its range: in orders of magnitude, unless some are not positive."""
    if low > 0:
        return centred(value, low, high)
    return (jnp.asarray(value) - (low + high) / 2) / ((high - low) / 2 or 1.0)


def _shown(axis: str, nodes: np.ndarray, crop: dict[str, int]) -> np.ndarray:
    """The nodes of a draw."""
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


def bounds_of(axes: dict[str, np.ndarray], periodic: tuple[str, ...]):
    """From the first node to the last, and where an axis is periodic one step beyond."""
    return {
        axis: (float(n[0]), float(n[-1] + (n[1] - n[0] if axis in periodic else 0.0)))
        for axis, n in axes.items()
    }


def spread_of(values: np.ndarray) -> float:
    return float(values.std(dtype=np.float64)) or 1.0
