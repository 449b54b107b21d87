"""Stored records, asked by run; and what one cell of a table says about them."""

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import jax
import xarray as xr

from pgt.methods.finished_fit import DIVERGED
from pgt.methods.history import History
from pgt_bench import experiments
from pgt_bench.experiments import Run
from pgt_bench.runner import record_path
from pgt_bench.stored import read_record

SEEDS = (0, 1, 2)
MISSING = "–"
MEASURES = ("errors", "residual", "train_error")  # null in a record: not a finite number

Pick = str | Callable[[dict], float | None]


@dataclasses.dataclass(frozen=True)
class Records:
    """The records in a folder; of each kind of problem those measured with one preset are shown."""

    folder: Path
    heat: str = "cpu"
    wake: str = "gpu"

    def runs(self, table: str) -> list[Run]:
        """What a table shows, seeds aside."""
        return [
            run
            for kind, preset in (("heat", self.heat), ("wake", self.wake))
            for run in experiments.runs(table, preset)
            if run.problem.kind == kind
        ]

    def of(self, run: Run) -> list[dict]:
        """The records of a run, one for every seed found."""
        paths = (self.path(run, seed) for seed in SEEDS)
        return [read_record(path) for path in paths if path.exists()]

    def path(self, run: Run, seed: int = 0) -> Path:
        return record_path(self.folder, dataclasses.replace(run, seed=seed))


def history_of(record: dict) -> xr.Dataset:
    """How a run was trained, as in `Reconstruction.history`; without steps where none is recorded.

    The first records had every column side by side, such as `data` and `weight_data`.
    """
    stored = jax.tree.map(
        lambda value: math.nan if value is None else value,  # null: not a finite number
        record.get("history", {}), is_leaf=lambda value: value is None,
    )  # fmt: skip
    history = History(**stored) if "loss" in stored else History.from_flat(stored)
    return history.dataset()


# ------------------------------------------------------------------------------- one cell


def cell(found: Sequence[dict], pick: Pick, form: str = ".1e") -> str:
    """The mean over the seeds.

    Whatever went wrong is said; `–` where there is no record, empty where the number has no meaning.
    """
    if not found:
        return MISSING
    values = [value(record, pick) for record in found]
    good = [v for v in values if v is not None]
    said = f"{sum(good) / len(good):{form}}" if good else ""
    wrong = Counter(filter(None, (trouble(record, pick) for record in found)))
    words = [
        word if count == len(found) else f"{count} of {len(found)} {word}"
        for word, count in wrong.items()
    ]
    return ", ".join([said] * bool(said) + words)


def value(record: dict, pick: Pick) -> float | None:
    """The number under a name such as "errors.snapshot.overall.mean", or what a function finds."""
    if not isinstance(pick, str):
        return pick(record)
    entry = record
    for name in pick.split("."):
        entry = entry.get(name) if isinstance(entry, dict) else None
    return entry if isinstance(entry, int | float) else None


def has_diverged(record: dict) -> bool:
    """Whether the training of a run was given up."""
    return record.get("stopped") == DIVERGED


def trouble(record: dict, pick: Pick) -> str | None:
    """Why a number is not to be trusted, in a word."""
    if "failed" in record:
        return "failed"
    if has_diverged(record):
        return "diverged"
    measured = not isinstance(pick, str) or pick.split(".")[0] in record.keys() & set(MEASURES)
    return "not finite" if measured and value(record, pick) is None else None


# ------------------------------------------------------------------------------- below a table


def notes(records: Records, table: str, runs: Sequence[Run]) -> str:
    """Where a table was measured, over how many seeds, what failed, and what has not run yet."""
    found = {run: records.of(run) for run in runs}
    every = [record for several in found.values() for record in several]
    counts = Counter(len(several) for several in found.values() if several)
    parts = [_measured(every), _seeds(counts)] if every else []
    parts += [f"Failed: {line}." for line in _failures(every)]
    parts += _missing(records, table, runs)
    return " ".join(parts)


def _measured(every: Sequence[dict]) -> str:
    machines: dict[str, set[str]] = {}
    for record in every:
        machines.setdefault(device_of(record), set()).add(f"`{record['commit']}`")
    places = [f"{name}, {', '.join(sorted(commits))}" for name, commits in machines.items()]
    return f"Measured on {'; '.join(places)}."


def device_of(record: dict) -> str:
    """The name of a GPU; a CPU is called no more than that."""
    kind, _, name = record["device"].partition(": ")
    return name if name != kind else kind.upper()


def _seeds(counts: Counter) -> str:
    if len(counts) == 1:
        (seeds,) = counts
        return f"{seeds} seed{'s' * (seeds > 1)} per run."
    return "Seeds: " + ", ".join(f"{n} for {counts[n]} runs" for n in sorted(counts)) + "."


def _failures(every: Sequence[dict]) -> list[str]:
    return sorted({f"{r['run']['method']}: {r['failed']}" for r in every if "failed" in r})


def _missing(records: Records, table: str, runs: Sequence[Run]) -> list[str]:
    wanted = [(run, seed) for run in runs for seed in SEEDS]
    absent = Counter(run.preset for run, seed in wanted if not records.path(run, seed).exists())
    return [
        f"Missing: {count} of {len(wanted)} runs; `pgt bench {table} --preset {preset} "
        f"--seeds {len(SEEDS)}` makes them."
        for preset, count in absent.items()
    ]
