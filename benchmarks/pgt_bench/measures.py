"""What is measured of a fit besides its errors, and what one training step costs by the compiler's own
account."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr

from pgt.data import Observations
from pgt.methods.first_order.training_step import (
    BudgetClock,
    TrainingProgram,
    initialize,
    stack_states,
)
from pgt.problem.assembly import Task
from pgt.reconstruction.result import Reconstruction
from pgt_bench.problems import RESIDUAL_POINTS, Setup, middle_of

HISTORY_ROWS = 60
DIGITS = 5


def mean_square_residual(result: Reconstruction, setup: Setup) -> float:
    """Mean square of the equations, in physical units, at random points."""
    unit = np.random.default_rng(1).uniform(size=(RESIDUAL_POINTS, setup.domain.dimension))
    points = setup.domain.from_unit(unit)
    rest = result.residual(points)
    return float(np.mean([(rest[name] ** 2).mean() for name in rest.data_vars]))


def train_error(result: Reconstruction, setup: Setup) -> float:
    """Mean square misfit of the readings as given, in physical units."""
    readings = setup.observations.aligned(setup.pde.fields)
    misfit = (result.predict_readings(readings) - readings.values)[readings.mask]
    return float(np.mean(misfit**2))


def sigma_ratio(result: Reconstruction, setup: Setup) -> dict[str, float]:
    """PGT-UW: the σ it predicts at the readings over the σ that was added, by field with noise."""
    logs = _log_variances(result.model, result.model.scaling.origin.readings(result.observations))
    sigma = np.sqrt(np.mean(np.exp(logs), axis=0)) * np.asarray(result.model.scaling.spread)
    return {
        name: float(sigma[setup.pde.fields.index(name)] / added)
        for name, added in setup.noise.items()
        if added > 0
    }


@eqx.filter_jit
def _log_variances(model, observations: Observations):
    context = model.encode(observations)
    points = jnp.asarray(observations.points, jnp.float32)
    return jax.vmap(lambda z: model.log_variance(context, z))(points)


def history(result: Reconstruction) -> dict[str, Any]:
    """How training went, by kind as in a `History`, thinned evenly in the logarithm of the step."""
    steps = result.history.step.to_numpy()
    wanted = np.geomspace(1, steps.max(initial=1), HISTORY_ROWS)
    rows = np.unique(np.searchsorted(steps, wanted))
    rows = rows[rows < len(steps)]  # none where nothing came before the second-order steps
    kept = result.history.isel(step=rows)
    columns = {"step": kept.step.to_numpy().tolist(), "held_out": _rounded(kept.held_out)}
    for kind, over in (("loss", "term"), ("weight", "term"), ("coefficient", "unknown")):
        names = kept[over].to_numpy()
        columns[kind] = {str(name): _rounded(kept[kind].sel({over: name})) for name in names}
    return columns


def _rounded(column: xr.DataArray) -> list[float]:
    return [float(f"{value:.{DIGITS}g}") for value in column.to_numpy()]


def middle_snapshot(result: Reconstruction, truth: xr.Dataset) -> dict[str, np.ndarray]:
    middle = middle_of(truth)
    field = result.grid(x=middle.x.values, y=middle.y.values, t=middle.t.values)
    return {
        str(name): field[name].isel(t=0).to_numpy().astype(np.float32) for name in field.data_vars
    }


# ------------------------------------------------------------------------------- the cost of a step


@dataclass(frozen=True)
class CompiledStep:
    """One training step as it will run, and what the compiler says about it."""

    steps: Callable[[int], Any]
    flops: float | None
    peak_bytes: float | None
    seconds: float  # of compiling
    networks: int = 1  # that the step is one of

    def run(self, count: int) -> float:
        """Seconds of `count` steps, each time from the same start."""
        began = time.monotonic()
        jax.block_until_ready(self.steps(count))
        return time.monotonic() - began


def compile_step(task: Task) -> CompiledStep:
    """Compile one step of a task, as training will."""
    settings = task.training.of_a_step()
    clock = BudgetClock(jnp.zeros(()), jnp.zeros(()))
    began = time.monotonic()
    starts = [
        initialize(model, task.pde, problem, settings, 0.0)
        for model, problem in zip(task.networks, task.problems, strict=True)
    ]
    fixed = [part for _, part in starts]
    program = TrainingProgram.of(fixed, task.problems, task.held_outs, task.seeds, settings)
    arguments = (*program.arguments(stack_states([state for state, _ in starts])), clock)
    whole = program.compiled.lower(*arguments, jnp.ones((), jnp.int32), settings).compile()
    seconds = time.monotonic() - began
    # A loop whose length the compiler does not know is counted as one turn, which is one step.
    counted = whole.compiled.cost_analysis() or {}
    memory = whole.compiled.memory_analysis()
    return CompiledStep(
        lambda count: whole(*arguments, jnp.asarray(count, jnp.int32), settings),
        counted.get("flops"),
        None if memory is None else _peak(memory),
        seconds,
        len(task.networks),
    )


def step_cost(task: Task) -> dict[str, float | None]:
    """Compile one step, as training will, and ask the compiler about it.

    `flops`: floating-point operations of a step, `peak_bytes`: what it needs in memory, both for each of
    the networks that are trained at once; `compile_seconds`: of a cold start (little where the compiled
    program was kept from before).
    """
    step = compile_step(task)
    return {
        "flops": None if step.flops is None else step.flops / step.networks,
        "peak_bytes": None if step.peak_bytes is None else step.peak_bytes / step.networks,
        "compile_seconds": step.seconds,
    }


def _peak(memory) -> float:
    return float(
        memory.temp_size_in_bytes
        + memory.argument_size_in_bytes
        + memory.output_size_in_bytes
        - memory.alias_size_in_bytes
    )
