"""The budget of a fit: time for each of its parts, the size of a sum of sines, and memory.

A network that is small enough for second-order steps on all weights needs no training before them. On
problems of all kinds, Gauss-Newton steps from the start reach a smaller cost, and sooner, than after a
first-order optimizer (benchmarks/newton.py). Other networks are trained first, and then their decoder is
polished by second-order steps.

The time of a solve for a sum of sines grows as the cube of the number of its weights. A small solve is
timed first and shows how many sines are affordable. The clock is checked before every further band and
linearization.

If a step on the requested points needs more memory than there is, an error is raised before they are
drawn.
"""

import math
import time
from dataclasses import replace
from math import prod
from typing import Literal

import jax
import numpy as np

from pgt.core.machine import require_memory
from pgt.inference.evidence import maximize_evidence
from pgt.inference.linear_algebra import on_host
from pgt.inference.linear_gaussian import Rows
from pgt.models.field_model import AbstractFieldModel
from pgt.nn import trees
from pgt.nn.trees import count_parameters
from pgt.training.settings import Polish, Training

# The default number of steps of a first-order optimizer.
FIRST_ORDER_STEPS = 2000
# The default settings of a second-order fit without training before it. With fewer iterations, smooth
# fields have not converged; with a larger share of fresh points, the fit fluctuates at the end.
SECOND_ORDER = Polish(iterations=300, patience=120, fresh=0.7)
# The number of iterations of such a fit if seconds are the limit.
UNLIMITED_ITERATIONS = 10**6
# The share of the seconds for first-order training if a polish follows.
FIRST_ORDER_SECONDS_SHARE = 0.6
# The largest numbers of weights for which a polish and the posterior after it take only seconds.
MAX_POLISHED_WEIGHTS, MAX_POLISHED_WEIGHTS_ON_GPU = 4000, 10_000


def with_budget(training: Training, model: AbstractFieldModel) -> Training:
    """The settings with all defaults of the budget filled in: steps, seconds and polish."""
    if not model.is_trained:
        return training
    polish = polish_settings(model, training)
    if training.steps is not None or polish is False or not tunes_all_weights(model, polish):
        return _with_first_order_budget(training, model)
    seconds = training.seconds
    if training.polish is None:
        polish = SECOND_ORDER
        if seconds is not None:
            polish = replace(polish, iterations=UNLIMITED_ITERATIONS)
    if seconds is not None and polish.seconds is None:
        polish = replace(polish, seconds=seconds)
    return replace(training, steps=0, seconds=None, polish=polish)


def _with_first_order_budget(training: Training, model: AbstractFieldModel) -> Training:
    steps = FIRST_ORDER_STEPS if training.steps is None else training.steps
    polish, seconds = polish_settings(model, training), training.seconds
    if polish is False or seconds is None or polish.seconds is not None:
        return replace(training, steps=steps, polish=polish)
    shorter_polish = replace(polish, seconds=(1 - FIRST_ORDER_SECONDS_SHARE) * seconds)
    return replace(
        training, steps=steps, seconds=FIRST_ORDER_SECONDS_SHARE * seconds, polish=shorter_polish
    )


def total_seconds(training: Training) -> float | None:
    """The seconds of training and polish together; None without a limit.

    >>> from pgt.training.settings import Polish
    >>> total_seconds(Training(seconds=6.0, polish=Polish(seconds=4.0))), total_seconds(Training())
    (10.0, None)
    """
    polish_seconds = training.polish.seconds if training.polish else None
    limits = [seconds for seconds in (training.seconds, polish_seconds) if seconds is not None]
    return sum(limits) if limits else None


def polish_settings(model: AbstractFieldModel, training: Training) -> Polish | Literal[False]:
    """The settings of the polish: those of the user, or the default if the decoder is small enough."""
    if training.polish is not None:
        return training.polish
    return Polish() if is_polishable(model) else False


def is_polishable(model: AbstractFieldModel) -> bool:
    """Whether second-order steps on the decoder, and the posterior after them, take only seconds."""
    limit = MAX_POLISHED_WEIGHTS if on_host() else MAX_POLISHED_WEIGHTS_ON_GPU
    return count_parameters(model.tunable()) <= limit


def tunes_all_weights(model: AbstractFieldModel, settings: Polish) -> bool:
    """Whether second-order steps change all weights, not only those of the decoder."""
    if settings.weights is not None:
        return settings.weights == "all"
    return count_parameters(model.tunable()) == count_parameters(model)


# --------------------------------------------------------------------------- sums of sines

# The number of weights of the timed solve, which is so small that it runs on one core.
PROBE_WEIGHTS = 120
# The number of repeated solves, of which the fastest counts. On busy cores, one may take thirty times as
# long.
PROBE_REPEATS = 3
# The number of rows per weight of a solve. More rows cost time and tie the equation to more points.
ROWS_PER_WEIGHT = 1.7
# The number of linearizations that one band may need if the equation is not linear in all unknowns.
LINEARIZATIONS_PER_BAND = 12
# The share of the seconds that the last and largest band may take.
LAST_BAND_SECONDS_SHARE = 0.5
# The smallest number of sines per field. Fewer could not represent any field.
MIN_SINES_PER_FIELD = 24


class Deadline:
    """The seconds of a fit that begins now; None stands for no limit."""

    def __init__(self, seconds: float | None):
        self.seconds, self.began = seconds, time.monotonic()

    @property
    def spent(self) -> float:
        """The seconds since the beginning."""
        return time.monotonic() - self.began

    def allows(self, expected: float, share: float = 1.0) -> bool:
        """Whether another `expected` seconds fit within a share of the limit."""
        return self.seconds is None or self.spent + expected <= share * self.seconds

    def affordable_sines(self, count: int, fields: int, is_linear: bool) -> int:
        """The number of sines per field, at most `count`, that can be solved for in time.

        An equation that is not linear in all unknowns needs several solves.
        """
        if self.seconds is None:
            return count
        probe_weights = min(PROBE_WEIGHTS, count * fields)
        seconds_per_band = seconds_of_solve(probe_weights) * (
            1 if is_linear else LINEARIZATIONS_PER_BAND
        )
        max_weights = probe_weights * math.cbrt(
            LAST_BAND_SECONDS_SHARE * self.seconds / seconds_per_band
        )
        return min(count, max(int(max_weights / fields), MIN_SINES_PER_FIELD))

    def sines_in_remaining_time(
        self, count: int, wanted: int, took: float, share: float = 1.0
    ) -> int:
        """The number of sines, at most `wanted`, that can be solved for in what is left of a share of the
        seconds, if `count` sines `took` this many seconds.
        """
        if self.seconds is None:
            return wanted
        seconds_left = max(share * self.seconds - self.spent, 0.0)
        return min(wanted, int(count * math.cbrt(seconds_left / max(took, 1e-9))))


def seconds_of_solve(size: int) -> float:
    """The seconds that this machine takes for a solve with `size` weights."""
    random = np.random.default_rng(0)
    equation, readings = random.normal(size=(math.ceil(ROWS_PER_WEIGHT * size), size)), size // 2
    reading_rows, values = random.normal(size=(readings, size)), random.normal(size=readings)
    rows = Rows(equation, np.zeros(len(equation)), reading_rows, values, np.ones(readings))
    return max(min(_time_solve(rows) for _ in range(PROBE_REPEATS)), 1e-6)


def _time_solve(rows: Rows) -> float:
    began = time.monotonic()
    maximize_evidence(rows)
    return time.monotonic() - began


# -------------------------------------------------------------------------------- memory

# Lower estimates of the numbers that are stored for every point, whatever the compiler does: values and
# derivatives in every hidden unit in a training step, and rows in a polish, which works in chunks.
NUMBERS_PER_HIDDEN_UNIT, NUMBERS_PER_POLISH_POINT = 3, 25
FEWER_POINTS = "write some thousands"


def check_memory(training: Training, model: AbstractFieldModel) -> None:
    """Raise if a step on the requested points needs more memory than there is, by a lower estimate."""
    if not model.is_trained:
        return  # a sum of sines chooses its points itself
    available, units = device_memory(), NUMBERS_PER_HIDDEN_UNIT * hidden_units(model)
    size = 8 if training.precision == "float64" else 4
    for name in ("collocation", "condition_points"):
        count = getattr(training, name) if training.steps else 0
        setting = f"Training({name}={count})"
        require_memory(float(size * units * count), setting, FEWER_POINTS, available)
    polish = polish_settings(model, training)
    if polish and polish.points is not None:
        setting = f"Polish(points={polish.points})"
        require_memory(
            8.0 * NUMBERS_PER_POLISH_POINT * polish.points,
            setting,
            f"{FEWER_POINTS}, or leave it out",
            available,
        )


def hidden_units(model: AbstractFieldModel) -> int:
    """The number of values in the hidden layers of a model, counted by the rows of its weights."""
    arrays = jax.tree.leaves(trees.partition(model)[0])
    return sum(prod(array.shape[:-1]) for array in arrays if array.ndim > 1)


def device_memory() -> float | None:
    """The bytes of memory of the device that computes; None stands for the memory of the host."""
    if on_host():
        return None
    return (jax.devices()[0].memory_stats() or {}).get("bytes_limit")
