"""Markdown tables from stored records, the paper's numbers beside ours.

Every function takes `Records` and returns the text of one section. A mean over seeds has the smallest
and largest in brackets; `–`: not run yet; empty: the number has no meaning for that method.
"""

from collections.abc import Sequence

from pgt.bench import paper
from pgt.bench.columns import (
    HEAT_COLUMNS,
    PRESSURE_COLUMNS,
    RESIDUAL,
    SNAPSHOT,
    STEPS,
    TRAIN_ERROR,
    VOLUME,
    WAKE_COLUMNS,
    Column,
    velocity_error,
)
from pgt.bench.experiments import ABLATION, GAMMA, NOISE, Run, has_recipe
from pgt.bench.methods import METHODS, REFERENCES
from pgt.bench.problems import THREE_MODES, HeatProblem, WakeProblem
from pgt.bench.records import Records, cell, notes

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
