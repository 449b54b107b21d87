"""Initial states and boundary values that nobody gave: functions with a smoothness prior.

A function is a sum of Legendre polynomials along each axis, of waves along a periodic one, so many that
the prior and not their number says how smooth it is. The prior is a Gaussian process with the covariance
exp(-d²/2l²), projected onto the sum; its lengths and sizes are chosen by the evidence (solver.py). A
boundary value continues the initial state: what is unknown is by how much it has moved since.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.polynomial import legendre

from pgt.core.errors import InputError
from pgt.core.unknown import named_unknowns
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.inference.gaussian_process import Process, processes, unit_coordinates
from pgt.methods.solver.collocation import Grid
from pgt.methods.solver.splines import MAX_BUFFER, Splines, legendre_values
from pgt.methods.solver.statement import REFUSAL, Face, OpenValue, Statement, orders, raws_of
from pgt.nn.scaling import Scaling

# Of a function along an axis, by the number of axes that it depends on: more are smoother than the prior
# of usual lengths asks for, and the most bound the time of a fit.
MIN_MODES, MAX_MODES = {1: 24, 2: 10}, {1: 96, 2: 10}
# Divided by the length in half extents, the modes of a function: those beyond have next to no variance.
MODES_BY_LENGTH = 4.0
# Prior standard deviations that say next to nothing: of a function's mean in sizes of the function, and
# of a coefficient's logarithm, logit or multiple of its unit.
MEAN_DEVIATION, COEFFICIENT_DEVIATION = 5.0, 20.0
DIFFERENCE_STEP = 1e-3  # of an axis: for derivatives of the interpolation
# Standard deviation of the interpolation in sizes of a function: how far the prior may smooth it.
INTERPOLATION_DEVIATION = 0.1
MAX_LENGTH = 4.0  # of functions, in half extents: a longer one is a straight line
Pair = tuple[np.ndarray, np.ndarray]  # values, and their slopes in all that is unknown


@dataclass(frozen=True)
class Line:
    """Functions along an axis from `low` to `high`."""

    low: float
    high: float
    count: int
    periodic: bool = False

    def values(
        self, positions: Float[np.ndarray, " n"], order: int = 0
    ) -> Float[np.ndarray, "n k"]:
        """All of them at positions, or of Legendre polynomials a derivative."""
        local = 2 * (np.asarray(positions) - self.low) / (self.high - self.low) - 1
        if not self.periodic:
            scale = (2 / (self.high - self.low)) ** order
            return scale * legendre_values(local, self.count - 1, order)
        waves = np.arange(1, self.count)
        turns = np.pi * local[:, None] * ((waves + 1) // 2)
        return np.column_stack(
            [np.ones(len(local)), np.where(waves % 2, np.cos(turns), np.sin(turns))]
        )

    def root(self, length: float) -> Float[np.ndarray, "k k"]:
        """A root of the covariance of their weights, for correlations over `length` half extents."""
        return _root(self.count, self.periodic, length)


@lru_cache(maxsize=64)  # functions along one axis share it
def _root(count: int, periodic: bool, length: float) -> Float[np.ndarray, "k k"]:
    distance, project = _projection(count, periodic)
    covariance = project @ np.exp(-0.5 * (distance / length) ** 2) @ project.T
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))


@lru_cache(maxsize=8)
def _projection(count: int, periodic: bool):
    """Distances between points of an axis, and the matrix that gives weights of values there."""
    if periodic:
        at = -1 + 2 * np.arange(4 * count) / (4 * count)
        chord = 2 * np.sin(np.pi * (at[:, None] - at) / 2) / np.pi
        return chord, np.linalg.pinv(Line(-1.0, 1.0, count, True).values(at))
    at, weights = legendre.leggauss(2 * count)
    table = legendre.legvander(at, count - 1)
    return at[:, None] - at, (table * weights[:, None]).T * (np.arange(count) + 0.5)[:, None]


class Part(NamedTuple):
    """One unknown function: what it stands for, along which axes it varies, its columns among all that is
    unknown, and the unit of its size."""

    what: Any  # an OpenValue, or (field, derivative in time) of the initial state
    lines: tuple[Line, ...]
    axes: tuple[str, ...]
    columns: slice
    size: float
    kind: str
    moves: bool  # whether it is counted from what it is at the start


class Unknowns:
    """All that is unknown, as one vector: weights of functions, then coefficients as they are learnt."""

    def __init__(
        self,
        problem: Statement,
        scaling: Scaling,
        is_sized: Any = True,
        lengths: Mapping[str, float] | None = None,
        sensors: int = 0,
    ):
        """`is_sized`: of every field, whether its scale is known, or only where a search begins;
        `lengths`: by axis, in half extents, the shortest one that functions have to follow; `sensors`:
        how many of them may have an offset, in units of the field's spread."""
        self.problem, self.scaling, self.lengths = problem, scaling, dict(lengths or {})
        self.is_sized = np.broadcast_to(is_sized, len(problem.fields))
        self.given = self._given()
        self.parts: list[Part] = []
        self.count = 0
        domain = problem.domain
        for field in range(len(problem.fields)):
            for order in range(problem.order_in_time(field)):
                if (field, order) not in self.given:
                    self._add((field, order), domain.spatial_axes, f"state_{order}", order)
        for value in problem.open:
            axes = tuple(axis for axis in domain.axes if axis != value.face.axis)
            self._add(value, axes, f"ends_{value.order}", 0)
        self.offsets = slice(self.count, self.count + sensors)
        self.count += sensors
        self.raws = slice(self.count, self.count + len(raws_of(problem.pde)))
        self.count = self.raws.stop

    def _add(self, what, axes, kind: str, order: int) -> None:
        domain = self.problem.domain
        lines = tuple(
            Line(*domain.bounds(a), self._modes(a, len(axes)), a in domain.periodic) for a in axes
        )
        moves = isinstance(what, OpenValue) and self.problem.order_in_time(what.field) > 0
        size = int(np.prod([line.count for line in lines], dtype=int))
        if moves:
            size = size // lines[-1].count * (lines[-1].count - 1)
        field = what.field if isinstance(what, OpenValue) else what[0]
        unit = float(self.scaling.spread[field])
        if order:
            unit /= float(domain.extent[domain.index("t")]) ** order
        if isinstance(what, OpenValue):
            unit /= float(domain.extent[domain.index(what.face.axis)]) ** what.order
        columns = slice(self.count, self.count + size)
        self.parts.append(Part(what, lines, axes, columns, unit, kind, moves))
        self.count += size

    def _modes(self, axis: str, count: int) -> int:
        """Of a function of so many axes along one of them."""
        count = max(min(count, 2), 1)
        wanted = MODES_BY_LENGTH / self.lengths.get(axis, np.inf)
        return int(np.clip(np.ceil(wanted), MIN_MODES[count], MAX_MODES[count]))

    def prolonged(self, unknown: Float[np.ndarray, " p"], other: "Unknowns"):
        """What is unknown, in the functions of another, of which there are more or fewer."""
        found = np.zeros(other.count)
        for part, own in zip(self.parts, other.parts, strict=True):
            old, new = (
                tuple(
                    line.count - (p.moves and k == len(p.lines) - 1)
                    for k, line in enumerate(p.lines)
                )
                for p in (part, own)
            )
            shared = tuple(slice(0, min(a, b)) for a, b in zip(old, new, strict=True))
            weights = np.zeros(new)
            weights[shared] = unknown[part.columns].reshape(old)[shared]
            found[own.columns] = weights.ravel()
        found[other.offsets] = unknown[self.offsets]
        found[other.raws] = unknown[self.raws]
        return found

    def _given(self):
        """The rows of initial conditions, by field and derivative in time."""
        found = {}
        for rows in self.problem.initial:
            for k, name in enumerate(rows.names):
                is_field = name in self.problem.fields
                field, derivative = (name, "") if is_field else name.rsplit("_", 1)
                order = len(derivative)
                if (
                    k >= rows.count
                    or (order and set(derivative) != {"t"})
                    or field not in self.problem.fields
                ):
                    raise InputError(
                        f"{REFUSAL}: the initial {name} is neither a field nor a derivative in time."
                    )
                found[self.problem.fields.index(field), order] = (rows, k)
        return found

    # ------------------------------------------------------------------------------ where they enter

    def initial(self, grid: Grid, field: int, order: int, unknown: Float[np.ndarray, " p"]):
        """The numbers of the initial state in space, and their slopes in all that is unknown."""
        splines = grid.splines[field]
        axes = np.meshgrid(*(s.places for s in splines), indexing="ij")
        points = np.stack([a.ravel() for a in axes], axis=1) if splines else np.zeros((1, 0))
        if (field, order) in self.given:
            rows, k = self.given[field, order]
            start = np.full((len(points), 1), self.problem.domain.bounds("t")[0])
            found = rows.slopes(
                unknown[self.raws],
                np.column_stack([points, start]),
                np.zeros((len(points), len(rows.names))),
            )
            slopes = np.zeros((len(points), self.count))
            slopes[:, self.raws] = -found.by_raw[:, k]
            return _fitted(splines, -found.values[:, k]), _fitted(splines, slopes)
        part = next(p for p in self.parts if p.what == (field, order))
        slopes = _fitted(splines, self.functions(part, points))
        mean = 0.0 if order else float(self.scaling.mean[field])
        return mean + slopes @ unknown, slopes

    def functions(self, part: Part, points: Float[np.ndarray, "n k"]):
        """The functions of a part at points of its axes, in the columns of all that is unknown."""
        tables = [line.values(points[:, k]) for k, line in enumerate(part.lines)]
        if part.moves:
            line = part.lines[-1]
            tables[-1] = (tables[-1] - line.values(np.array([line.low])))[:, 1:]
        modes = reduce(
            lambda a, b: (a[:, :, None] * b[:, None]).reshape(len(a), -1),
            tables,
            np.ones((len(points), 1)),
        )
        found = np.zeros((len(points), self.count))
        found[:, part.columns] = part.size * modes
        return found

    def boundary_values(self, grid: Grid, unknown: Float[np.ndarray, " p"]) -> "UnknownBoundary":
        """The open values on faces, where all that is unknown has these values."""
        return UnknownBoundary(self, grid, unknown)

    # ------------------------------------------------------------------------------ the prior

    @property
    def names(self) -> tuple[str, ...]:
        """Of what the prior depends on: a length along every axis, a size of every kind but the
        first."""
        axes = dict.fromkeys(axis for part in self.parts for axis in part.axes)
        kinds = list(dict.fromkeys(part.kind for part in self.parts))
        return (*axes, *kinds[1:])

    def root(self, hyper: Float[np.ndarray, " h"]) -> Float[np.ndarray, "p p"]:
        """A root of the prior's covariance, with the logarithms of what `names` names."""
        known = dict(zip(self.names, np.exp(hyper), strict=True))
        whole = np.zeros((self.count, self.count))
        named = named_unknowns(self.problem.pde)
        deviations = [node.spread or COEFFICIENT_DEVIATION for _, node in named]
        whole[self.raws, self.raws] = np.diag(deviations)
        for part in self.parts:
            roots = []
            for k, (line, axis) in enumerate(zip(part.lines, part.axes, strict=True)):
                root = line.root(known[axis])
                roots.append(root[1:] if part.moves and k == len(part.lines) - 1 else root)
            root = known.get(part.kind, 1.0) * reduce(np.kron, roots, np.ones((1, 1)))
            if part.moves:  # more functions were projected than are left
                root = np.asarray(np.linalg.qr(root.T, mode="r")).T
            else:
                level = np.zeros((len(root), 1))
                level[0] = MEAN_DEVIATION
                root = np.asarray(np.linalg.qr(np.column_stack([root, level]).T, mode="r")).T
            whole[part.columns, part.columns] = root
        return whole


def _fitted(splines: Sequence[Splines], values: np.ndarray) -> np.ndarray:
    """The numbers of a field in space that has these values at the places of its splines."""
    found = values.reshape((*(len(s.places) for s in splines), *values.shape[1:]))
    for axis, spline in enumerate(splines):
        found = spline.fitted(found, axis)
    size = int(np.prod([s.size for s in splines], dtype=int))
    return found.reshape(size, *values.shape[1:])


class UnknownBoundary:
    """What values on faces are that no condition gives, and their slopes in all that is unknown."""

    def __init__(self, unknowns: Unknowns, grid: Grid, unknown: Float[np.ndarray, " p"]):
        self.unknowns, self.grid, self.unknown = unknowns, grid, unknown
        self.count, self.raws = unknowns.count, unknowns.raws
        self.starts = {}

    def at(self, value: OpenValue, points: Float[np.ndarray, "n d"]):
        """Values at points of the face, and their slopes."""
        part = next(p for p in self.unknowns.parts if p.what == value)
        slopes, rows = self._tables(value, part, points)
        values = slopes @ self.unknown
        if not part.moves:
            mean = float(self.unknowns.scaling.mean[value.field]) if value.order == 0 else 0.0
            return values + mean, slopes
        numbers, own = self._start(value.field)
        return values + rows @ numbers, slopes + rows @ own

    def _tables(self, value: OpenValue, part: Part, points: Float[np.ndarray, "n d"]):
        """The functions of a part at points of a face, and the splines of its field there. They depend on
        the mesh and the steps alone, so every solution on them shares the tables."""
        kept, key = self.grid.tables, (value, points.tobytes())
        if key in kept:
            return kept[key]
        domain = self.unknowns.problem.domain
        columns = [domain.index(axis) for axis in part.axes]
        slopes, rows = self.unknowns.functions(part, points[:, columns]), np.ones((len(points), 1))
        for k, spline in enumerate(self.grid.splines[value.field]):
            across = domain.spatial_axes[k] == value.face.axis
            along = spline.rows(points[:, k], value.order if across else 0).toarray()
            rows = (rows[:, :, None] * along[:, None]).reshape(len(points), -1)
        if (len(kept) + 1) * (slopes.size + rows.size) < 8 * MAX_BUFFER:
            kept[key] = slopes, rows
        return slopes, rows

    def _start(self, field: int):
        """The initial numbers of a field, and their slopes."""
        if field not in self.starts:
            self.starts[field] = self.unknowns.initial(self.grid, field, 0, self.unknown)
        return self.starts[field]

    # ------------------------------------------------------------------------------ corners

    def corners(self) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "k p"]]:
        """Rows that are zero where unknown functions meet as parts of one smooth field, and their slopes:
        boundary values on two faces are equal at their corner; an unknown initial state fulfils
        conditions that are given; where a boundary value begins, it changes as the equation says of that
        state."""
        found = list(self._between_faces())
        if self.unknowns.problem.domain.has_time:
            found += self._of_conditions()
            if len(self.unknowns.problem.domain.spatial_axes) == 1:
                found += self._at_start()
        rows = [np.zeros(0), *(values for values, _ in found)]
        slopes = [np.zeros((0, self.count)), *(own for _, own in found)]
        return np.concatenate(rows), np.concatenate(slopes)

    def _between_faces(self) -> Iterator[Pair]:
        """Differences of boundary values at the corners of a rectangle."""
        domain = self.unknowns.problem.domain
        parts = [
            p for p in self.unknowns.parts if isinstance(p.what, OpenValue) and not p.what.order
        ]
        for first, second in itertools.combinations(parts, 2):
            (axis, side), (other, end) = first.what.face, second.what.face
            if axis == other or first.what.field != second.what.field:
                continue
            times = domain.bounds("t") if domain.has_time else (0.0, 0.0)
            moments = np.linspace(*times, first.lines[-1].count)[1:] if domain.has_time else [0.0]
            point = {axis: domain.bounds(axis)[side], other: domain.bounds(other)[end]}
            rows = [[t if a == "t" else point[a] for a in domain.axes] for t in moments]
            (values, slopes), (others, more) = (
                self.at(part.what, np.array(rows)) for part in (first, second)
            )
            yield values - others, slopes - more

    def _of_conditions(self) -> Iterator[Pair]:
        """Conditions on faces, for the initial state."""
        unknowns = self.unknowns
        domain, raws = unknowns.problem.domain, self.unknown[unknowns.raws]
        for given in unknowns.problem.given:
            axes = [a for a in domain.spatial_axes if a != given.face.axis]
            places = {a: np.linspace(*domain.bounds(a), MIN_MODES[2]) for a in axes}
            places[given.face.axis] = np.array([domain.bounds(given.face.axis)[given.face.side]])
            places["t"] = np.array(domain.bounds("t")[:1])
            grids = np.meshgrid(*(places[a] for a in domain.axes), indexing="ij")
            points = np.stack([g.ravel() for g in grids], axis=1)
            asked = [self._of_start(name, points) for name in given.rows.names]
            known = [pair for pair in asked if pair is not None]
            if not known or len(known) < len(asked):
                continue
            found = given.rows.slopes(raws, points, np.stack([v for v, _ in known], axis=1))
            for k in range(given.rows.count):
                row = np.einsum("nj,jnp->np", found.by_name[:, k], [own for _, own in known])
                row[:, unknowns.raws] += found.by_raw[:, k]
                yield found.values[:, k], row

    def _of_start(self, name: str, points) -> Pair | None:
        """A derivative of an unknown initial state at points, and its slopes; None where it is
        another."""
        problem = self.unknowns.problem
        field, terms = orders(name, problem.pde.coords, problem.fields)
        if len(terms) > 1 or terms[0][-1] or (field, 0) in self.unknowns.given:
            return None
        if not problem.order_in_time(field):
            return None
        numbers, own = self._start(field)
        rows = np.ones((len(points), 1))
        for k, spline in enumerate(self.grid.splines[field]):
            along = spline.rows(points[:, k], terms[0][k]).toarray()
            rows = (rows[:, :, None] * along[:, None]).reshape(len(points), -1)
        return rows @ numbers, rows @ own

    def _at_start(self) -> Iterator[Pair]:
        """The equation at the ends of an axis where boundary values begin."""
        unknowns = self.unknowns
        problem, raws = unknowns.problem, self.unknown[unknowns.raws]
        domain = problem.domain
        for face in dict.fromkeys(p.what.face for p in unknowns.parts if p.moves):
            point = np.array([domain.bounds(face.axis)[face.side], domain.bounds("t")[0]])
            known = [self._at_corner(name, face, point) for name in problem.equation.names]
            nothing = 0.0, np.zeros(self.count)
            values, slopes = zip(*(pair or nothing for pair in known), strict=True)
            is_open = np.array([pair is None for pair in known])
            found = problem.equation.slopes(raws, point[None], np.array([values]))
            for k in range(problem.equation.count):
                weights = found.by_name[0, k]
                if weights[is_open].any():
                    continue
                row = weights @ np.array(slopes)
                row[unknowns.raws] += found.by_raw[0, k]
                yield found.values[:, k], row[None]

    def _at_corner(self, name: str, face: Face, point):
        """A derivative at a corner and its slopes, by the initial state or the boundary value; None where
        neither is unknown."""
        unknowns = self.unknowns
        field, terms = orders(name, unknowns.problem.pde.coords, unknowns.problem.fields)
        if len(terms) > 1 or (field, 0) in unknowns.given:
            return None
        space, time = terms[0]
        if time == 0:
            pair = self._of_start(name, point[None])
            return None if pair is None else (pair[0][0], pair[1][0])
        part = next((p for p in unknowns.parts if p.what == OpenValue(face, field, 0)), None)
        if part is None or (space, time) != (0, 1):
            return None
        row = np.zeros(self.count)
        row[part.columns] = part.size * part.lines[-1].values(point[1:], 1)[0, 1:]
        return row @ self.unknown, row


# ------------------------------------------------------------------------------ first guesses

# A search from a flat field may end at a local optimum, in the wrong phase of an oscillation for example,
# or find no solution at all. Interpolation without the equation is far closer where readings are dense,
# and is flat where there are none.


class FirstGuess:
    """The interpolation of the readings, and what it says of unknown functions."""

    def __init__(self, unknowns: Unknowns, readings: Observations):
        self.unknowns, self.domain = unknowns, unknowns.problem.domain
        self.processes = processes(readings, self.domain)

    def lengths(self) -> dict[str, float]:
        """By axis, the shortest length of any field, in half extents."""
        found: dict[str, float] = {}
        for process in self.processes.values():
            for axis, length in zip(_columns(self.domain), process.lengths, strict=True):
                length = float(np.clip(2 * length, MODES_BY_LENGTH / MAX_MODES[1], MAX_LENGTH))
                found[axis] = min(length, found.get(axis, MAX_LENGTH))
        return found

    def rows(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        """Functions at points and what the interpolation says of them there, in standard deviations."""
        rows, targets = [np.zeros((0, self.unknowns.count))], [np.zeros(0)]
        for part in self.unknowns.parts:
            field = part.what.field if isinstance(part.what, OpenValue) else part.what[0]
            if field not in self.processes:
                continue
            points = _points(part)
            values = self._values(part, self.processes[field], points)
            rows.append(
                self.unknowns.functions(part, points) / (INTERPOLATION_DEVIATION * part.size)
            )
            targets.append(values / (INTERPOLATION_DEVIATION * part.size))
        return np.concatenate(rows), np.concatenate(targets)

    def _values(self, part: Part, process: Process, points) -> Float[np.ndarray, " n"]:
        """What a function is equal to at points of its axes, counted as it is counted."""
        domain, scaling = self.domain, self.unknowns.scaling
        whole = np.empty((len(points), domain.dimension))
        for axis, column in zip(part.axes, points.T, strict=True):
            whole[:, domain.index(axis)] = column
        if isinstance(part.what, OpenValue):
            face, field, order = part.what
            axis, inward = face.axis, 1 - 2 * face.side
            whole[:, domain.index(axis)] = domain.bounds(axis)[face.side]
        else:
            (field, order), axis, inward = part.what, "t", 1
            if domain.has_time:
                whole[:, -1] = domain.bounds("t")[0]

        def at(place):
            return process(unit_coordinates(place, domain))

        def derivative(place):
            if order == 0:
                return at(place) - float(scaling.mean[field])
            step = np.zeros(domain.dimension)
            step[domain.index(axis)] = inward * DIFFERENCE_STEP * domain.extent[domain.index(axis)]
            weights = (-1.0, 1.0) if order == 1 else (1.0, -2.0, 1.0)
            total = sum(w * at(place + k * step) for k, w in enumerate(weights))
            return total / step.sum() ** order

        if order > 2:
            return np.zeros(len(points))
        values = derivative(whole)
        if part.moves:
            start = whole.copy()
            start[:, -1] = domain.bounds("t")[0]
            values = values - derivative(start)
        return values


def _points(part: Part) -> Float[np.ndarray, "n k"]:
    """Points along the axes of a part."""
    along = [
        np.linspace(line.low, line.high, 2 * line.count, endpoint=not line.periodic)
        for line in part.lines
    ]
    grids = np.meshgrid(*along, indexing="ij")
    return np.stack([g.ravel() for g in grids], axis=1) if grids else np.zeros((1, 0))


def _columns(domain: Domain) -> list[str]:
    """The axis of every column of unit coordinates."""
    return [a for axis in domain.axes for a in [axis] * (2 if axis in domain.periodic else 1)]
