"""What a run will need, measured before it: memory and time of a step, time of the polish."""

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from pgt.bench.cost import CompiledStep, compile_step
from pgt.models.features import Features
from pgt.runs.check import how_solved
from pgt.training.assemble import Task
from pgt.training.polish import polish, polish_settings
from pgt.training.settings import Polish

SECONDS, MOST_STEPS, ITERATIONS = 2.0, 20, 3  # spent on timing each part

Say = Callable[[str], None]


def estimate(task: Task, say: Say) -> list[tuple[str, str]]:
    """Rows on memory and time: a step is compiled and timed, and the polish begun where there is one."""
    if isinstance(task.model, Features):
        return [("time (estimate)", _of_solution(task))]
    training, rows, before = task.training, [], 0.0
    with task.in_precision():
        if training.steps:
            say("compiling one step, to see what it needs")
            step = compile_step(task)
            say("timing some steps")
            each = _seconds_of_a_step(step)
            train = training.steps * each if training.seconds is None else training.seconds
            before, rows = train + step.seconds, _of_steps(step, each)
        settings, finish = polish_settings(task.model, training), 0.0
        if settings:
            say("timing the polish" if training.steps else "timing some second-order steps")
            finish = _seconds_of_polish(task, settings)
    of_which = finish if training.steps else 0.0
    return [*rows, ("time (estimate)", _in_words(before + finish, of_which))]


def _of_solution(task: Task) -> str:
    rival = "; a network after it, should sines not follow the field" if task.rival else ""
    return f"seconds: {how_solved(task)}{rival}"


def _of_steps(step: CompiledStep, each: float) -> list[tuple[str, str]]:
    memory = step.peak_bytes
    return [
        ("memory of a step", "not told by this device" if memory is None else _size(memory)),
        ("time of a step", f"{1e3 * each:.3g} ms, after {step.seconds:.0f} s of compiling"),
    ]


def _seconds_of_a_step(step: CompiledStep) -> float:
    first = step.run(1)  # the very first also loads the program
    count = int(np.clip(SECONDS / max(first, 1e-6), 1, MOST_STEPS))
    return step.run(count) / count


def _seconds_of_polish(task: Task, settings: Polish) -> float:
    """Of all its iterations, from the first few: the very first one also compiles, and one whose step
    is refused costs less than the others, so the slowest counts."""
    began, marks = time.monotonic(), []
    short = dataclasses.replace(settings, iterations=ITERATIONS, evidence=False)
    polish(
        task.model, task.pde, task.problem, short, task.held_out,
        lambda iteration, cost: marks.append(time.monotonic()),
    )  # fmt: skip
    each = float(np.max(np.diff(marks))) if len(marks) > 1 else 0.0
    whole = marks[0] - began + each * (settings.iterations - 1) if marks else 0.0
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
    return f"{count / 2**20:.3g} MiB"
