"""The pieces of figures: panels from labeled arrays, maps, lines, sensors, labels."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, ScalarFormatter

from pgt.core.errors import InputError
from pgt.data.domain import AXES
from pgt.data.observations import Observations

# Okabe & Ito (2008): eight colours that stay apart for every kind of colour vision.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B6B6B", "#B8A800")
INK = "#333333"
SIZE = 8  # points: the size of a caption in most journals
SPACE = ("x", "y", "z")
SUSPECT = "#D00000"


class Marks(NamedTuple):
    """The marks that are drawn on top of a field: fitted readings, held-out readings, and suspects."""

    fitted: Observations | None = None
    held_out: Observations | None = None
    suspects: pd.DataFrame | None = None


def field_names(dataset: xr.Dataset, wanted: Sequence[str] | None) -> list[str]:
    names = [str(key) for key in dataset.data_vars] if wanted is None else list(wanted)
    unknown = [key for key in names if key not in dataset.data_vars]
    if unknown or not names:
        raise InputError(
            f"fields {unknown or names}: the dataset holds {list(dataset.data_vars)}; "
            "name some of those."
        )
    for key in names:
        if dataset[key].dtype.kind not in "iufb":
            raise InputError(
                f"field {key!r} holds {dataset[key].dtype} values; give numbers to draw."
            )
    return names


def select(array: xr.DataArray, at: Mapping[str, Any] | None) -> xr.DataArray:
    """The grid points nearest to `at`; axes left with one point become part of the title."""
    for axis, wanted in (at or {}).items():
        if axis not in array.dims:
            raise InputError(f"at={{{axis!r}: ...}}: the axes of {array.name!r} are {array.dims}.")
        grid, wanted = array[axis].to_numpy(), np.asarray(wanted)
        margin = 0.5 * np.abs(np.diff(grid)).max() if grid.size > 1 else 1e-6 * abs(grid[0])
        if np.any(wanted < grid.min() - margin) or np.any(wanted > grid.max() + margin):
            raise InputError(
                f"at={{{axis!r}: {wanted}}}: the grid covers {grid.min():g} to {grid.max():g}; "
                "choose a value inside."
            )
        array = array.sel({axis: wanted}, method="nearest")
    return array.squeeze()


def panels(array: xr.DataArray, at: Mapping[str, Any] | None) -> list[xr.DataArray]:
    """The panels of a row: the requested snapshots, or the first, middle and last one.

    For a field in space they are the planes through its middle.
    """
    array = select(array, at)
    listed = [axis for axis in at or {} if axis in array.dims]
    if listed:
        shown = [array.isel({listed[0]: index}) for index in range(array.sizes[listed[0]])]
    elif set(SPACE) <= set(array.dims):
        shown = planes(array)
    elif array.ndim == 3 and "t" in array.dims:
        indices = np.unique(np.linspace(0, array.sizes["t"] - 1, 3).round().astype(int))
        shown = [array.isel(t=index) for index in indices]
    else:
        shown = [array]
    if shown[0].ndim not in (1, 2):
        raise InputError(
            f"{array.name!r} has the axes {array.dims}: a figure shows one or two of them; "
            f'hold the others fixed, e.g. at={{"{array.dims[-1] if array.dims else "t"}": 0.5}}.'
        )
    return shown


def planes(array: xr.DataArray) -> list[xr.DataArray]:
    """The three coordinate planes through the middle of space, at the middle of time."""
    half = {axis: size // 2 for axis, size in array.sizes.items()}
    moment = array.isel(t=half["t"]) if "t" in array.dims else array
    return [moment.isel({axis: half[axis]}) for axis in reversed(SPACE)]


def middle(array: xr.DataArray) -> dict[str, float]:
    """The positions at which a field over more than two axes is cut: the middle of time, then of z."""
    spare = [axis for axis in ("t", "z") if axis in array.dims][: max(array.ndim - 2, 0)]
    return {axis: float(array[axis][array.sizes[axis] // 2]) for axis in spare}


def triple(truth: xr.DataArray, estimate: xr.DataArray, at: Mapping[str, Any]):
    """Truth, estimate and |error| on one and the same grid."""
    for axis, wanted in at.items():
        if np.ndim(wanted):
            raise InputError(f"at={{{axis!r}: {wanted}}}: a comparison shows one value at a time.")
    estimate, truth = panels(estimate, at)[0], select(truth, at)
    truth = truth.transpose(*estimate.dims) if set(truth.dims) == set(estimate.dims) else truth
    same = truth.dims == estimate.dims and all(
        truth[axis].shape == estimate[axis].shape
        and np.allclose(truth[axis], estimate[axis], rtol=1e-5, atol=1e-6)
        for axis in truth.dims
    )
    if not same:
        raise InputError(
            f"{estimate.name!r}: truth on {dict(truth.sizes)} and estimate on "
            f"{dict(estimate.sizes)} lie on different grids; evaluate the estimate on the truth's "
            "coordinates (or `estimate.interp_like(truth)`)."
        )
    error = truth.copy(data=np.abs(estimate.to_numpy() - truth.to_numpy()))
    return [truth, estimate, error]


def table(rows: Sequence[Sequence[xr.DataArray]]) -> tuple[Figure, np.ndarray]:
    """The axes for a table of panels, with the proportions of the domain."""
    first, columns = rows[0][0], len(rows[0])
    width = 2.3 if columns > 1 else 3.6
    height = 0.62 * width
    if first.ndim == 2 and "t" not in first.dims:
        across, up = (np.ptp(first[axis].to_numpy()) for axis in drawing_axes(first))
        height = width * float(np.clip(up / across, 0.3, 1.5))
    size = (width * columns + 1.2, (height + 0.3) * len(rows) + 0.4)
    figure = Figure(figsize=size, layout="compressed")
    return figure, figure.subplots(len(rows), columns, squeeze=False)


def drawing_axes(panel: xr.DataArray) -> list[str]:
    """Horizontal axis first: time runs to the right, otherwise x does."""
    return sorted((str(axis) for axis in panel.dims), key="txyz".find)


def draw(
    axes: Axes, panel: xr.DataArray, limits, marks: Marks | None = None, alike: bool = True
) -> QuadMesh | None:
    """Draw one panel: a line over one axis, a map over two; panels that are `alike` share axis labels."""
    styled(axes)
    across, *up = drawing_axes(panel)
    mesh = draw_map(axes, panel, across, up[0], limits) if up else None
    if mesh is None:
        low, high, _ = limits
        axes.plot(panel[across], panel, color=PALETTE[0], linewidth=1.4)
        axes.set_ylim(low - 0.05 * (high - low), high + 0.05 * (high - low))
    axes.set(xlabel=label(panel[across]), ylabel=label(panel[up[0]] if up else panel))
    if mesh is not None and alike:
        axes.label_outer()
    if marks is not None:
        draw_marks(axes, panel, across, marks, limits)
    return mesh


def draw_map(axes: Axes, panel: xr.DataArray, across: str, up: str, limits) -> QuadMesh:
    panel = panel.transpose(up, across)
    low, high, colours = limits
    # Gouraud shading interpolates between grid points, but cannot leave a hole where one is NaN.
    shading = "gouraud" if np.isfinite(panel).all() and min(panel.shape) > 1 else "nearest"
    mesh = axes.pcolormesh(
        panel[across], panel[up], panel,
        vmin=low, vmax=high, cmap=colours, shading=shading, rasterized=True,
    )  # fmt: skip
    if across != "t":
        axes.set_aspect("equal")
    axes.spines[:].set_visible(False)
    axes.set_xlim(float(panel[across].min()), float(panel[across].max()))
    axes.set_ylim(float(panel[up].min()), float(panel[up].max()))
    return mesh


def draw_marks(axes: Axes, panel: xr.DataArray, across: str, marks: Marks, limits) -> None:
    """Draw readings in the color of their values, so that one that differs from the field is visible.

    Fitted readings are dots, held-out ones are diamonds, and suspects have a ring and their `label`.
    """
    for readings, shape, size in ((marks.fitted, "o", 12), (marks.held_out, "D", 14)):
        if readings is not None and len(readings):
            _draw_readings(axes, panel, across, readings, limits, shape, size)
    if marks.suspects is None:
        return
    own = marks.suspects.loc[marks.suspects["field"] == str(panel.name)]
    up = [str(axis) for axis in panel.dims if axis != across]
    for _, row in own.iterrows():
        if any(a not in panel.dims for a in AXES if a in own.columns):
            continue  # on a snapshot a suspect of another time would mislead
        place = float(row[across]), float(row[up[0]] if up else row["reading"])
        axes.scatter(*place, s=60, facecolor="none", edgecolor=SUSPECT, linewidth=1.2, zorder=4)
        axes.annotate(
            row["label"], place, (4, 4), textcoords="offset points", color=SUSPECT,
            fontsize=SIZE, zorder=5,
        )  # fmt: skip


def _draw_readings(
    axes: Axes, panel: xr.DataArray, across: str, readings: Observations, limits, shape, size
) -> None:
    missing = [axis for axis in panel.dims if axis not in readings.coords]
    if missing:
        raise InputError(f"sensors have the axes {readings.coords}, the figure also {missing}.")
    if panel.name not in readings.fields:
        return
    _, points, values, _ = readings.measured(str(panel.name))
    shown = np.ones(len(points), bool)
    for column, axis in enumerate(readings.coords):
        if axis not in panel.dims and axis in panel.coords:
            window = 0.025 * np.ptp(np.asarray(readings.points)[:, column])
            shown &= np.abs(points[:, column] - float(panel[axis])) <= window + 1e-9
    position = {axis: points[shown, column] for column, axis in enumerate(readings.coords)}
    up = [str(axis) for axis in panel.dims if axis != across]
    height = position[up[0]] if up else values[shown]
    low, high, colours = limits
    filled = {"c": values[shown], "cmap": colours, "vmin": low, "vmax": high} if up else {}
    axes.scatter(
        position[across], height, s=size, marker=shape, edgecolor="black", linewidth=0.6, zorder=3,
        clip_on=False, **(filled or {"facecolor": "white"}),
    )  # fmt: skip


def compare_row(figure: Figure, row, panels, marks: Marks, label: str) -> None:
    truth, estimate, error = panels
    limits = colour_range(truth, estimate)
    draw(row[0], truth, limits, marks)
    shared = draw(row[1], estimate, limits)
    own = draw(row[2], error, (0.0, float(np.nanmax(error)) or 1.0, "magma"))
    size = np.sqrt(np.nansum(truth.to_numpy() ** 2))
    relative = np.sqrt(np.nansum(error.to_numpy() ** 2)) / size if size > 0 else np.nan
    row[2].set_title(f"|error|,  rel. $L^2$ = {power(float(relative))}", fontsize=SIZE, color=INK)
    if shared is not None and own is not None:
        colour_bar(figure, shared, row[1], label)
        colour_bar(figure, own, row[2], "")


def colour_range(*panels: xr.DataArray) -> tuple[float, float, str]:
    """The color range and map; diverging about 0 where the field has large values of both signs."""
    low = min(float(np.nanmin(panel)) for panel in panels)
    high = max(float(np.nanmax(panel)) for panel in panels)
    if low < 0 < high and min(-low, high) > 0.25 * max(-low, high):
        bound = max(-low, high)
        return -bound, bound, "RdBu_r"
    return low, high if high > low else low + 1.0, "viridis"


def colour_bar(figure: Figure, mesh: QuadMesh, beside: Axes, label: str) -> None:
    """A bar exactly as tall as the panel it stands beside."""
    formatter = ScalarFormatter(useMathText=True)
    formatter.set_powerlimits((-2, 3))
    strip = beside.inset_axes((1.03, 0.0, 0.035, 1.0))
    bar = figure.colorbar(mesh, cax=strip, format=formatter, ticks=MaxNLocator(5))
    bar.outline.set_visible(False)
    strip.set_ylabel(label, fontsize=SIZE, color=INK)
    strip.tick_params(labelsize=SIZE - 1, length=2, width=0.6, color=INK, labelcolor=INK)
    strip.yaxis.get_offset_text().set(fontsize=SIZE - 1, color=INK, ha="left")


def styled(axes: Axes) -> Axes:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set(color=INK, linewidth=0.6)
    axes.tick_params(labelsize=SIZE - 1, length=2.5, width=0.6, color=INK, labelcolor=INK)
    for axis in (axes.xaxis, axes.yaxis):
        axis.label.set(fontsize=SIZE, color=INK)
    return axes


def name_ends(axes: Axes, ends: list[tuple[float, str, str]], gap: float = 0.065) -> None:
    """Write each name beside the end of its curve, pushed apart where curves end together."""
    heights: list[float] = []
    for height, _, _ in sorted(ends):
        heights.append(max(height, heights[-1] + gap) if heights else max(height, 0.0))
    overflow = max(heights[-1] - 1.0, 0.0)
    for height, (_, name, colour) in zip(heights, sorted(ends), strict=True):
        axes.annotate(
            name, (1.02, height - overflow), xycoords="axes fraction",
            color=colour, fontsize=SIZE, va="center", annotation_clip=False,
        )  # fmt: skip


def label(array: xr.DataArray) -> str:
    # In mathematical text the underscore starts a subscript, so such names are plain text.
    plain = str(array.name) if "_" in str(array.name) else f"${array.name}$"
    name = array.attrs.get("long_name", plain).replace("_", " ")
    units = _units(array)
    return f"{name} ({units})" if units else name


def _units(array: xr.DataArray) -> str:
    """The unit after a number; empty for dimensionless numbers."""
    units = array.attrs.get("units", "")
    # matplotlib reads mathematics between two dollar signs, so those of units such as "$/kg" are escaped.
    return "" if units in ("1", "-") else str(units).replace("$", r"\$")


def pinned(panel: xr.DataArray) -> str:
    """The coordinates held fixed, e.g. "t = 10 s"."""
    pairs = [(key, value) for key, value in panel.coords.items() if value.ndim == 0]
    return ", ".join(
        f"${key}$ = {float(value):.4g} {_units(value)}".strip()
        for key, value in pairs
        if np.issubdtype(value.dtype, np.number)
    )


def power(number: float) -> str:
    mantissa, exponent = f"{number:.1e}".split("e") if np.isfinite(number) else ("–", "0")
    return rf"${mantissa}\times10^{{{int(exponent)}}}$" if int(exponent) else mantissa
