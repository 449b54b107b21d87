"""Runs that differ by their seeds alone, trained at once as one program: one is compiled instead of
many, and a graphics card, which a single small network leaves idle, has enough to do.

Every network has readings of its own. Seconds are then those of all of them together.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields, replace

from pgt._reconstruct import to_reconstruction
from pgt.core.progress import ProgressBar
from pgt.data.observations import Observations
from pgt.methods.first_order.training_loop import train
from pgt.problem.assembly import Task
from pgt.problem.losses import Problem
from pgt.reconstruction.result import Reconstruction
from pgt.uncertainty.outcome import Outcome

Gate = Callable[[], AbstractContextManager]  # entered while a run has the device's time


@dataclass(frozen=True)
class BatchedSeeds(Task):
    """Several tasks as one, whose networks and readings are shaped alike; settings are the first's."""

    parts: tuple[Task, ...] = ()

    @staticmethod
    def of(parts: Sequence[Task]) -> "BatchedSeeds":
        """All networks beside each other."""
        first = {field.name: getattr(parts[0], field.name) for field in fields(Task)}
        networks = tuple(part.model for part in parts)
        seeds = tuple(part.seeds[0] for part in parts)
        return BatchedSeeds(**(first | {"networks": networks, "seeds": seeds}), parts=tuple(parts))

    @property
    def problems(self) -> tuple[Problem, ...]:
        """What each network fits."""
        return tuple(part.problem for part in self.parts)

    @property
    def held_outs(self) -> tuple[Observations, ...]:
        """The readings that each network never fits."""
        return tuple(part.held_out for part in self.parts)


def solve_batched(
    parts: Sequence[Task], gate: Gate = nullcontext, *, compile_first: bool = True
) -> list[Reconstruction]:
    """The result of every task, trained without a polish; all is compiled before the gate is passed."""
    together = BatchedSeeds.of(parts)
    with together.in_precision(), ProgressBar(False) as bar:
        if compile_first:
            one = replace(together.training, steps=1, seconds=None)
            train(replace(together, training=one), checkpoint=None, progress=bar)
        with gate():
            fits = train(together, checkpoint=None, progress=bar)
    return [
        to_reconstruction(part, Outcome(fit, None), None, [])
        for part, fit in zip(parts, fits, strict=True)
    ]
