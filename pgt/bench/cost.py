"""What one training step costs, by the compiler's own account."""

import time

import jax
import jax.numpy as jnp
import numpy as np

from pgt.models.base import AbstractFieldModel
from pgt.training.losses import Problem
from pgt.training.settings import Training
from pgt.training.step import Clock, run_steps, start


def step_cost(
    model: AbstractFieldModel, pde, problem: Problem, training: Training
) -> dict[str, float | None]:
    """Compile one step, as training will, and ask the compiler about it.

    `flops`: floating-point operations of a step, `peak_bytes`: what it needs in memory,
    `compile_seconds`: of a cold start (little where the compiled program was kept from before).
    """
    settings = training.of_a_step()
    empty = problem.observations.take(np.zeros(0, int))
    clock = Clock(jnp.zeros(()), jnp.zeros(()))
    began = time.monotonic()
    state, fixed = start(model, pde, problem, settings, 0.0)
    arguments = (state, fixed, problem, empty, jax.random.key(0), clock)
    compiled = run_steps.lower(*arguments, jnp.ones((), jnp.int32), settings).compile().compiled
    seconds = time.monotonic() - began
    # A loop whose length the compiler does not know is counted as one turn, which is one step.
    counted = compiled.cost_analysis() or {}
    memory = compiled.memory_analysis()
    return {
        "flops": counted.get("flops"),
        "peak_bytes": None if memory is None else _peak(memory),
        "compile_seconds": seconds,
    }


def _peak(memory) -> float:
    return float(
        memory.temp_size_in_bytes
        + memory.argument_size_in_bytes
        + memory.output_size_in_bytes
        - memory.alias_size_in_bytes
    )
