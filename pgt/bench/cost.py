"""What one training step costs, by the compiler's own account."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from pgt.training.assemble import Task
from pgt.training.ensemble import Program, together
from pgt.training.step import Clock, start


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
    clock = Clock(jnp.zeros(()), jnp.zeros(()))
    began = time.monotonic()
    starts = [
        start(model, task.pde, problem, settings, 0.0)
        for model, problem in zip(task.networks, task.problems, strict=True)
    ]
    fixed = [part for _, part in starts]
    program = Program.of(fixed, task.problems, task.held_outs, task.seeds, settings)
    arguments = (*program.arguments(together([state for state, _ in starts])), clock)
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
