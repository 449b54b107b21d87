"""Unknown initial states, boundary values and functions in the equation, with a smoothness prior.

A function is a sum of products of Legendre polynomials, or of waves along a periodic axis. There are so
many of them that the prior, not their number, decides how smooth the function is. The prior is a Gaussian
process with the covariance exp(-d²/2l²), projected onto the sum; its lengths and sizes are chosen by the
evidence (solution_fit.py). A boundary value continues the initial state: the unknown function is its
change since the start.
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
from pgt.methods.solver.statement import (
    REFUSAL,
    Face,
    FunctionValue,
    OpenValue,
    Statement,
    orders,
    raws_of,
)
from pgt.nn.scaling import Scaling

# The number of modes of a function along an axis, by the number of its axes. The minimum suffices for the
# usual lengths, the maximum limits the time of a fit.
MIN_MODES, MAX_MODES = {1: 24, 2: 10}, {1: 96, 2: 10}
# The number of modes along each axis of a function of all coordinates in the equation. More resolve a
# source that varies faster, such as the square of a slope; the time of a fit grows as their square.
FUNCTION_MODES = 16
# The number of modes is this number divided by the length in half extents. Further modes have next to no
# prior variance.
MODES_BY_LENGTH = 4.0
# Wide prior standard deviations: of a function's mean, in units of the function's size, and of a
# coefficient's logarithm, logit or multiple of its unit.
MEAN_DEVIATION, COEFFICIENT_DEVIATION = 5.0, 20.0
DIFFERENCE_STEP = 1e-3  # for difference quotients of the interpolation, as a share of the axis
# The assumed error of the interpolation as a first guess, in units of the function's size. A larger value
# lets the prior smooth it more.
INTERPOLATION_DEVIATION = 0.1
STATE_DEVIATION = 1e-3  # the same of an initial state that was fitted to a shorter time
MAX_LENGTH = 4.0  # in half extents; a function with a longer length is nearly a straight line
Pair = tuple[np.ndarray, np.ndarray]  # values, and their slopes in all unknowns


@dataclass(frozen=True)
class Line:
    """`count` basis functions along an axis from `low` to `high`: Legendre polynomials, or waves."""

    low: float
    high: float
    count: int
    periodic: bool = False

    def values(
        self, positions: Float[np.ndarray, " n"], order: int = 0
    ) -> Float[np.ndarray, "n k"]:
        """The basis functions at positions; of Legendre polynomials also a derivative."""
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
        """A root of the prior covariance of the weights, with the length l in half extents."""
        return _root(self.count, self.periodic, length)


@lru_cache(maxsize=64)  # functions along one axis share a root
def _root(count: int, periodic: bool, length: float) -> Float[np.ndarray, "k k"]:
    distance, project = _projection(count, periodic)
    covariance = project @ np.exp(-0.5 * (distance / length) ** 2) @ project.T
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    return vectors * np.sqrt(np.maximum(values, 0.0))


@lru_cache(maxsize=8)
def _projection(count: int, periodic: bool):
    """Distances between points of an axis, and the matrix from values at these points to weights."""
    if periodic:
        positions = -1 + 2 * np.arange(4 * count) / (4 * count)
        chord = 2 * np.sin(np.pi * (positions[:, None] - positions) / 2) / np.pi
        return chord, np.linalg.pinv(Line(-1.0, 1.0, count, True).values(positions))
    positions, weights = legendre.leggauss(2 * count)
    table = legendre.legvander(positions, count - 1)
    return positions[:, None] - positions, (table * weights[:, None]).T * (np.arange(count) + 0.5)[
        :, None
    ]


class Part(NamedTuple):
    """One unknown function.

    Attributes
    ----------
    what : an `OpenValue`, a `FunctionValue`, or (field, order of the time derivative) of an initial
        state.
    lines, axes : the basis along each axis on which the function depends, and the names of the axes.
    columns : its weights in the vector of unknowns.
    size : its unit, by which the basis functions are multiplied.
    kind : functions of one kind share a relative size in the prior.
    moves : whether the function is the change of a boundary value since the start.
    """

    what: Any
    lines: tuple[Line, ...]
    axes: tuple[str, ...]
    columns: slice
    size: float
    kind: str
    moves: bool


class Unknowns:
    """The vector of all unknowns: weights of functions, then the raw numbers of the unknown coefficients.
    `raws` is the slice of the latter."""

    def __init__(
        self,
        problem: Statement,
        scaling: Scaling,
        is_sized: Any = True,
        lengths: Mapping[str, float] | None = None,
    ):
        """`is_sized` says for every field whether its scale is known, not a first guess. `lengths` has,
        by axis, the shortest length that functions must resolve, in half extents."""
        self.problem, self.scaling, self.lengths = problem, scaling, dict(lengths or {})
        self.is_sized = np.broadcast_to(is_sized, len(problem.fields))
        self.given = self._initial_rows()
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
        for function in problem.functions:
            self._add(function, domain.axes, f"function_{function.field}", 0)
        self.raws = slice(self.count, self.count + len(raws_of(problem.pde)))
        self.count = self.raws.stop

    def _add(self, what, axes, kind: str, order: int) -> None:
        """Append an unknown function; `order` is that of its time derivative."""
        domain = self.problem.domain
        lines = tuple(
            Line(*domain.bounds(a), self._mode_count(what, a, len(axes)), a in domain.periodic)
            for a in axes
        )
        moves = isinstance(what, OpenValue) and self.problem.order_in_time(what.field) > 0
        size = int(np.prod([line.count for line in lines], dtype=int))
        if moves:
            size = size // lines[-1].count * (lines[-1].count - 1)
        field = what.field if isinstance(what, OpenValue | FunctionValue) else what[0]
        unit = float(self.scaling.spread[field])
        if order:
            unit /= float(domain.extent[domain.index("t")]) ** order
        if isinstance(what, OpenValue):
            unit /= float(domain.extent[domain.index(what.face.axis)]) ** what.order
        columns = slice(self.count, self.count + size)
        self.parts.append(Part(what, lines, axes, columns, unit, kind, moves))
        self.count += size

    def _mode_count(self, what, axis: str, count: int) -> int:
        """The number of modes along one axis of a function of `count` axes."""
        count = max(min(count, 2), 1)
        if isinstance(what, FunctionValue) and count > 1:
            return FUNCTION_MODES
        wanted = MODES_BY_LENGTH / self.lengths.get(axis, np.inf)
        return int(np.clip(np.ceil(wanted), MIN_MODES[count], MAX_MODES[count]))

    def prolonged(self, unknown: Float[np.ndarray, " p"], other: "Unknowns"):
        """The unknowns in the basis of another `Unknowns`, which may have more or fewer modes."""
        prolonged = np.zeros(other.count)
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
            prolonged[own.columns] = weights.ravel()
        prolonged[other.raws] = unknown[self.raws]
        return prolonged

    def _initial_rows(self):
        """The initial conditions, by field and order of the time derivative: their rows, and the number
        of the row."""
        rows_by_derivative = {}
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
                rows_by_derivative[self.problem.fields.index(field), order] = (rows, k)
        return rows_by_derivative

    # ------------------------------------------------------------------------------ where they enter

    def initial(self, grid: Grid, field: int, order: int, unknown: Float[np.ndarray, " p"]):
        """The spline numbers of an initial state, and their slopes in all unknowns."""
        splines = grid.splines[field]
        axes = np.meshgrid(*(s.places for s in splines), indexing="ij")
        points = np.stack([a.ravel() for a in axes], axis=1) if splines else np.zeros((1, 0))
        if (field, order) in self.given:
            rows, k = self.given[field, order]
            start = np.full((len(points), 1), self.problem.domain.bounds("t")[0])
            slopes_of_rows = rows.slopes(
                unknown[self.raws],
                np.column_stack([points, start]),
                np.zeros((len(points), len(rows.names))),
            )
            slopes = np.zeros((len(points), self.count))
            slopes[:, self.raws] = -slopes_of_rows.by_raw[:, k]
            return _spline_fit(splines, -slopes_of_rows.values[:, k]), _spline_fit(splines, slopes)
        part = next(p for p in self.parts if p.what == (field, order))
        slopes = _spline_fit(splines, self.functions(part, points))
        mean = 0.0 if order else float(self.scaling.mean[field])
        return mean + slopes @ unknown, slopes

    def functions(self, part: Part, points: Float[np.ndarray, "n k"]):
        """The basis functions of a part at points of its axes: a matrix with a column per unknown."""
        tables = [line.values(points[:, k]) for k, line in enumerate(part.lines)]
        if part.moves:
            line = part.lines[-1]
            tables[-1] = (tables[-1] - line.values(np.array([line.low])))[:, 1:]
        modes = reduce(
            lambda a, b: (a[:, :, None] * b[:, None]).reshape(len(a), -1),
            tables,
            np.ones((len(points), 1)),
        )
        matrix = np.zeros((len(points), self.count))
        matrix[:, part.columns] = part.size * modes
        return matrix

    def boundary_values(self, grid: Grid, unknown: Float[np.ndarray, " p"]) -> "UnknownBoundary":
        """The open values on faces for this vector of unknowns."""
        return UnknownBoundary(self, grid, unknown)

    # ------------------------------------------------------------------------------ the prior

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the prior's hyperparameters: a length along every axis, and the relative size of
        every kind but the first."""
        axes = dict.fromkeys(axis for part in self.parts for axis in part.axes)
        kinds = list(dict.fromkeys(part.kind for part in self.parts))
        return (*axes, *kinds[1:])

    def root(self, hyper: Float[np.ndarray, " h"]) -> Float[np.ndarray, "p p"]:
        """A root of the prior covariance; `hyper` has the logarithms of the hyperparameters `names`."""
        hyper_by_name = dict(zip(self.names, np.exp(hyper), strict=True))
        covariance_root = np.zeros((self.count, self.count))
        named = named_unknowns(self.problem.pde)
        deviations = [node.spread or COEFFICIENT_DEVIATION for _, node in named]
        covariance_root[self.raws, self.raws] = np.diag(deviations)
        for part in self.parts:
            roots = []
            for k, (line, axis) in enumerate(zip(part.lines, part.axes, strict=True)):
                root = line.root(hyper_by_name[axis])
                roots.append(root[1:] if part.moves and k == len(part.lines) - 1 else root)
            root = hyper_by_name.get(part.kind, 1.0) * reduce(np.kron, roots, np.ones((1, 1)))
            if part.moves:  # the constant in time was removed: make the root square again
                root = np.asarray(np.linalg.qr(root.T, mode="r")).T
            else:
                level = np.zeros((len(root), 1))
                level[0] = MEAN_DEVIATION
                root = np.asarray(np.linalg.qr(np.column_stack([root, level]).T, mode="r")).T
            covariance_root[part.columns, part.columns] = root
        return covariance_root


def _spline_fit(splines: Sequence[Splines], values: np.ndarray) -> np.ndarray:
    """The spline numbers of a field in space, from its values at the places of the splines."""
    numbers = values.reshape((*(len(s.places) for s in splines), *values.shape[1:]))
    for axis, spline in enumerate(splines):
        numbers = spline.fitted(numbers, axis)
    size = int(np.prod([s.size for s in splines], dtype=int))
    return numbers.reshape(size, *values.shape[1:])


class UnknownBoundary:
    """The open values on faces, with their slopes in all unknowns."""

    def __init__(self, unknowns: Unknowns, grid: Grid, unknown: Float[np.ndarray, " p"]):
        self.unknowns, self.grid, self.unknown = unknowns, grid, unknown
        self.count, self.raws = unknowns.count, unknowns.raws
        self.starts = {}

    def at(self, value: OpenValue | FunctionValue, points: Float[np.ndarray, "n d"]):
        """Values at points of the face, or of the domain, and their slopes in all unknowns."""
        part = next(p for p in self.unknowns.parts if p.what == value)
        if isinstance(value, FunctionValue):
            slopes = self._function_table(part, points)
            return slopes @ self.unknown + float(self.unknowns.scaling.mean[value.field]), slopes
        slopes, rows = self._face_tables(value, part, points)
        values = slopes @ self.unknown
        if not part.moves:
            mean = float(self.unknowns.scaling.mean[value.field]) if value.order == 0 else 0.0
            return values + mean, slopes
        numbers, number_slopes = self._initial_numbers(value.field)
        return values + rows @ numbers, slopes + rows @ number_slopes

    def _face_tables(self, value: OpenValue, part: Part, points: Float[np.ndarray, "n d"]):
        """The functions of a part at points of a face, and the splines of its field there. They depend
        only on mesh and steps, so that all solutions on the same ones share the tables."""
        tables, key = self.grid.tables, (value, points.tobytes())
        if key in tables:
            return tables[key]
        domain = self.unknowns.problem.domain
        columns = [domain.index(axis) for axis in part.axes]
        slopes, rows = self.unknowns.functions(part, points[:, columns]), np.ones((len(points), 1))
        for k, spline in enumerate(self.grid.splines[value.field]):
            across = domain.spatial_axes[k] == value.face.axis
            along = spline.rows(points[:, k], value.order if across else 0).toarray()
            rows = (rows[:, :, None] * along[:, None]).reshape(len(points), -1)
        if (len(tables) + 1) * (slopes.size + rows.size) < 8 * MAX_BUFFER:
            tables[key] = slopes, rows
        return slopes, rows

    def _function_table(self, part: Part, points: Float[np.ndarray, "n d"]):
        """The basis functions of an unknown function at points, from a table where they were needed
        before."""
        tables, key = self.grid.tables, (part.what, points.tobytes())
        if key in tables:
            return tables[key]
        slopes = self.unknowns.functions(part, points)
        if (len(tables) + 1) * slopes.size < 8 * MAX_BUFFER:
            tables[key] = slopes
        return slopes

    def _initial_numbers(self, field: int):
        """The spline numbers of the initial field, and their slopes in all unknowns."""
        if field not in self.starts:
            self.starts[field] = self.unknowns.initial(self.grid, field, 0, self.unknown)
        return self.starts[field]

    # ------------------------------------------------------------------------------ corners

    def corners(self) -> tuple[Float[np.ndarray, " k"], Float[np.ndarray, "k p"]]:
        """Rows that vanish where unknown functions meet as parts of one smooth field, and their slopes.

        Boundary values on two faces are equal at their corner. An unknown initial state satisfies the
        given conditions. At the start, a boundary value changes as the equation demands for the initial
        state.
        """
        pairs = list(self._face_corners())
        if self.unknowns.problem.domain.has_time:
            pairs += self._initial_conditions()
            if len(self.unknowns.problem.domain.spatial_axes) == 1:
                pairs += self._initial_equations()
        rows = [np.zeros(0), *(values for values, _ in pairs)]
        slopes = [np.zeros((0, self.count)), *(row_slopes for _, row_slopes in pairs)]
        return np.concatenate(rows), np.concatenate(slopes)

    def _face_corners(self) -> Iterator[Pair]:
        """Differences between boundary values at the corners of a rectangle."""
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
            (values, slopes), (other_values, other_slopes) = (
                self.at(part.what, np.array(rows)) for part in (first, second)
            )
            yield values - other_values, slopes - other_slopes

    def _initial_conditions(self) -> Iterator[Pair]:
        """Rows of the given conditions on faces, for the unknown initial state."""
        unknowns = self.unknowns
        domain, raws = unknowns.problem.domain, self.unknown[unknowns.raws]
        for given in unknowns.problem.given:
            axes = [a for a in domain.spatial_axes if a != given.face.axis]
            places = {a: np.linspace(*domain.bounds(a), MIN_MODES[2]) for a in axes}
            places[given.face.axis] = np.array([domain.bounds(given.face.axis)[given.face.side]])
            places["t"] = np.array(domain.bounds("t")[:1])
            grids = np.meshgrid(*(places[a] for a in domain.axes), indexing="ij")
            points = np.stack([g.ravel() for g in grids], axis=1)
            pairs = [self._initial_derivative(name, points) for name in given.rows.names]
            derivatives = [pair for pair in pairs if pair is not None]
            if not derivatives or len(derivatives) < len(pairs):
                continue
            linearized = given.rows.slopes(
                raws, points, np.stack([v for v, _ in derivatives], axis=1)
            )
            for k in range(given.rows.count):
                row = np.einsum(
                    "nj,jnp->np",
                    linearized.by_name[:, k],
                    [derivative_slopes for _, derivative_slopes in derivatives],
                )
                row[:, unknowns.raws] += linearized.by_raw[:, k]
                yield linearized.values[:, k], row

    def _initial_derivative(self, name: str, points) -> Pair | None:
        """A spatial derivative of an unknown initial state at points, and its slopes; None where `name`
        is no such derivative."""
        problem = self.unknowns.problem
        field, terms = orders(name, problem.pde.coords, problem.fields)
        if len(terms) > 1 or terms[0][-1] or (field, 0) in self.unknowns.given:
            return None
        if not problem.order_in_time(field):
            return None
        numbers, number_slopes = self._initial_numbers(field)
        rows = np.ones((len(points), 1))
        for k, spline in enumerate(self.grid.splines[field]):
            along = spline.rows(points[:, k], terms[0][k]).toarray()
            rows = (rows[:, :, None] * along[:, None]).reshape(len(points), -1)
        return rows @ numbers, rows @ number_slopes

    def _initial_equations(self) -> Iterator[Pair]:
        """Rows of the equation at the ends of the axis, at the time when boundary values begin."""
        unknowns = self.unknowns
        problem, raws = unknowns.problem, self.unknown[unknowns.raws]
        domain = problem.domain
        for face in dict.fromkeys(p.what.face for p in unknowns.parts if p.moves):
            point = np.array([domain.bounds(face.axis)[face.side], domain.bounds("t")[0]])
            pairs = [self._corner_derivative(name, face, point) for name in problem.equation.names]
            zero = 0.0, np.zeros(self.count)
            values, slopes = zip(*(pair or zero for pair in pairs), strict=True)
            is_open = np.array([pair is None for pair in pairs])
            linearized = problem.equation.slopes(raws, point[None], np.array([values]))
            for k in range(problem.equation.count):
                weights = linearized.by_name[0, k]
                if weights[is_open].any():
                    continue
                row = weights @ np.array(slopes)
                row[unknowns.raws] += linearized.by_raw[0, k]
                yield linearized.values[:, k], row[None]

    def _corner_derivative(self, name: str, face: Face, point):
        """A derivative at a corner and its slopes, from the initial state or the boundary value; None
        where neither determines it."""
        unknowns = self.unknowns
        field, terms = orders(name, unknowns.problem.pde.coords, unknowns.problem.fields)
        if len(terms) > 1 or (field, 0) in unknowns.given:
            return None
        space, time = terms[0]
        if time == 0:
            pair = self._initial_derivative(name, point[None])
            return None if pair is None else (pair[0][0], pair[1][0])
        part = next((p for p in unknowns.parts if p.what == OpenValue(face, field, 0)), None)
        if part is None or (space, time) != (0, 1):
            return None
        row = np.zeros(self.count)
        row[part.columns] = part.size * part.lines[-1].values(point[1:], 1)[0, 1:]
        return row @ self.unknown, row


# ------------------------------------------------------------------------------ first guesses

# A search that starts from a flat field may end in a local optimum, such as a wrong phase of an
# oscillation, or fail to solve the equation. An interpolation without the equation is much closer where
# readings are dense, and flat where there are none.


class FirstGuess:
    """An interpolation of the readings, as a first guess of the unknown functions."""

    def __init__(self, unknowns: Unknowns, readings: Observations):
        self.unknowns, self.domain = unknowns, unknowns.problem.domain
        self.processes = processes(readings, self.domain)

    def lengths(self) -> dict[str, float]:
        """By axis, the shortest correlation length of any field, in half extents."""
        shortest: dict[str, float] = {}
        for process in self.processes.values():
            for axis, length in zip(_axis_of_columns(self.domain), process.lengths, strict=True):
                length = float(np.clip(2 * length, MODES_BY_LENGTH / MAX_MODES[1], MAX_LENGTH))
                shortest[axis] = min(length, shortest.get(axis, MAX_LENGTH))
        return shortest

    def rows(self) -> tuple[Float[np.ndarray, "n p"], Float[np.ndarray, " n"]]:
        """Least-squares rows that fit the functions to the interpolation: matrix and target, in units of
        the assumed error."""
        return self._rows(self.unknowns.parts)

    def rows_after(self, earlier: Unknowns, unknown: Float[np.ndarray, " q"]):
        """The same, with the initial states of a fit to a shorter time in the place of interpolated
        ones."""
        states = {
            part.what: part
            for part in earlier.parts
            if not isinstance(part.what, OpenValue | FunctionValue)
        }
        rows, targets = self._rows([p for p in self.unknowns.parts if p.what not in states])
        for part in self.unknowns.parts:
            if part.what in states:
                points, scale = _grid_points(part), 1 / (STATE_DEVIATION * part.size)
                values = earlier.functions(states[part.what], points) @ unknown
                rows = np.concatenate([rows, scale * self.unknowns.functions(part, points)])
                targets = np.concatenate([targets, scale * values])
        return rows, targets

    def _rows(self, parts: Sequence[Part]):
        rows, targets = [np.zeros((0, self.unknowns.count))], [np.zeros(0)]
        for part in parts:
            if isinstance(part.what, FunctionValue):
                continue
            field = part.what.field if isinstance(part.what, OpenValue) else part.what[0]
            if field not in self.processes:
                continue
            points = _grid_points(part)
            values = self._values(part, self.processes[field], points)
            rows.append(
                self.unknowns.functions(part, points) / (INTERPOLATION_DEVIATION * part.size)
            )
            targets.append(values / (INTERPOLATION_DEVIATION * part.size))
        return np.concatenate(rows), np.concatenate(targets)

    def _values(self, part: Part, process: Process, points) -> Float[np.ndarray, " n"]:
        """The values of an unknown function at points of its axes, by the interpolation."""
        domain, scaling = self.domain, self.unknowns.scaling
        full_points = np.empty((len(points), domain.dimension))
        for axis, column in zip(part.axes, points.T, strict=True):
            full_points[:, domain.index(axis)] = column
        if isinstance(part.what, OpenValue):
            face, field, order = part.what
            axis, inward = face.axis, 1 - 2 * face.side
            full_points[:, domain.index(axis)] = domain.bounds(axis)[face.side]
        else:
            (field, order), axis, inward = part.what, "t", 1
            if domain.has_time:
                full_points[:, -1] = domain.bounds("t")[0]

        def interpolate(at_points):
            return process(unit_coordinates(at_points, domain))

        def derivative(at_points):
            if order == 0:
                return interpolate(at_points) - float(scaling.mean[field])
            step = np.zeros(domain.dimension)
            step[domain.index(axis)] = inward * DIFFERENCE_STEP * domain.extent[domain.index(axis)]
            weights = (-1.0, 1.0) if order == 1 else (1.0, -2.0, 1.0)
            total = sum(w * interpolate(at_points + k * step) for k, w in enumerate(weights))
            return total / step.sum() ** order

        if order > 2:
            return np.zeros(len(points))
        values = derivative(full_points)
        if part.moves:
            start = full_points.copy()
            start[:, -1] = domain.bounds("t")[0]
            values = values - derivative(start)
        return values


def _grid_points(part: Part) -> Float[np.ndarray, "n k"]:
    """A grid of points over the axes of a part."""
    along = [
        np.linspace(line.low, line.high, 2 * line.count, endpoint=not line.periodic)
        for line in part.lines
    ]
    grids = np.meshgrid(*along, indexing="ij")
    return np.stack([g.ravel() for g in grids], axis=1) if grids else np.zeros((1, 0))


def _axis_of_columns(domain: Domain) -> list[str]:
    """The axis of every column of unit coordinates."""
    return [a for axis in domain.axes for a in [axis] * (2 if axis in domain.periodic else 1)]
