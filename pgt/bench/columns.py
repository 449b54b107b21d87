"""Columns of the tables: a number of a record, how it is written, and what the paper calls it."""

from collections.abc import Sequence
from dataclasses import dataclass

from pgt.bench.records import Pick, cell, value

SNAPSHOT, VOLUME = "errors.snapshot.overall.stacked", "errors.volume.overall.stacked"


@dataclass(frozen=True)
class Column:
    """One number of a record; `paper` is its name in the paper's rows."""

    title: str
    pick: Pick
    form: str = ".1e"
    spread: bool = True
    paper: str = ""
    unit: float = 1.0

    def of(self, found: Sequence[dict]) -> str:
        return cell(found, self.pick, self.form, self.spread, self.unit)

    def of_paper(self, row: dict) -> str:
        entry = row.get(self.paper, "")
        return entry if isinstance(entry, str) else format(entry, self.form)


def training_seconds(record: dict) -> float | None:
    """Of a fit; of everything for a reference, which has no steps."""
    seconds = record.get("seconds", {})
    return seconds.get("train", seconds.get("all"))


def velocity_error(record: dict) -> float | None:
    """The measure of the paper's table 4: the mean of the errors of u and v at the snapshot."""
    u, v = (value(record, f"errors.snapshot.relative_l2.{name}") for name in ("u", "v"))
    return None if u is None or v is None else (u + v) / 2


PARAMETERS = Column("parameters", "parameters", ",.0f", False, "parameters")
GIGAFLOPS = Column("GFLOP per step", "cost.flops", ".3g", False, "gigaflops", 1e9)
COMPILE = Column("compile s", "seconds.compile", ".3g", False)
TRAIN = Column("train s", training_seconds, ".3g", False, "seconds")
POLISH = Column("polish s", "seconds.polish", ".3g", False)
STEPS = Column("steps", "steps", ",.0f", False)
RESIDUAL = Column("residual", "residual", paper="residual")
TRAIN_ERROR = Column("train error", "train_error", paper="train_error")
HEAT_COLUMNS = (
    Column("data loss", "train_error", paper="train_error"),
    Column("PDE loss", "residual", paper="residual"),
    Column("rel L2", VOLUME, paper="error"),
    GIGAFLOPS, STEPS, COMPILE, TRAIN, POLISH, PARAMETERS,
)  # fmt: skip
WAKE_COLUMNS = (
    PARAMETERS, GIGAFLOPS, COMPILE, TRAIN, STEPS,
    Column("overall, stacked", SNAPSHOT),
    Column("overall, mean", "errors.snapshot.overall.mean", paper="overall"),
    *(Column(name, f"errors.snapshot.relative_l2.{name}", paper=name) for name in ("u", "v", "p")),
    Column("volume, stacked", VOLUME),
    RESIDUAL, TRAIN_ERROR,
    Column("peak MB", "cost.peak_bytes", ",.0f", False, unit=1e6),
)  # fmt: skip
PRESSURE_COLUMNS = (
    *(
        Column(f"{name}, {where}", f"errors.{where}.{key}")
        for where in ("snapshot", "volume")
        for name, key in (
            ("u", "relative_l2.u"), ("v", "relative_l2.v"), ("p less its mean", "p_without_mean"),
        )
    ),
    RESIDUAL,
)  # fmt: skip
