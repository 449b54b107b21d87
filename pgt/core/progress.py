"""A progress bar for the terminal."""

import sys
from collections.abc import Mapping

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class ProgressBar:
    """A progress bar with the share of the budget, the elapsed time and the losses by name.

    Work of known length has a `name`, and the bar then also shows the remaining time. Without a terminal
    nothing is shown.
    """

    def __init__(self, show: bool | None = None, name: str | None = None):
        visible = sys.stderr.isatty() if show is None else show
        self._progress = Progress(
            TextColumn("{task.description}", style="bold", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:>3.0f} %", markup=False),
            TimeElapsedColumn(),
            *((TextColumn("left", markup=False), TimeRemainingColumn()) if name else ()),
            TextColumn("{task.fields[losses]}", markup=False),
            console=Console(stderr=True, markup=False),
            disable=not visible,
        )
        self._task = self._progress.add_task(name or "compile", total=1.0, losses="")

    def __enter__(self) -> "ProgressBar":
        self._progress.start()
        return self

    def __exit__(self, *_):
        self._progress.stop()

    def update(self, stage: str, share: float, losses: Mapping[str, float]):
        text = "  ".join(f"{name} {value:.1e}" for name, value in losses.items())
        self._progress.update(self._task, description=stage, completed=share, losses=text)
