"""What the training of an ensemble remembers: of all members together, and of each."""

from dataclasses import asdict, replace

import jax
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.nn import batched
from pgt.training.loop import (
    DIVERGED,
    NO_LONGER_FALLING,
    SMALLEST_RATE,
    SPENT,
    Fit,
    Record,
    take_stock,
)
from pgt.training.settings import Training
from pgt.training.step import Report, State, join


class Course:
    """Records of a loop over many members; `plain` and `from_plain` take them through a file."""

    def __init__(self, count: int):
        self.all, self.members = Record(), [Record() for _ in range(count)]

    def plain(self) -> dict:
        return {"all": asdict(self.all), "members": [asdict(member) for member in self.members]}

    @staticmethod
    def from_plain(saved: dict) -> "Course":
        course = Course(0)
        course.all = Record(**saved["all"])
        course.members = [Record(**member) for member in saved["members"]]
        return course

    def take_stock(
        self, state: State, report: Report, share: float, held_out: int
    ) -> Bool[np.ndarray, " k"]:
        """Write the history of the members that went on; which of them are better than ever."""
        step, (report, pdes) = int(state.step), jax.device_get((report, state.trained[1]))
        improved = np.zeros(len(self.members), bool)
        for k, member in enumerate(self.members):
            if not report.finite[k]:
                continue
            take_stock(member, step, batched.member(report, k), batched.member(pdes, k), held_out)
            improved[k] = member.best_step == step
            if improved[k]:
                member.best_share = share
        return improved

    def verdict(self, rates: Float[Array, " k"], training: Training, share: float) -> str:
        """Why training is over; empty while it is not."""
        going = [m for m, rate in zip(self.members, rates, strict=True) if rate >= SMALLEST_RATE]
        if not going:
            return DIVERGED
        if share >= 1:
            return SPENT
        over = all(m.best_step and share - m.best_share > training.patience for m in going)
        return NO_LONGER_FALLING if over else ""

    def losses(self, report: Report) -> dict[str, float]:
        return {name: float(np.median(column)) for name, column in report.losses.items()}

    def fits(self, trained, fixed: list, state: State) -> list[Fit]:
        """Every member as a finished training of its own."""
        fits = []
        for k, member in enumerate(self.members):
            model, pde, _ = join(batched.member(trained, k), fixed[k])
            stopped = DIVERGED if state.rate[k] < SMALLEST_RATE else self.all.stopped
            fits.append(
                Fit(model, pde, float(state.noise_floor[k]), replace(member, stopped=stopped))
            )
        return fits

    def median(self) -> Record:
        """The course of all: at every step the median over the members that have it."""
        table: dict[int, list[dict]] = {}
        for row in (row for member in self.members for row in member.rows):
            table.setdefault(int(row["step"]), []).append(row)
        rows = [_median_row(table[step]) for step in sorted(table)]

        def middle(name):
            return float(np.median([getattr(member, name) for member in self.members]))

        return replace(
            self.all, rows=rows, best=middle("best"), best_step=int(middle("best_step")),
            best_share=middle("best_share"),
        )  # fmt: skip


def _median_row(rows: list[dict]) -> dict:
    return {
        name: type(value)(np.median([row[name] for row in rows])) for name, value in rows[0].items()
    }
