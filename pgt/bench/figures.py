"""Figures from stored records. Every function returns None where the records it draws are missing."""

from collections.abc import Sequence

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pgt import datasets, plots
from pgt.bench._comparisons import COLOURS, GRID, gamma_ratios, noise_curves
from pgt.bench.experiments import Run
from pgt.bench.methods import METHODS
from pgt.bench.problems import HeatProblem, WakeProblem, middle_of
from pgt.bench.records import Records, history_of
from pgt.plots import pieces
from pgt.plots.pieces import INK, SIZE

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


def heat_losses(records: Records) -> Figure | None:
    """The loss terms of PGT on heat."""
    history = _pgt_on_heat(records)
    return None if history is None else plots.convergence(history.drop_vars("held_out"))


def heat_contributions(records: Records) -> Figure | None:
    """What each term adds to the number that is minimised: weight times loss, in shares."""
    history = _pgt_on_heat(records)
    if history is None:
        return None
    figure = plots.loss_contributions(history.assign(loss=history.loss * history.weight))
    figure.axes[0].set_ylabel("share of weight × loss")
    return figure


def _pgt_on_heat(records: Records) -> xr.Dataset | None:
    """Its history, with terms that say what they are."""
    runs = [run for run in _table_one(records) if (run.method, run.recipe) == ("pgt", "ours")]
    found = [record for run in runs for record in records.of(run) if "history" in record]
    history = history_of(found[0]) if found else None
    if history is None or history.sizes["step"] < 2:
        return None
    titles = {"data": "data", "heat": "equation", "bc": "boundary", "ic": "initial"}
    shown = history.sel(term=[name for name in titles if name in history.term])
    return shown.assign_coords(term=[titles[str(name)] for name in shown.term.to_numpy()])


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
    "heat-losses": heat_losses,
    "heat-contributions": heat_contributions,
    "wake-convergence": wake_convergence,
    "wake-fields": wake_fields,
    "noise": noise_curves,
    "gamma": gamma_ratios,
}
