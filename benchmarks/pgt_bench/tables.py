"""Markdown tables from stored records, the paper's numbers beside ours.

Every function takes `Records` and returns the text of one section. A mean over seeds has the smallest
and largest in brackets; `–`: not run yet; empty: the number has no meaning for that method.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pgt_bench import paper
from pgt_bench.experiments import ABLATION, GAMMA, NOISE, Run, has_recipe
from pgt_bench.methods import METHODS, REFERENCES
from pgt_bench.problems import THREE_MODES, HeatProblem, WakeProblem
from pgt_bench.records import Pick, Records, cell, notes, value

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

RECIPES = {"ours": "ours", "newton": "Gauss–Newton", "authors": "authors'"}
# The paper's row follows the last of our methods it compares with.
PAPER_WAKE = {
    "pgt": "PGT", "pinn": "PINN", "siren-pde": "SIREN", "wire-pde": "WIRE", "fno": "FNO",
    "deeponet": "PI-DeepONet", "pinnsformer": "PINNsFormer",
}  # fmt: skip


# ------------------------------------------------------------------------------- the sections


def heat(records: Records) -> str:
    """Table 1 for each number of readings, then the problems it leaves out."""
    runs = records.runs("heat")
    plain = [run for run in runs if run.problem == HeatProblem(run.problem.readings)]
    parts = []
    for readings in dict.fromkeys(run.problem.readings for run in plain):
        rows = [
            [
                _name(run.method),
                RECIPES[run.recipe] if has_recipe(run.method) else "",
                *(column.of(records.of(run)) for column in HEAT_COLUMNS),
            ]
            for run in plain
            if run.problem.readings == readings
        ]
        rows += [
            [f"paper: {name}", "", *(column.of_paper(row) for column in HEAT_COLUMNS)]
            for (name, count), row in paper.HEAT.items()
            if count == readings
        ]
        head = ["method", "recipe", *(column.title for column in HEAT_COLUMNS)]
        parts += [f"**M = {readings}**", table(head, rows)]
    others = [run for run in runs if run not in plain]
    parts += [notes(records, "heat", plain), *_other_heat(records, others)]
    return "\n\n".join(parts)


def _other_heat(records: Records, runs: Sequence[Run]) -> list[str]:
    problems = list(dict.fromkeys(run.problem for run in runs))
    at = {(run.problem, run.method): run for run in runs}
    rows = [
        [_name(method), *(cell(records.of(at[problem, method]), VOLUME) for problem in problems)]
        for method in dict.fromkeys(run.method for run in runs)
    ]
    titles = [_words(problem) for problem in problems]  # pyright: ignore[reportArgumentType]
    text = "**Other problems**: relative L2 error, our recipe, equal seconds"
    return [text, table(["method", *titles], rows), notes(records, "heat", runs)]


def wake(records: Records) -> str:
    """Table 2; recipes and budgets; the pressure never observed."""
    runs = records.runs("wake")
    seen = [run for run in runs if run.problem == WakeProblem(run.problem.readings)]
    main = [run for run in seen if (run.recipe, run.budget) == ("ours", "seconds")]
    rows = []
    for run in sorted(main, key=lambda run: not has_recipe(run.method)):
        rows.append([_name(run.method), *(column.of(records.of(run)) for column in WAKE_COLUMNS)])
        if run.method in PAPER_WAKE:
            row = paper.WAKE[PAPER_WAKE[run.method]]
            name = f"paper: {PAPER_WAKE[run.method]}"
            rows.append([name, *(column.of_paper(row) for column in WAKE_COLUMNS)])
    head = ["method", *(column.title for column in WAKE_COLUMNS)]
    parts = ["**Our recipe, equal seconds**", table(head, rows), notes(records, "wake", main)]
    parts += _ways(records, [run for run in seen if has_recipe(run.method)])
    return "\n\n".join([*parts, *_pressure(records, [run for run in runs if run not in seen])])


def _ways(records: Records, runs: Sequence[Run]) -> list[str]:
    at = {(run.method, run.recipe, run.budget): run for run in runs}
    ways = list(dict.fromkeys((run.recipe, run.budget) for run in runs))
    rows = [
        [_name(method)]
        + [
            cell(records.of(at[method, *way]), pick) if (method, *way) in at else ""
            for way in ways
            for pick in (SNAPSHOT, "residual")
        ]
        for method in dict.fromkeys(run.method for run in runs)
    ]
    titles = [
        f"{RECIPES[recipe]}, equal {budget}: {what}"
        for recipe, budget in ways
        for what in ("overall", "residual")
    ]
    text = "**All recipes, both budgets**: overall error (stacked) at the snapshot, and residual"
    return [text, table(["method", *titles], rows), notes(records, "wake", runs)]


def _pressure(records: Records, runs: Sequence[Run]) -> list[str]:
    rows = [
        [_name(run.method), *(column.of(records.of(run)) for column in PRESSURE_COLUMNS)]
        for run in runs
    ]
    head = ["method", *(column.title for column in PRESSURE_COLUMNS)]
    text = "**Pressure never observed**: our recipe, equal seconds"
    return [text, table(head, rows), notes(records, "wake", runs)]


def ablation(records: Records) -> str:
    """Table 3."""
    runs = records.runs("ablation")
    ours = (Column("test error", SNAPSHOT), TRAIN_ERROR, RESIDUAL, STEPS)
    rows = []
    for run in sorted(runs, key=lambda run: ABLATION.index(run.method)):
        test, train, residual, steps = (column.of(records.of(run)) for column in ours)
        theirs, their_residual = (f"{number:.2e}" for number in paper.ABLATION[run.method].values())
        name = "PGT (full)" if run.method == ABLATION[0] else _name(run.method)
        rows.append([name, test, train, theirs, residual, their_residual, steps])
    head = ["configuration", "test error", "train error", "paper", "residual", "paper", "steps"]
    return "\n\n".join([table(head, rows), notes(records, "ablation", runs)])


def noise(records: Records) -> str:
    """Table 4, and whether PGT-UW knows how large the noise is."""
    runs = records.runs("noise")
    at = {(run.problem.noise, run.method): run for run in runs}
    rows = []
    for level in dict.fromkeys(run.problem.noise for run in runs):
        cells = [f"{level:g}"]
        for pick, name in ((velocity_error, "error"), ("residual", "residual")):
            for method in NOISE:
                cells.append(cell(records.of(at[level, method]), pick))
                cells.append(f"{paper.NOISE[method, level][name]:.2e}")
        uncertain = records.of(at[level, "pgt-uw"]) if level else []
        cells += [cell(uncertain, f"sigma_ratio.{f}", ".2f") if level else "" for f in ("u", "v")]
        rows.append(cells)
    head = ["η"]
    for what in ("error of u, v", "residual"):
        head += [f"{what}: PGT", "paper", f"{what}: PGT-UW", "paper"]
    head += [f"σ predicted / true: {name}" for name in ("u", "v")]
    return "\n\n".join([table(head, rows), notes(records, "noise", runs)])


def gamma(records: Records) -> str:
    """Ours: the kernel in the attention, by number of readings and noise."""
    parts = []
    for kind, name in (("wake", "Cylinder wake"), ("heat", "Heat, three modes, readings only")):
        runs = [run for run in records.runs("gamma") if run.problem.kind == kind]
        at = {(run.problem.noise, run.method, run.problem.readings): run for run in runs}
        counts = list(dict.fromkeys(run.problem.readings for run in runs))
        rows = [
            [f"{100 * level:g} %", _name(method)]
            + [cell(records.of(at[level, method, count]), VOLUME) for count in counts]
            for level in sorted({run.problem.noise for run in runs})
            for method in GAMMA
            if (level, method, counts[0]) in at
        ]
        head = ["noise", "kernel", *(f"{count} readings" for count in counts)]
        text = f"**{name}**: relative L2 error over the whole volume (fields stacked)"
        parts += [text, table(head, rows), notes(records, "gamma", runs)]
    return "\n\n".join(parts)


# ------------------------------------------------------------------------------- words


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _name(method: str) -> str:
    return REFERENCES[method] if method in REFERENCES else METHODS[method].label


def _words(problem: HeatProblem) -> str:
    words = ["three modes" if problem.modes == THREE_MODES else "one mode"]
    words += ["boundary and initial values known" if problem.known else "readings only"]
    words += [f"{100 * problem.noise:g} % noise"] if problem.noise else []
    return ", ".join(words)
