"""Markdown tables from stored records, the paper's numbers beside ours.

Every function takes `Records` and returns the text of one section. A cell is a mean over seeds, and a
note says how far the seeds are apart; `–`: not run yet; empty: the number has no meaning for that method.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

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
    paper: str = ""

    def of(self, found: Sequence[dict]) -> str:
        return cell(found, self.pick, self.form)

    def of_paper(self, row: dict) -> str:
        entry = row.get(self.paper, "")
        return entry if isinstance(entry, str) else format(entry, self.form)


def velocity_error(record: dict) -> float | None:
    """The measure of the paper's table 4: the mean of the errors of u and v at the snapshot."""
    u, v = (value(record, f"errors.snapshot.relative_l2.{name}") for name in ("u", "v"))
    return None if u is None or v is None else (u + v) / 2


PARAMETERS = Column("parameters", "parameters", ",.0f", "parameters")
STEPS = Column("steps", "steps", ",.0f")
RESIDUAL = Column("residual", "residual", paper="residual")
TRAIN_ERROR = Column("train error", "train_error", paper="train_error")
WAKE_COLUMNS = (
    PARAMETERS,
    STEPS,
    Column("all fields", SNAPSHOT),
    Column("mean of fields", "errors.snapshot.overall.mean", paper="overall"),
    *(Column(name, f"errors.snapshot.relative_l2.{name}", paper=name) for name in ("u", "v", "p")),
    RESIDUAL,
)
PRESSURE_COLUMNS = (
    Column("u", "errors.snapshot.relative_l2.u"),
    Column("v", "errors.snapshot.relative_l2.v"),
    Column("p", "errors.snapshot.p_without_mean"),
    RESIDUAL,
)

RECIPES = {"ours": "ours", "newton": "Gauss–Newton", "authors": "authors'"}
# The paper's row follows the last of our methods it compares with.
PAPER_WAKE = {
    "pgt": "PGT", "pinn": "PINN", "siren-pde": "SIREN", "wire-pde": "WIRE", "fno": "FNO",
    "deeponet": "PI-DeepONet", "pinnsformer": "PINNsFormer",
}  # fmt: skip


# ------------------------------------------------------------------------------- the sections


def heat(records: Records) -> str:
    """Table 1, one column for each number of readings, then the problems it leaves out."""
    runs = records.runs("heat")
    plain = [run for run in runs if run.problem == HeatProblem(run.problem.readings)]
    counts = list(dict.fromkeys(run.problem.readings for run in plain))
    at = {(run.method, run.recipe, run.problem.readings): run for run in plain}
    rows = [
        [
            _name(method),
            RECIPES[recipe] if has_recipe(method) else "",
            *(cell(records.of(at[method, recipe, count]), VOLUME) for count in counts),
            PARAMETERS.of(records.of(at[method, recipe, counts[0]])),
        ]
        for method, recipe in dict.fromkeys((run.method, run.recipe) for run in plain)
    ]
    rows += [
        [
            f"paper: {name}",
            "",
            *(f"{paper.HEAT[name, count]['error']:.1e}" for count in counts),
            PARAMETERS.of_paper(paper.HEAT[name, counts[0]]),
        ]
        for name in dict.fromkeys(name for name, _ in paper.HEAT)
    ]
    head = ["method", "recipe", *(f"M = {count}" for count in counts), PARAMETERS.title]
    parts = [table(head, rows), _below(records, "heat", plain, VOLUME)]
    return "\n\n".join([*parts, *_other_heat(records, [run for run in runs if run not in plain])])


def _other_heat(records: Records, runs: Sequence[Run]) -> list[str]:
    problems = list(dict.fromkeys(run.problem for run in runs))
    at = {(run.problem, run.method): run for run in runs}
    rows = [
        [_name(method), *(cell(records.of(at[problem, method]), VOLUME) for problem in problems)]
        for method in dict.fromkeys(run.method for run in runs)
    ]
    titles = [_words(problem) for problem in problems]  # pyright: ignore[reportArgumentType]
    text = "**Other problems**: relative L2 error, our recipe, equal seconds"
    return [text, table(["method", *titles], rows), _below(records, "heat", runs, VOLUME)]


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
    parts = [
        "**Our recipe, equal seconds**",
        table(head, rows),
        _below(records, "wake", main, SNAPSHOT),
    ]
    parts += _ways(records, [run for run in seen if has_recipe(run.method)])
    return "\n\n".join([*parts, *_pressure(records, [run for run in runs if run not in seen])])


def _ways(records: Records, runs: Sequence[Run]) -> list[str]:
    at = {(run.method, run.recipe, run.budget): run for run in runs}
    ways = list(dict.fromkeys((run.recipe, run.budget) for run in runs))
    rows = [
        [_name(method)]
        + [
            cell(records.of(at[method, *way]), SNAPSHOT) if (method, *way) in at else ""
            for way in ways
        ]
        for method in dict.fromkeys(run.method for run in runs)
    ]
    titles = [f"{RECIPES[recipe]}, equal {budget}" for recipe, budget in ways]
    text = "**All recipes, both budgets**: error of all fields at the snapshot"
    return [text, table(["method", *titles], rows), _below(records, "wake", runs, SNAPSHOT)]


def _pressure(records: Records, runs: Sequence[Run]) -> list[str]:
    rows = [
        [_name(run.method), *(column.of(records.of(run)) for column in PRESSURE_COLUMNS)]
        for run in runs
    ]
    head = ["method", *(column.title for column in PRESSURE_COLUMNS)]
    text = "**Pressure never observed**: our recipe, equal seconds, errors at the snapshot"
    below = _below(records, "wake", runs, *(column.pick for column in PRESSURE_COLUMNS[:-1]))
    return [text, table(head, rows), below]


def ablation(records: Records) -> str:
    """Table 3."""
    runs = records.runs("ablation")
    ours = (Column("test error", SNAPSHOT), TRAIN_ERROR, RESIDUAL)
    rows = []
    for run in sorted(runs, key=lambda run: ABLATION.index(run.method)):
        test, train, residual = (column.of(records.of(run)) for column in ours)
        theirs, their_residual = (f"{number:.1e}" for number in paper.ABLATION[run.method].values())
        name = "PGT (full)" if run.method == ABLATION[0] else _name(run.method)
        rows.append([name, test, train, theirs, residual, their_residual])
    head = ["configuration", "test error", "train error", "paper", "residual", "paper"]
    return "\n\n".join([table(head, rows), _below(records, "ablation", runs, SNAPSHOT)])


def noise(records: Records) -> str:
    """Table 4, and whether PGT-UW knows how large the noise is."""
    runs = records.runs("noise")
    at = {(run.problem.noise, run.method): run for run in runs}
    rows = []
    for level in dict.fromkeys(run.problem.noise for run in runs):
        cells = [f"{level:g}"]
        for method in NOISE:
            cells.append(cell(records.of(at[level, method]), velocity_error))
            cells.append(f"{paper.NOISE[method, level]['error']:.1e}")
        uncertain = records.of(at[level, "pgt-uw"]) if level else []
        cells += [cell(uncertain, f"sigma_ratio.{f}", ".2f") if level else "" for f in ("u", "v")]
        rows.append(cells)
    head = ["η", "PGT", "paper", "PGT-UW", "paper"]
    head += [f"σ predicted / true: {name}" for name in ("u", "v")]
    return "\n\n".join([table(head, rows), _below(records, "noise", runs, velocity_error)])


def gamma(records: Records) -> str:
    """Ours: the kernel in the attention, by number of readings and noise."""
    parts = []
    for kind, name in (("wake", "Cylinder wake"), ("heat", "Heat, three modes, readings only")):
        runs = [run for run in records.runs("gamma") if run.problem.kind == kind]
        at = {(run.problem.noise, run.method, run.problem.readings): run for run in runs}
        counts = list(dict.fromkeys(run.problem.readings for run in runs))
        rows = [
            [f"{100 * level:g} %", _name(method)]
            + [cell(records.of(at[level, method, count]), VOLUME, ".2e") for count in counts]
            for level in sorted({run.problem.noise for run in runs})
            for method in GAMMA
            if (level, method, counts[0]) in at
        ]
        head = ["noise", "kernel", *(f"{count} readings" for count in counts)]
        text = f"**{name}**: relative L2 error over the whole volume (fields stacked)"
        parts += [text, table(head, rows), _below(records, "gamma", runs, VOLUME)]
    return "\n\n".join(parts)


# ------------------------------------------------------------------------------- words


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _below(records: Records, name: str, runs: Sequence[Run], *picks: Pick) -> str:
    """Where a table was measured, and how far the seeds of a cell are apart."""
    every = (_values(records.of(run), pick) for run in runs for pick in picks)
    ratios = [max(values) / min(values) for values in every if len(values) > 1 and min(values) > 0]
    measured = notes(records, name, runs)
    if not ratios:
        return measured
    return (
        f"{measured} Largest over smallest error of the seeds of a cell: {np.median(ratios):.1f} in the "
        f"median, {max(ratios):.2g} at most."
    )


def _values(found: Iterable[dict], pick: Pick) -> list[float]:
    return [number for record in found if (number := value(record, pick)) is not None]


def _name(method: str) -> str:
    return REFERENCES[method] if method in REFERENCES else METHODS[method].label


def _words(problem: HeatProblem) -> str:
    words = ["three modes" if problem.modes == THREE_MODES else "one mode"]
    words += ["boundary and initial values known" if problem.known else "readings only"]
    words += [f"{100 * problem.noise:g} % noise"] if problem.noise else []
    return ", ".join(words)
