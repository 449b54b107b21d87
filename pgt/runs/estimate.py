"""Estimates of the memory and time of a run, before it starts: of a step and of the polish.

Nothing is traced or compiled, which would take longer than many a fit. The work of a step follows from
the numbers of points, weights and hidden units, and that of an iteration of the polish from the numbers
of rows and weights. The speed of the machine is measured on a product of matrices and on a sum. The
estimates are right within a factor of two or three.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from pgt.core.unknown import named_unknowns
from pgt.methods.second_order.descent import memory_limit
from pgt.methods.second_order.jacobian import COPIES_OF_CHUNK, JacobianLayout
from pgt.methods.second_order.residual_rows import point_count, reading_mask
from pgt.nn.trees import count_parameters
from pgt.problem.assembly import Task
from pgt.problem.budget import hidden_units, polish_settings, tunes_all_weights
from pgt.runs.check import how_solved
from pgt.training.settings import Polish

# The seconds that compiling a step, or a polish, takes on two cores.
COMPILE_SECONDS = 15.0
# The operations of a step per point and weight; the numbers that it keeps per point and hidden unit
# (value, derivatives, and those of the backward pass); and the bytes that it reads or writes per byte of
# one number for every point and hidden unit. The compiler counted them for networks of 8 to 64 units and
# an equation of second order.
OPERATIONS, KEPT, MOVED = 30, 20, 370
# The operations per derivative of a row, and how often a derivative is read or written.
TO_DERIVE, PASSES = 40, 10
SIDE, REPEATS = 512, 6  # the size of the product that is timed, and the number of repetitions
MEGABYTE = 2.0**20

Say = Callable[[str], None]


class Work(NamedTuple):
    """The floating-point operations of a computation, and the bytes that it reads or writes."""

    flops: float
    bytes: float


class Speed(NamedTuple):
    """The floating-point operations and the bytes per second of the machine."""

    flops: float
    bytes: float

    def seconds(self, work: Work) -> float:
        """The seconds of some work, which are those of the slower of computing and moving data."""
        return max(work.flops / self.flops, work.bytes / self.bytes)


class LeastSquaresSize(NamedTuple):
    """The size of the least-squares problem of a polish: its numbers of rows and of unknowns."""

    count: int
    size: int

    def work(self) -> Work:
        """The work of one iteration: derivatives, the smaller of JᵀJ and JJᵀ, and its factor."""
        small, entries = min(self), self.count * self.size
        flops = TO_DERIVE * entries + 2 * entries * small + small**3 / 3
        return Work(flops, 8.0 * PASSES * entries)

    def memory(self, limit: float) -> float:
        """The bytes of one iteration, in which derivatives take at most `limit` bytes."""
        return min(8.0 * COPIES_OF_CHUNK * self.count * self.size, limit) + 16.0 * min(self) ** 2


def estimate(task: Task, say: Say) -> list[tuple[str, str]]:
    """The rows (name, value) on memory and time; the estimate itself takes seconds."""
    if not task.model.is_trained:
        return [("time (estimate)", _of_solution(task))]
    training, rows, before, finish = task.training, [], 0.0, 0.0
    with task.in_precision():
        say("timing this machine")
        speed = measured_speed()
        if training.steps:
            each = speed.seconds(_work_of_step(task))
            spent = training.steps * each if training.seconds is None else training.seconds
            before, rows = spent + COMPILE_SECONDS, _of_steps(task, each)
        if settings := polish_settings(task.model, training):
            found = rows_of_polish(task, settings)
            finish = _seconds_of_polish(found, settings, speed)
            rows += [("memory of the polish", _of_polish(found, settings))]
    of_which = finish if training.steps else 0.0
    return [*rows, ("time (estimate)", _in_words(before + finish, of_which))]


def measured_speed() -> Speed:
    """The speed of this machine, measured on a product of matrices and on a copy."""
    matrix = jnp.ones((SIDE, SIDE), jnp.float32)
    long = jnp.ones(SIDE * SIDE * 4, jnp.float32)
    product = _seconds_each(jax.jit(lambda a: a @ a), matrix)
    copy = _seconds_each(jax.jit(lambda a: a + 1), long)
    return Speed(2.0 * SIDE**3 / product, 2.0 * long.nbytes / copy)


def _seconds_each(function: Callable, array) -> float:
    marks = []
    for _ in range(REPEATS):  # the first repetition compiles, and others may be disturbed
        began = time.perf_counter()
        jax.block_until_ready(function(array))
        marks.append(time.perf_counter() - began)
    return max(min(marks), 1e-9)


def rows_of_polish(task: Task, settings: Polish) -> LeastSquaresSize:
    """The numbers of rows and unknowns of the polish, as second_order/residual_rows.py makes them."""
    model, problem = task.model, task.problem
    tuned = model if tunes_all_weights(model, settings) else model.tunable()
    size = count_parameters(tuned) + len(named_unknowns(task.pde))
    points = point_count(settings, problem, size, fresh=False)
    per_axis = 2 * round(points ** (1 / problem.domain.dimension))
    faces = sum(len(condition.nodes(per_axis)) for condition in problem.conditions)
    equations = points * len(problem.equation_scales)
    return LeastSquaresSize(int(reading_mask(problem.observations).size) + equations + faces, size)


def _of_solution(task: Task) -> str:
    following = "; another candidate after it, should it be poor" if task.has_fallback else ""
    return f"seconds: {how_solved(task)}{following}"


def _points(task: Task) -> int:
    """The number of points of a step, for all networks that are trained together."""
    training = task.training
    points = training.collocation + min(training.batch, len(task.problem.observations))
    points += training.condition_points * len(task.problem.conditions)
    return points * len(task.seeds)


def _values(task: Task) -> float:
    """The bytes of one number for every point and hidden unit of a step."""
    size = 8 if task.training.precision == "float64" else 4
    return float(size * hidden_units(task.model) * _points(task))


def _work_of_step(task: Task) -> Work:
    return Work(
        float(OPERATIONS * count_parameters(task.model) * _points(task)), MOVED * _values(task)
    )


def _of_steps(task: Task, each: float) -> list[tuple[str, str]]:
    return [
        ("memory of a step", f"about {_size(KEPT * _values(task))}"),
        (
            "time of a step",
            f"about {1e3 * each:.2g} ms, after some {COMPILE_SECONDS:.0f} s of compiling",
        ),
    ]


def _of_polish(rows: LeastSquaresSize, settings: Polish) -> str:
    limit = memory_limit(settings)
    whole = JacobianLayout.of(*rows, limit).whole
    pieces = "" if whole else ", in pieces"
    return (
        f"about {_size(rows.memory(limit))}, {rows.count:,} rows of {rows.size:,} weights{pieces}"
    )


def _seconds_of_polish(rows: LeastSquaresSize, settings: Polish, speed: Speed) -> float:
    whole = COMPILE_SECONDS + settings.iterations * speed.seconds(rows.work())
    return whole if settings.seconds is None else min(whole, settings.seconds)


def _in_words(seconds: float, polish: float) -> str:
    finish = f", of which the polish {_length(polish)}" if polish else ""
    return f"about {_length(seconds)} on this machine{finish}"


def _length(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} minutes" if minutes < 100 else f"{minutes / 60:.1f} hours"


def _size(count: float) -> str:
    return f"{count / MEGABYTE:.3g} MiB"
