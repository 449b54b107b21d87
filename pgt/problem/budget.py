"""The budget of a fit: time for each of its parts, the size of a sum of sines, and memory.

A network whose weights all fit into a second-order step needs no training before it: on problems of all
kinds Gauss-Newton from the first step ends lower, and sooner, than after a first-order optimizer
(benchmarks/newton.py). Other networks are trained first, and then their decoder is polished.

The time of a solve for a sum of sines grows as the cube of the number of its weights. A small solve is
timed first and tells how many sines are affordable; before every further band and linearization the clock
is checked.

A step on more points than fit into memory raises an error before the points are drawn.
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

# Steps of a first-order optimizer without a setting.
FIRST_ORDER_STEPS = 2000
# A second-order fit without training before it and without a setting. Fewer iterations end before smooth
# fields have come to rest; fewer fixed points at the end leave the fit fluctuating.
SECOND_ORDER = Polish(iterations=300, patience=120, fresh=0.7)
# Its iterations if seconds are the limit.
UNLIMITED_ITERATIONS = 10**6
# The share of the seconds for first-order training if a polish follows.
FIRST_ORDER_SECONDS_SHARE = 0.6
# The largest numbers of weights for which a polish, with the posterior after it, takes seconds.
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
    finish = replace(polish, seconds=(1 - FIRST_ORDER_SECONDS_SHARE) * seconds)
    return replace(
        training, steps=steps, seconds=FIRST_ORDER_SECONDS_SHARE * seconds, polish=finish
    )


def total_seconds(training: Training) -> float | None:
    """The seconds of training and polish together; None without a limit.

    >>> from pgt.training.settings import Polish
    >>> total_seconds(Training(seconds=6.0, polish=Polish(seconds=4.0))), total_seconds(Training())
    (10.0, None)
    """
    finish = training.polish.seconds if training.polish else None
    given = [seconds for seconds in (training.seconds, finish) if seconds is not None]
    return sum(given) if given else None


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

# The number of weights of the timed solve: so small that it runs on one core.
PROBE_WEIGHTS = 120
# The number of repeated solves, of which the quickest counts: on busy cores one may take thirty times as
# long.
PROBE_REPEATS = 3
# Rows for every weight of a solve.
ROWS_PER_WEIGHT = 1.7
# The number of linearizations that one band may need if the equation is not linear in all unknowns.
LINEARIZATIONS_PER_BAND = 12
# The share of the seconds that the last and largest band may take.
LAST_BAND_SECONDS_SHARE = 0.5
# Fewer sines per field are never used: they could not represent anything.
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
        """The number of sines per field, at most `count`, that can be solved for in time. An equation
        that is not linear in all unknowns needs several solves."""
        if self.seconds is None:
            return count
        probed = min(PROBE_WEIGHTS, count * fields)
        each = seconds_of_solve(probed) * (1 if is_linear else LINEARIZATIONS_PER_BAND)
        most = probed * math.cbrt(LAST_BAND_SECONDS_SHARE * self.seconds / each)
        return min(count, max(int(most / fields), MIN_SINES_PER_FIELD))

    def sines_in_remaining_time(
        self, count: int, wanted: int, took: float, share: float = 1.0
    ) -> int:
        """The number of sines, at most `wanted`, that can be solved for in the rest of a share of the
        seconds if `count` sines `took` this many seconds."""
        if self.seconds is None:
            return wanted
        left = max(share * self.seconds - self.spent, 0.0)
        return min(wanted, int(count * math.cbrt(left / max(took, 1e-9))))


def seconds_of_solve(size: int) -> float:
    """The seconds that this machine takes for a solve of `size` weights."""
    random = np.random.default_rng(0)
    equation, readings = random.normal(size=(math.ceil(ROWS_PER_WEIGHT * size), size)), size // 2
    seen, values = random.normal(size=(readings, size)), random.normal(size=readings)
    rows = Rows(equation, np.zeros(len(equation)), seen, values, np.ones(readings))
    return max(min(_time_solve(rows) for _ in range(PROBE_REPEATS)), 1e-6)


def _time_solve(rows: Rows) -> float:
    began = time.monotonic()
    maximize_evidence(rows)
    return time.monotonic() - began


# -------------------------------------------------------------------------------- memory

# A lower estimate of the numbers stored for every point, however the compiler arranges them: values and
# derivatives in every hidden unit of a training step, and rows of a polish, which works in chunks.
NUMBERS_PER_HIDDEN_UNIT, NUMBERS_PER_POLISH_POINT = 3, 25
FEWER_POINTS = "write some thousands"


def check_memory(training: Training, model: AbstractFieldModel) -> None:
    """Raise if a step on that many points needs more memory than there is, by a lower estimate."""
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
