"""The record of a stage of a fit: its objective, costs, seconds, and why it ended."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Ended = Literal["converged", "patience", "noise", "model", "iterations", "seconds", "diverged"]
REASONS: Mapping[Ended, str] = {
    "converged": "no step lowers the cost any more",
    "patience": "the held-out error no longer falls",
    "noise": "the readings are noisy, and the next stage takes their noise into account",
    "model": "the model cannot follow the readings",
    "iterations": "all iterations are done",
    "seconds": "the time is used up",
    "diverged": "the cost is not finite",
}


@dataclass(frozen=True)
class Stage:
    """A stage of a least-squares fit; costs of different stages are not comparable.

    Attributes
    ----------
    name : the objective: "Gauss-Newton" (readings and equation), or "under a prior".
    costs : the cost before the first iteration and after each.
    seconds : the duration.
    ended : why it ended: "converged" (no step lowers the cost), "patience" (the held-out error no longer
        falls), "iterations" or "seconds" (the budget), "noise" (the readings are noisy), "model" (it
        cannot follow the readings), "diverged".

    >>> stage = Stage("Gauss-Newton", (4.0, 1.0, 0.5), 2.0, "patience")
    >>> stage.iterations, stage.reason
    (2, 'the held-out error no longer falls')
    """

    name: str
    costs: tuple[float, ...]
    seconds: float
    ended: Ended

    @property
    def iterations(self) -> int:
        return len(self.costs) - 1

    @property
    def reason(self) -> str:
        """The reason why it ended, in words."""
        return REASONS[self.ended]

    @property
    def plain(self) -> dict[str, Any]:
        """The stage as plain data, for a record."""
        return {
            "name": self.name, "costs": list(self.costs), "seconds": self.seconds,
            "ended": self.ended,
        }  # fmt: skip


def stages_of(record: Mapping[str, Any]) -> tuple[Stage, ...]:
    """The stages of a fit from its record."""
    found: Iterable[Mapping[str, Any]] = record.get("stages") or ()
    return tuple(
        Stage(one["name"], tuple(one["costs"]), one["seconds"], one["ended"]) for one in found
    )
