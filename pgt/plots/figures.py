"""Paper figures from labelled data: xarray in, a matplotlib `Figure` out, no global state."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from pgt.core.arguments import Limits
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.files import in_one_piece, make_folder, naming_the_place
from pgt.core.stage import Stage
from pgt.data.dates import counted_from, start_of
from pgt.data.domain import Domain
from pgt.data.observations import Observations, readings_from
from pgt.plots import pieces
from pgt.plots.domains import draw_walls
from pgt.plots.pieces import INK, PALETTE, SIZE

# A loss with more steps than this is smoothed over 2 % of them.
MIN_STEPS_SMOOTHED = 50


def loss_terms(history: xr.Dataset, wanted: Sequence[str] | None) -> list[str]:
    if "loss" not in history or set(history["loss"].dims) != {"step", "term"}:
        raise InputError("the history has no `loss` over step and term; give result.history.")
    known = [str(name) for name in history["term"].to_numpy()]
    names = known if wanted is None else list(wanted)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise InputError(
            f"terms {unknown or names}: the history holds {known}; name some of those."
        )
    return names


def steps(history: xr.Dataset | xr.DataArray) -> np.ndarray:
    return history["step"].to_numpy()  # counts from 0 where there is no such coordinate


def recorded(term: xr.DataArray, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The steps and values at which a term was recorded and is positive."""
    values = term.to_numpy().astype(float)
    good = np.isfinite(values) & (values > 0)
    if not good.any():
        raise InputError(
            f"{name!r} has no positive value to draw on a logarithmic scale; "
            "leave it out with terms=[...]."
        )
    return steps(term)[good], values[good]


def running_mean(values: np.ndarray) -> np.ndarray:
    """The mean over 2 % of the steps around each, fewer at the ends; a short series is unchanged."""
    half = len(values) // 100 if len(values) > MIN_STEPS_SMOOTHED else 0
    total = np.concatenate([[0.0], np.cumsum(values)])
    centre = np.arange(len(values))
    low, high = np.maximum(centre - half, 0), np.minimum(centre + half + 1, len(values))
    return (total[high] - total[low]) / (high - low)


# ------------------------------------------------------------------------------- figures

# Paper figures from labelled data: xarray in, a matplotlib `Figure` out, no global state.


Resolution = Annotated[int, Limits(at_least=20, at_most=2400)]  # below it no letter can be drawn


@checked
def field(
    dataset: xr.Dataset,
    name: str | None = None,
    sensors: Observations | None = None,
    at: Mapping[str, Any] | None = None,
    domain: Domain | None = None,
    *,
    held_out: Observations | None = None,
    suspects: pd.DataFrame | None = None,
) -> Figure:
    """One row per field: a map over (t, x), snapshots over (x, y), or three planes through the middle of
    space, with the sensors on top.

    Parameters
    ----------
    dataset
        Fields on a grid, such as `Reconstruction.grid()` returns.
    name
        The field to draw; all of them by default.
    sensors
        Drawn where they measured the field; on a snapshot or plane, those close to it
        (within 2.5 % of what the readings span).
    at
        Coordinates to hold fixed: `{"t": 10.0}` for one snapshot, `{"t": [0, 5, 10]}` for three.
    domain
        Whose walls are drawn over a map of x and y.
    held_out
        Readings that were not fitted: diamonds, where sensors are dots; in the colour of what they read.
    suspects
        Readings that the field contradicts, as `Reconstruction.suspicious` gives them: ringed, with
        their number in that table; or with `sensor` and `line`, where it has these columns.

    >>> u = xr.Dataset({"u": (("x", "t"), np.eye(3))}, {"x": range(3), "t": range(3)})
    >>> field(u).axes[0].get_ylabel()
    '$x$'
    """
    start = start_of(dataset)  # dates become seconds, which all axes can be
    read, unread = (
        None if part is None else readings_from(part, start) for part in (sensors, held_out)
    )
    marks = pieces.Marks(read, unread, _labelled(_from_start(suspects, start)))
    dataset = counted_from(dataset, start)
    names = pieces.field_names(dataset, (name,) if name else None)
    rows = [pieces.panels(dataset[key], at) for key in names]
    figure, table = pieces.table(rows)
    for key, axes_row, panels in zip(names, table, rows, strict=True):
        limits = pieces.colour_range(*panels)
        alike = len({panel.dims for panel in panels}) == 1
        meshes = [
            pieces.draw(axes, panel, limits, marks, alike)
            for axes, panel in zip(axes_row, panels, strict=True)
        ]
        if meshes[-1] is not None:
            pieces.colour_bar(figure, meshes[-1], axes_row[-1], pieces.label(dataset[key]))
        for axes, panel in zip(axes_row, panels, strict=True):
            if domain is not None and set(panel.dims) == set(domain.spatial_axes):
                draw_walls(axes, domain)
    for axes, panel in zip(table[0], rows[0], strict=True):
        axes.set_title(pieces.pinned(panel), fontsize=SIZE, color=INK)
    return figure


def _labelled(suspects: pd.DataFrame | None) -> pd.DataFrame | None:
    """The labels of suspicious readings: sensor and line where known, else the number in the table."""
    if suspects is None:
        return None
    labels = []
    for rank, row in enumerate(suspects.to_dict("records"), 1):
        line = f"line {row['line']}" if row.get("line") else ""
        named = ", ".join(filter(None, (row.get("sensor"), line)))
        labels.append((named or str(rank)).replace("$", r"\$"))
    return suspects.assign(label=labels)


def _from_start(suspects: pd.DataFrame | None, start: float | None) -> pd.DataFrame | None:
    if suspects is None or start is None:
        return suspects
    return suspects.assign(t=suspects["t"] - start)


@checked
def compare(
    truth: xr.Dataset,
    estimate: xr.Dataset,
    fields: Sequence[str] | None = None,
    at: Mapping[str, Any] | None = None,
    sensors: Observations | None = None,
) -> Figure:
    """Truth, reconstruction and |error| side by side, one row per field.

    The first two share a colour scale; the error has its own, and its title gives
    ‖estimate − truth‖₂ / ‖truth‖₂ over the points shown. Without `at`, a field over (x, y, t) is
    shown at the middle of the estimate's times, one in space in the middle of z.

    >>> u = xr.Dataset({"u": (("x", "t"), np.eye(3))}, {"x": range(3), "t": range(3)})
    >>> [axes.get_title() for axes in compare(u, u).axes[:2]]
    ['truth', 'reconstruction']
    """
    start = start_of(truth)  # dates become seconds, as in `field`
    truth, estimate = counted_from(truth, start), counted_from(estimate, start)
    sensors = None if sensors is None else readings_from(sensors, start)
    shared = [str(key) for key in estimate.data_vars if key in truth.data_vars]
    names = pieces.field_names(estimate, fields or shared)
    pieces.field_names(truth, names)
    at = pieces.middle(estimate[names[0]]) if at is None else at
    rows = [pieces.triple(truth[key], estimate[key], at) for key in names]
    figure, table = pieces.table(rows)
    for key, axes_row, panels in zip(names, table, rows, strict=True):
        pieces.compare_row(
            figure, axes_row, panels, pieces.Marks(sensors), pieces.label(truth[key])
        )
    for axes, title in zip(table[0], ("truth", "reconstruction"), strict=False):
        axes.set_title(title, fontsize=SIZE, color=INK)
    if pinned := pieces.pinned(rows[0][0]):
        figure.suptitle(pinned, fontsize=SIZE, color=INK)
    return figure


@checked
def convergence(
    history: xr.Dataset,
    terms: Sequence[str] | None = None,
    stages: Sequence[Stage] = (),
) -> Figure:
    """Loss terms against the training step on a logarithmic scale, each named at its end.

    `history` is that of a `Reconstruction`, with `loss` over "step" and "term"; of the terms, `terms` are
    drawn, by default all. `held_out`, where it is recorded, is drawn dashed. What was not recorded at a
    step is NaN there. `stages` are those of a least-squares fit, as `Reconstruction.stages`: their costs
    have a panel of their own, with one line for each.

    >>> loss = (("step", "term"), [[1.0], [0.1]])
    >>> history = xr.Dataset({"loss": loss}, {"term": ["data"]})
    >>> stage = Stage("Gauss-Newton", (1.0, 0.1), 2.0, "patience")
    >>> len(convergence(history).axes), len(convergence(history, stages=[stage]).axes)
    (1, 2)
    """
    trained = history.sizes.get("step", 0) > 0 or not stages
    count = int(trained) + bool(stages)
    figure = Figure(figsize=(1.0 + 4.0 * count, 3.0), layout="constrained")
    row = list(figure.subplots(1, count, squeeze=False)[0])
    if trained:
        _of_training(pieces.styled(row[0]), history, terms)
    if stages:
        _of_stages(pieces.styled(row[-1]), stages)
    return figure


def _of_training(axes: Axes, history: xr.Dataset, terms: Sequence[str] | None) -> None:
    losses = {name: history["loss"].sel(term=name) for name in loss_terms(history, terms)}
    curves = {name: recorded(loss, name) for name, loss in losses.items()}
    if "held_out" in history and (history["held_out"] > 0).any():
        curves["held_out"] = recorded(history["held_out"], "held_out")
    ends = []
    for index, (name, (step, loss)) in enumerate(curves.items()):
        colour = INK if name == "held_out" else PALETTE[index % len(PALETTE)]
        dashes = "--" if name == "held_out" else "-"
        smooth = np.exp(running_mean(np.log(loss)))
        if len(loss) > MIN_STEPS_SMOOTHED:
            axes.semilogy(step, loss, color=colour, alpha=0.25, linewidth=0.6)
        axes.semilogy(step, smooth, dashes, color=colour, linewidth=1.4)
        ends.append((np.log10(smooth[-1]), name, colour))
    _finished(axes, ends, "step", "loss")


def _of_stages(axes: Axes, stages: Sequence[Stage]) -> None:
    """Draw the costs of every stage separately, since each has another objective."""
    start, ends = 0, []
    for index, stage in enumerate(stages):
        colour, costs = PALETTE[index % len(PALETTE)], np.array(stage.costs)
        above = np.flatnonzero(costs > 0)  # an exact fit has no place on a logarithmic axis
        if len(above):
            axes.semilogy(start + above, costs[above], color=colour, linewidth=1.4)
            ends.append((np.log10(costs[above[-1]]), stage.name, colour))
        start += stage.iterations
    _finished(axes, ends, "second-order iteration", "cost")


def _finished(axes: Axes, ends: list, across: str, up: str) -> None:
    """Labels, a grid, and names at the ends of the curves, given in powers of ten."""
    axes.set(xlabel=across, ylabel=up)
    axes.margins(x=0)
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.6)
    if not ends:
        return
    low, high = np.log10(axes.get_ylim())
    pieces.name_ends(axes, [((y - low) / (high - low), name, colour) for y, name, colour in ends])


@checked
def save(
    figure: Figure,
    path: str | os.PathLike,
    dpi: Resolution = 200,
) -> Path:
    """Write a PNG atomically: `path` is the old file or the complete new one.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(Figure(), Path(folder, "empty.png")).stat().st_size > 0
    True
    """
    path = Path(path)
    make_folder(path.parent)
    with naming_the_place(path), in_one_piece(path) as unfinished:
        figure.savefig(unfinished, format="png", dpi=dpi, bbox_inches="tight", facecolor="white")
    return path
