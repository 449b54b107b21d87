"""Readings of many systems: drawn at random to train networks, or given as plain arrays to trained ones.

`sense` draws sensors, noise and hidden fields of one system under `jit` and `vmap`, as `Sensing` says.
`SensorBatch` checks and holds the arrays that a user gives.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from pgt.core.arguments import Count, Share
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data.domain import Domain
from pgt.families.family import AbstractFamily, SampledSystem
from pgt.kernels.kernel import AbstractKernel, NoKernel
from pgt.models.field_model import Gamma, UnitReadings
from pgt.nn.scaling import Scaling

# The least and the greatest number of stations, which are fixed sensors that read repeatedly.
STATIONS = (3, 24)
TOLERANCE = 1e-6  # Positions closer than this share of an axis are the same.


@checked
@dataclass(frozen=True)
class Sensing:
    """The random layout of sensors in training.

    Parameters
    ----------
    min_readings, max_readings
        The bounds of the number of readings, which is log-uniform.
    max_noise
        The largest σ of the readings, relative to the spread of their field. Half of the systems have
        no noise; the σ of the others is uniform.
    station_share
        The share of systems that are read by a few stations at random instants; 0 without a time axis.
    hidden_share
        The share of systems in which one random field is not read; 0 for families of one field.
    reads
        The fields that sensors measure, such as ("u", "v"); they measure all fields where none is named.

    >>> Sensing(max_readings=64).min_readings
    12
    """

    min_readings: Count = 12
    max_readings: Count = 256
    max_noise: Share = 0.1
    station_share: Share = 0.3
    hidden_share: Share = 0.3
    reads: tuple[str, ...] = ()


class SensedSystem(NamedTuple):
    """One training example: the readings of a system, and its true fields at random query points."""

    readings: UnitReadings
    points: Float[Array, "q d"]
    truth: Float[Array, "q c"]  # standardized like the readings
    size: Float[Array, " c"]  # the spread of the true fields, standardized like the readings
    coefficients: dict[str, Array]
    scaling: Scaling


class NodeGrid(eqx.Module):
    """The nodes of a family in unit coordinates, and the number of instants at each place."""

    points: Float[Array | np.ndarray, "n d"]
    instants: int = eqx.field(static=True)  # the number of nodes along time; 1 without a time axis

    @staticmethod
    def of(family: AbstractFamily) -> "NodeGrid":
        axes, domain = family.axes, family.domain
        mesh = np.meshgrid(*axes.values(), indexing="ij")
        points = np.stack([m.ravel() for m in mesh], axis=-1)
        middle, half = (domain.lower + domain.upper) / 2, domain.extent / 2
        unit = ((points - middle) / half).astype(np.float32)
        last = list(axes)[-1]
        return NodeGrid(unit, len(axes["t"]) if last == "t" else 1)


KernelChoice = Literal["none", "equation", "symmetric"]


class KernelGuide(eqx.Module):
    """The kernel that guides attention, chosen by name.

    "none" is no kernel, and "equation" is the kernel of the equation. "symmetric" is the latter without
    its causality, since a reconstruction may use later readings.
    """

    name: str = eqx.field(static=True, default="none")

    def __call__(self, family: AbstractFamily, coefficients: dict[str, Array]) -> AbstractKernel:
        if self.name == "none":
            return NoKernel()
        kernel: Any = family.pde(coefficients).kernel()
        looks_back = self.name == "symmetric" and hasattr(kernel, "causal")
        return replace(kernel, causal=False) if looks_back else kernel


def sense(
    key: Array,
    system: SampledSystem,
    family: AbstractFamily,
    nodes: NodeGrid,
    sensing: Sensing,
    queries: int,
    guide: KernelGuide,
    exactly: tuple[Int[Array, ""], Float[Array, ""]] | None = None,
) -> SensedSystem:
    """Random readings of one system; `exactly` fixes their number and their relative noise level."""
    keys = jax.random.split(key, 6)
    values = system.values.reshape(-1, system.values.shape[-1])  # n c
    sensor_nodes = _draw_places(keys[0], nodes, sensing)
    count, level = exactly or (_draw_count(keys[1], sensing), _draw_noise(keys[3], sensing))
    mask = _draw_mask(keys[2], count, values.shape[-1], sensing) & _is_read(family, sensing)
    noise = level * jnp.std(values, axis=0)
    read = values[sensor_nodes] + noise * jax.random.normal(
        keys[4], (len(sensor_nodes), values.shape[-1])
    )
    queried = jax.random.randint(keys[5], (queries,), 0, len(values))
    scaling = scaling_of(family, read, mask)
    readings = unit_readings(
        family,
        system.coefficients,
        scaling,
        jnp.asarray(nodes.points)[sensor_nodes],
        read,
        mask,
        guide,
    )
    truth = jnp.asarray(scaling.standardise(values[queried]))
    size = jnp.std(values, axis=0) / jnp.asarray(scaling.spread)
    points = jnp.asarray(nodes.points)[queried]
    return SensedSystem(readings, points, truth, size, dict(system.coefficients), scaling)


def unit_readings(
    family: AbstractFamily,
    coefficients: dict[str, Array],
    scaling: Scaling,
    points: Float[Array, "n d"],
    read: Float[Array, "n c"],
    mask: Bool[Array, "n c"],
    guide: KernelGuide,
) -> UnitReadings:
    """Readings at points in unit coordinates, standardized and with a kernel, as a network takes them."""
    values = jnp.where(mask, scaling.standardise(read), 0.0)
    gamma = Gamma(guide(family, coefficients), scaling)
    return UnitReadings(points, values, mask, gamma, family.numbers(coefficients, scaling))


def scaling_of(
    family: AbstractFamily, read: Float[Array, "n c"], mask: Bool[Array, "n c"]
) -> Scaling:
    """The scaling that `Scaling.fit` returns, but for arrays that JAX traces.

    A field without readings has mean 0 and the spread of the other fields.
    """
    domain = family.domain
    counts = jnp.maximum(jnp.sum(mask, axis=0), 1)
    mean = jnp.sum(jnp.where(mask, read, 0.0), axis=0) / counts
    spread = jnp.sqrt(jnp.sum(jnp.where(mask, (read - mean) ** 2, 0.0), axis=0) / counts)
    is_measured = jnp.any(mask, axis=0)
    typical = jnp.sqrt(
        jnp.sum(jnp.where(is_measured, spread**2, 0.0)) / jnp.maximum(jnp.sum(is_measured), 1)
    )
    spread = jnp.where(is_measured, spread, typical)
    n_points = jnp.maximum(jnp.sum(jnp.any(mask, axis=-1)), 2)
    extent = jnp.asarray(domain.extent, jnp.float32)
    return Scaling(
        middle=jnp.asarray((domain.lower + domain.upper) / 2, jnp.float32),
        half_extent=extent / 2,
        mean=jnp.where(is_measured, mean, 0.0),
        spread=jnp.where(spread > 0, spread, 1.0),
        resolution=extent / n_points ** (1 / domain.dimension),
        periodic=tuple(axis in domain.periodic for axis in domain.axes),
    )


# ------------------------------------------------------------------------------- random draws


def _draw_count(key: Array, sensing: Sensing) -> Int[Array, ""]:
    low, high = np.log(sensing.min_readings), np.log(sensing.max_readings + 1)
    return jnp.exp(jax.random.uniform(key, (), minval=low, maxval=high)).astype(int)


def _draw_noise(key: Array, sensing: Sensing) -> Float[Array, ""]:
    level = jax.random.uniform(key, (), minval=-sensing.max_noise, maxval=sensing.max_noise)
    return jnp.maximum(level, 0.0)


def _draw_mask(
    key: Array, count: Int[Array, ""], fields: int, sensing: Sensing
) -> Bool[Array, "n c"]:
    """The mask of the first `count` rows; in some systems it leaves out one field."""
    read = jnp.arange(sensing.max_readings)[:, None] < count
    if fields == 1:
        return read
    first, second = jax.random.split(key)
    hides = jax.random.uniform(first) < sensing.hidden_share
    hidden_field = jax.random.randint(second, (), 0, fields)
    return read & ~(hides & (jnp.arange(fields) == hidden_field))


def _is_read(family: AbstractFamily, sensing: Sensing) -> Bool[np.ndarray, " c"]:
    """Which fields the sensors measure."""
    for name in sensing.reads:
        if name not in family.fields:
            known = ", ".join(family.fields)
            raise InputError(
                f"Sensing(reads=...): {family.name} has no field {name!r}, but {known}."
            )
    return np.array([not sensing.reads or name in sensing.reads for name in family.fields])


def _draw_places(key: Array, nodes: NodeGrid, sensing: Sensing) -> Int[Array, " n"]:
    """The nodes at which sensors read: random ones, or those of a few stations at random instants."""
    total, max_readings = len(nodes.points), sensing.max_readings
    anywhere, which, where, when, number = jax.random.split(key, 5)
    scattered = jax.random.randint(anywhere, (max_readings,), 0, total)
    if nodes.instants == 1:
        return scattered
    low, high = np.log(STATIONS[0]), np.log(STATIONS[1] + 1)
    count = jnp.exp(jax.random.uniform(number, (), minval=low, maxval=high)).astype(int)
    stations = jax.random.randint(where, (STATIONS[1],), 0, total // nodes.instants)
    at, instant = jax.random.split(when)
    station = stations[jax.random.randint(at, (max_readings,), 0, count)]
    fixed = station * nodes.instants + jax.random.randint(
        instant, (max_readings,), 0, nodes.instants
    )
    return jnp.where(jax.random.uniform(which) < sensing.station_share, fixed, scattered)


# ------------------------------------------------------------------------------- plain arrays


class SensorBatch(NamedTuple):
    """k systems with n readings each, in the family's domain; missing values are masked."""

    points: Float[np.ndarray, "k n d"]
    values: Float[np.ndarray, "k n c"]
    mask: Bool[np.ndarray, "k n c"]
    coefficients: dict[str, Float[np.ndarray, " k"]]
    at: Float[np.ndarray, "m d"]  # the points at which fields are predicted

    @property
    def counts(self) -> list[int]:
        """The number of readings of each system."""
        return self.mask.any(axis=-1).sum(axis=-1).tolist()

    def has_stations(self, domain: Domain) -> list[bool]:
        """Whether the sensors of each system are stations."""
        rows = zip(self.points, self.mask, strict=True)
        return [are_stations(points[mask.any(axis=-1)], domain) for points, mask in rows]

    @staticmethod
    def of(family: AbstractFamily, points, values, coefficients: Mapping, at) -> "SensorBatch":
        """A batch of arrays after checks of shapes, positions in the domain, and coefficients."""
        domain = family.domain
        axes, fields = ", ".join(domain.axes), ", ".join(family.fields)
        points = _as_array(
            "points", points, (None, None, domain.dimension), f"system, reading, ({axes})"
        )
        systems, count = points.shape[:2]
        shape = (systems, count, len(family.fields))
        values = _as_array("values", values, shape, f"system, reading, ({fields})", may_miss=True)
        at = _as_array("at", at, (None, domain.dimension), f"point, ({axes})")
        mask = np.isfinite(values)
        read = np.any(mask, axis=2)
        if not read.any(axis=1).all():
            raise InputError(f"answers: system {int(np.argmin(read.any(axis=1)))} has no reading.")
        inside_points = np.where(read[..., None], points, domain.lower)
        wrapped_points = domain.box.wrapped(
            inside_points.reshape(-1, domain.dimension), domain.periodic
        )
        inside_points = wrapped_points.reshape(points.shape)
        _check_inside(inside_points, domain)
        numbers = {
            name: _as_coefficient(family, name, coefficients, systems) for name in family.ranges
        }
        return SensorBatch(inside_points, np.where(mask, values, 0.0), mask, numbers, at)


def are_stations(points: Float[np.ndarray, "n d"], domain: Domain) -> bool:
    """Whether the readings come from a few fixed sensors that read repeatedly."""
    if "t" not in domain.axes:
        return False
    space = [i for i, axis in enumerate(domain.axes) if axis != "t"]
    unit = ((points - domain.lower) / domain.extent)[:, space]
    places = len(np.unique(np.round(unit / TOLERANCE), axis=0))
    return places <= min(STATIONS[1], len(points) / 2)


def _as_array(
    name: str, given, shape: tuple[int | None, ...], words: str, may_miss: bool = False
) -> np.ndarray:
    try:
        array = np.asarray(given, float)
    except (TypeError, ValueError):
        array = np.zeros(())
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) for wanted, size in zip(shape, array.shape, strict=True)
    )
    if not fits:
        raise InputError(f"answers: {name} has shape {array.shape}; its axes are {words}.")
    if np.isinf(array).any() or (not may_miss and np.isnan(array).any()):
        missing = "; write NaN for a missing value" if may_miss else ""
        raise InputError(f"answers: {name} has a number that is not finite{missing}.")
    return array


def _check_inside(points: Float[np.ndarray, "k n d"], domain: Domain) -> None:
    slack = TOLERANCE * domain.extent
    beyond = (points < domain.lower - slack) | (points > domain.upper + slack)
    if beyond.any():
        system, row, axis = (int(i) for i in np.argwhere(beyond)[0])
        name = domain.axes[axis]
        low, high = domain.bounds(name)
        raise InputError(
            f"answers: {int(beyond.any(axis=-1).sum())} reading(s) outside the domain {name} = ({low:g}, "
            f"{high:g}), the first of system {system}: {name} = {points[system, row, axis]:g}."
        )


def _as_coefficient(
    family: AbstractFamily, name: str, given: Mapping, systems: int
) -> Float[np.ndarray, " k"]:
    if name not in given:
        raise InputError(f"answers: {family.name} needs the coefficient {name!r} of every system.")
    values = np.asarray(given[name], float)
    if values.shape != (systems,) or not (np.isfinite(values) & (values > 0)).all():
        raise InputError(
            f"answers: {name} has shape {values.shape}; write a number above 0 for each of the {systems} "
            "systems."
        )
    return values
