"""Figures from stored records. Every function returns None where the records it draws are missing."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator, StrMethodFormatter

from pgt import datasets, plots
from pgt.plots import pieces
from pgt.plots.pieces import INK, PALETTE, SIZE
from pgt_bench import paper
from pgt_bench.experiments import GAMMA, NOISE, Run
from pgt_bench.methods import METHODS
from pgt_bench.problems import HeatProblem, WakeProblem, middle_of
from pgt_bench.records import Pick, Records, history_of, value
from pgt_bench.tables import VOLUME, velocity_error

BLUE, ORANGE, GREEN, PINK, AMBER, SKY, GREY, OLIVE = PALETTE
COLOURS = {
    "pgt": BLUE, "pgt-anchors": SKY, "pgt-uw": PINK, "pinn": ORANGE, "siren": GREEN,
    "siren-pde": GREEN, "wire": PINK, "wire-pde": PINK, "fno": AMBER, "deeponet": GREY,
    "pinnsformer": OLIVE, "gamma-none": INK, "gamma-heat": BLUE, "gamma-learnable": SKY,
    "gamma-drift": GREEN, "gamma-both-ways": ORANGE,
}  # fmt: skip
GRID = {"color": "#E6E6E6", "linewidth": 0.6}


def noise_curves(records: Records) -> Figure | None:
    """Error and residual against noise; the paper's curves dashed."""
    runs = records.runs("noise")
    figure = Figure(figsize=(7.0, 2.6), layout="constrained")
    drawn = 0
    for axes, (what, pick, name) in zip(
        figure.subplots(1, 2),
        (("mean rel. $L^2$ of u and v", velocity_error, "error"), ("residual", "residual", "residual")),
        strict=True,
    ):  # fmt: skip
        for method in NOISE:
            colour, label = COLOURS[method], METHODS[method].label.split(",")[0]
            drawn += _spread(
                axes, records, [r for r in runs if r.method == method], pick, colour, label
            )
            theirs = {level: row[name] for (m, level), row in paper.NOISE.items() if m == method}
            axes.plot([*theirs], [*theirs.values()], "--o", color=colour, lw=1.0, ms=2.5, alpha=0.6,
                      label=f"{label}, paper")  # fmt: skip
        pieces.styled(axes).set(yscale="log", xlabel="noise η", ylabel=what)
        axes.grid(axis="y", **GRID)
    figure.axes[1].legend(
        loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=SIZE, labelcolor=INK
    )
    return figure if drawn else None


def _spread(
    axes: Axes, records: Records, runs: Sequence[Run], pick, colour: str, label: str
) -> int:
    """Means over the seeds, with bars from the smallest to the largest; how many were drawn."""
    found = {run.problem.noise: _values(records.of(run), pick) for run in runs}
    found = {level: values for level, values in found.items() if len(values)}
    mean = np.array([values.mean() for values in found.values()])
    low = mean - np.array([values.min() for values in found.values()])
    high = np.array([values.max() for values in found.values()]) - mean
    if found:
        axes.errorbar([*found], mean, np.stack([low, high]), fmt="-o", color=colour, lw=1.4, ms=3.5,
                      elinewidth=0.8, label=label)  # fmt: skip
    return len(found)


def _values(found: Sequence[dict], pick: Pick) -> np.ndarray:
    values = (value(record, pick) for record in found)
    return np.array([v for v in values if v is not None], float)


def gamma_ratios(records: Records) -> Figure | None:
    """The error with each kernel over the error without, seed by seed: below 1 the kernel helps."""
    runs = records.runs("gamma")
    at = {(r.problem.kind, r.problem.noise, r.method, r.problem.readings): r for r in runs}
    counts = sorted({run.problem.readings for run in runs})
    levels = sorted({run.problem.noise for run in runs})
    figure = Figure(figsize=(7.4, 4.4), layout="constrained")
    table = figure.subplots(2, len(levels), squeeze=False, sharex=True, sharey=True)
    drawn = 0
    for axes_row, kind in zip(table, ("wake", "heat"), strict=True):
        for axes, level in zip(axes_row, levels, strict=True):
            pieces.styled(axes).axhline(1.0, color=INK, linewidth=0.8)
            for place, method in enumerate(GAMMA[1:]):
                pairs = [
                    (n, _ratios(records, at[kind, level, method, n], at[kind, level, GAMMA[0], n]))
                    for n in counts
                    if (kind, level, method, n) in at
                ]
                drawn += _dodged(axes, pairs, method, 1.06 ** (place - 1.5))
            noise = f"{100 * level:g} % noise" if level else "clean"
            axes.set_title(f"{kind}, {noise}", fontsize=SIZE, color=INK)
            axes.set(xscale="log", yscale="log", xticks=counts)
            axes.xaxis.set_major_formatter(StrMethodFormatter("{x:.0f}"))
            axes.xaxis.set_minor_locator(NullLocator())
            for formatted in (axes.yaxis.set_major_formatter, axes.yaxis.set_minor_formatter):
                formatted(StrMethodFormatter("{x:g}"))
            axes.tick_params(axis="y", which="minor", labelsize=SIZE - 1, labelcolor=INK)
            axes.grid(axis="y", **GRID)
    for axes in table[-1]:
        axes.set_xlabel("readings")
    figure.supylabel("error / error without Γ", fontsize=SIZE, color=INK)
    handles, labels = table[0, 0].get_legend_handles_labels()
    if not drawn:
        return None
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False,
                  fontsize=SIZE, labelcolor=INK)  # fmt: skip
    return figure


def _ratios(records: Records, run: Run, without: Run) -> np.ndarray:
    """Both runs of a seed see the same readings, so they are compared with each other."""
    plain = {r["run"]["seed"]: value(r, VOLUME) for r in records.of(without)}
    pairs = [(value(r, VOLUME), plain.get(r["run"]["seed"])) for r in records.of(run)]
    return np.array([ours / other for ours, other in pairs if ours and other], float)


def _dodged(axes: Axes, pairs: Sequence[tuple[int, np.ndarray]], method: str, shift: float) -> int:
    """Every seed as a dot, their geometric means joined; moved sideways so that none is hidden."""
    pairs = [(count, ratios) for count, ratios in pairs if len(ratios)]
    colour = COLOURS[method]
    for count, ratios in pairs:
        axes.plot(np.full(len(ratios), count * shift), ratios, "o", color=colour, ms=2.5, alpha=0.5)
    means = [np.exp(np.log(ratios).mean()) for _, ratios in pairs]
    axes.plot([count * shift for count, _ in pairs], means, color=colour, linewidth=1.2,
              label=METHODS[method].label)  # fmt: skip
    return len(pairs)


# ------------------------------------------------------------------------------- convergence


def heat_convergence(records: Records) -> Figure | None:
    """PGT, PINN and SIREN on the first problem of table 1, each recipe in a column."""
    runs = [run for run in _table_one(records) if run.method in ("pgt", "pinn", "siren")]
    titles = {"ours": "our recipe (SOAP), before the polish", "authors": "authors' recipe (Adam)"}
    columns = {
        title: [run for run in runs if run.recipe == recipe and records.of(run)]
        for recipe, title in titles.items()
    }
    columns = {title: found for title, found in columns.items() if found}
    if not columns:
        return None
    above = [(found, title, "step") for title, found in columns.items()]
    return _convergence(records, [above, [(found, "", "seconds") for found in columns.values()]])


def wake_convergence(records: Records) -> Figure | None:
    """All methods of table 2, our recipe, against the step and against seconds."""
    runs = [run for run in _table_two(records) if run.method in METHODS]
    return _convergence(records, [[(runs, "", "step"), (runs, "", "seconds")]])


def _table_one(records: Records) -> list[Run]:
    """The methods on the heat equation with fewest readings, equal seconds where there is a choice."""
    runs = [run for run in records.runs("heat") if run.method in METHODS]
    first = HeatProblem(min(run.problem.readings for run in runs))
    return [run for run in runs if run.problem == first and run.budget == "seconds"]


def _table_two(records: Records) -> list[Run]:
    """Our recipe in equal seconds, every field observed."""
    return [
        run
        for run in records.runs("wake")
        if run.problem == WakeProblem(run.problem.readings)
        and (run.recipe, run.budget) == ("ours", "seconds")
    ]


def _convergence(
    records: Records, rows: Sequence[Sequence[tuple[Sequence[Run], str, str]]]
) -> Figure | None:
    """A table of panels, each of some runs, with a title, against "step" or "seconds"."""
    size = (3.1 * len(rows[0]) + 1.0, 2.3 * len(rows) + 0.3)
    figure = Figure(figsize=size, layout="constrained")
    table = figure.subplots(len(rows), len(rows[0]), squeeze=False, sharey=True)
    drawn = 0
    for axes_row, row in zip(table, rows, strict=True):
        ends = []
        for axes, (runs, title, along) in zip(axes_row, row, strict=True):
            pieces.styled(axes).set_title(title, fontsize=SIZE, color=INK)
            ends = [end for run in runs for end in _curve(axes, records.of(run)[:1], along)]
            drawn += len(ends)
            axes.set(xlabel=along, xscale="log", yscale="log")
            axes.grid(axis="y", **GRID)
        axes_row[0].set_ylabel("misfit of the readings / their spread", fontsize=SIZE)
        low, high = np.log10(axes_row[-1].get_ylim())
        if ends:
            placed = [((np.log10(y) - low) / (high - low), name, c) for y, name, c in ends]
            pieces.name_ends(axes_row[-1], placed)
    return figure if drawn else None


def _curve(axes: Axes, found: Sequence[dict], along: str) -> list[tuple[float, str, str]]:
    """The root of the data loss; dashed where the method knows no physics. Gives its end and name."""
    ends = []
    for record in found:
        method = record["run"]["method"]
        # The step before the first check would take up half of a logarithmic axis, and says nothing.
        history = history_of(record).isel(step=slice(1, None))
        if method not in COLOURS or "data" not in history.term:
            continue
        step = history.step.to_numpy().astype(float)
        # Steps take the same time: the pace of the whole run dates each of them.
        across = step if along == "step" else step * record["seconds"]["train"] / record["steps"]
        misfit = np.sqrt(history.loss.sel(term="data").to_numpy())
        good = np.isfinite(misfit) & (misfit > 0)
        dashes = "-" if METHODS[method].physics else "--"
        axes.plot(across[good], misfit[good], dashes, color=COLOURS[method], linewidth=1.3)
        ends += [(misfit[good][-1], METHODS[method].label, COLOURS[method])] if good.any() else []
    return ends


# ------------------------------------------------------------------------------- one run


def wake_fields(records: Records) -> Figure | None:
    """Truth, reconstruction and |error| at the middle snapshot, by PGT through anchors."""
    (run,) = (run for run in _table_two(records) if run.method == "pgt-anchors")
    path = records.path(run).with_suffix(".npz")
    if not path.exists():
        return None
    truth = middle_of(datasets.cylinder_wake()).isel(t=0)
    with np.load(path) as stored:
        fields = {name: (("y", "x"), stored[name].astype(float)) for name in ("u", "v", "p")}
    return plots.compare(truth, xr.Dataset(fields, {"x": truth.x, "y": truth.y, "t": truth.t}))


FIGURES = {
    "heat-convergence": heat_convergence,
    "wake-convergence": wake_convergence,
    "wake-fields": wake_fields,
    "noise": noise_curves,
    "gamma": gamma_ratios,
}
