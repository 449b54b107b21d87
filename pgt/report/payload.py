"""The data of the maps of a report: thinned grids with 16 bits per value, in base64 inside JSON."""

import base64
import math
import zlib

import matplotlib
import numpy as np
import xarray as xr

from pgt.core.numbers import digits_between, number
from pgt.data.domain import AXES
from pgt.report.contents import ReportData, written

STEPS = 256


def colour_maps() -> dict[str, np.ndarray]:
    """Red, green and blue bytes (256, 3) by name: for values, values of both signs, and error bars."""
    named = {"sequential": "viridis", "spread": "magma", "diverging": "RdBu_r"}
    found = {key: matplotlib.colormaps[name](np.arange(STEPS)) for key, name in named.items()}
    return {key: np.rint(255 * rgba[:, :3]).astype(np.uint8) for key, rgba in found.items()}


# ------------------------------------------------------------------------------- payload

# The largest number of values in all maps of the field together, some 400 kB where it is smooth.
MAX_FIELD_VALUES = 500_000
# The residual is rough and compresses worse, so its maps have fewer values.
MAX_RESIDUAL_VALUES = 200_000
# The largest number of grid points along a drawn axis; a phone shows no more.
MAX_GRID_POINTS = 240
# The largest number of positions of a slider.
MAX_SLIDER_STOPS = 60
# Maps are thinned before a slider gets fewer positions than this.
MIN_SLIDER_STOPS = 30
# The largest number of readings of each field that are drawn.
MAX_READINGS = 2_000
# The number of levels of stored values, enough for a picture and three digits.
VALUE_LEVELS = 4095
# The code of NaN.
MISSING_CODE = 4096
# A field counts as signed where its smaller side is this share of the larger one.
MIN_SIGN_RATIO = 0.25


def payload(data: ReportData) -> dict:
    """All data that the script needs, as plain data for JSON."""
    viewers = {"field": viewer(data, data.field, data.error_bars)}
    if data.residual is not None:
        viewers["residual"] = viewer(data, data.residual, None)
    readings = {name: _readings(data, name) for name in data.fields if name not in data.hidden}
    maps = {name: _packed(colours) for name, colours in colour_maps().items()}
    return {"viewers": viewers, "readings": readings, "maps": maps, "walls": _walls(data)}


def viewer(data: ReportData, grid: xr.Dataset, error_bars: xr.Dataset | None) -> dict:
    """The axes and layers of one set of maps; all layers lie on one grid."""
    signed = grid is data.residual
    whole = {str(n): array.astype(np.float32) for n, array in _same_axes(grid).data_vars.items()}
    bars = {} if error_bars is None else dict(_same_axes(error_bars).data_vars)
    first = next(iter(whole.values()))
    budget = MAX_RESIDUAL_VALUES if signed else MAX_FIELD_VALUES
    places = _thinned(first, budget // (len(whole) + len(bars)))
    layers = []
    for name, array in whole.items():
        unit = written(array.attrs.get("units", "")) if signed else data.unit(name)
        layer = _layer(name, unit, _on(array, places), "residual" if signed else "value")
        layers.append(layer | {"readings": None if signed else name})
    for name, array in bars.items():
        unit = data.unit(str(name))
        layer = _layer(f"{name}: error bar (one σ)", unit, _on(array, places), "spread")
        layers.append(layer | {"readings": str(name), "barOf": str(name)})
    fixed = [a for a in first.dims if first.sizes[a] == 1]
    return {
        "axes": [_axis(data, str(a), places[str(a)]) for a in first.dims if a not in fixed],
        "fixed": [_axis(data, str(a), places[str(a)]) for a in fixed],
        "layers": layers,
        "note": _note(first, places),
    }


def script_json(text: str) -> str:
    """The JSON text, escaped such that it cannot end the script element around it."""
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _same_axes(grid: xr.Dataset) -> xr.Dataset:
    """Every variable over every axis: time first, then z, y, x."""
    (grid,) = xr.broadcast(grid)
    order = [axis for axis in reversed(AXES) if axis in grid.dims]
    return grid.transpose(*order).sortby(order) if order else grid


def _thinned(array: xr.DataArray, budget: int) -> dict[str, np.ndarray]:
    """The positions to keep on each axis: even ones on axes of maps, original ones on sliders."""
    long = [str(axis) for axis in array.dims if array.sizes[axis] > 1]
    sliders = ["t"] if len(long) > 2 and "t" in long else []
    sizes = {
        str(a): min(n, MAX_SLIDER_STOPS if a in sliders else MAX_GRID_POINTS)
        for a, n in array.sizes.items()
    }
    while math.prod(sizes.values()) > budget and max(sizes.values()) > 2:
        stops = [axis for axis in sliders if sizes[axis] > MIN_SLIDER_STOPS]
        longest = stops[0] if stops else max(sizes, key=lambda axis: sizes[axis])
        sizes[longest] = max(int(0.95 * sizes[longest]), 2)
    places = {}
    for axis, size in sizes.items():
        given = array[axis].to_numpy().astype(float)
        kept = np.unique(np.linspace(0, len(given) - 1, size).round().astype(int))
        even = np.linspace(given[0], given[-1], size)
        places[axis] = given[kept] if axis in sliders else even
    return places


def _on(array: xr.DataArray, places: dict[str, np.ndarray]) -> np.ndarray:
    """The values at these positions, by linear interpolation along each axis in turn."""
    values = array.to_numpy().astype(np.float32)
    for number_of_axis, axis in enumerate(array.dims):
        given, wanted = array[axis].to_numpy().astype(float), places[str(axis)]
        if len(given) == len(wanted) and np.allclose(given, wanted, rtol=1e-9, atol=0):
            continue
        below = np.clip(np.searchsorted(given, wanted, side="right") - 1, 0, len(given) - 2)
        share = (wanted - given[below]) / (given[below + 1] - given[below])
        share = share.reshape([-1 if i == number_of_axis else 1 for i in range(values.ndim)])
        low, high = (np.take(values, below + k, number_of_axis) for k in (0, 1))
        # A weight of 0 must not carry a hole along: 0 · NaN is NaN.
        values = np.where(share == 0, low, np.where(share == 1, high, low + share * (high - low)))
    return values.astype(np.float32)


def _layer(name: str, unit: str, values: np.ndarray, kind: str) -> dict:
    finite = values[np.isfinite(values)].astype(float)
    least, most = (finite.min(), finite.max()) if finite.size else (0.0, 0.0)
    step = (most - least) / VALUE_LEVELS or 1.0
    codes = np.full(values.shape, MISSING_CODE, "<u2")
    codes[np.isfinite(values)] = np.rint((finite - least) / step)
    low, high, colours = _colour_range(finite, kind)
    return {
        "name": name, "unit": unit, "low": low, "high": high, "colours": colours,
        "least": float(least), "step": float(step), "codes": _squeezed(codes),
        "clipped": bool(finite.size and (finite.min() < low or finite.max() > high)),
    }  # fmt: skip


def _colour_range(finite: np.ndarray, kind: str) -> tuple[float, float, str]:
    """The range and name of the color map; the range of residuals leaves out a few extreme values."""
    if not finite.size:
        return 0.0, 1.0, "sequential"
    low, high = float(finite.min()), float(finite.max())
    if kind == "residual":
        bound = float(np.quantile(np.abs(finite), 0.995)) or max(-low, high) or 1.0
        return -bound, bound, "diverging"
    if kind == "spread":
        return 0.0, high if high > 0 else 1.0, "spread"
    if low < 0 < high and min(-low, high) > MIN_SIGN_RATIO * max(-low, high):
        bound = max(-low, high)
        return -bound, bound, "diverging"
    return low, high if high > low else low + 1.0, "sequential"


def _axis(data: ReportData, axis: str, places: np.ndarray) -> dict:
    digits = digits_between(float(places[0]), float(places[-1]), 7)
    rounded = [float(f"{place:.{digits}g}") for place in places]
    return {"name": axis, "unit": data.unit(axis), "places": rounded}


def _note(array: xr.DataArray, places: dict[str, np.ndarray]) -> str:
    long = [str(axis) for axis in reversed(array.dims) if array.sizes[axis] > 1]
    if all(len(places[axis]) == array.sizes[axis] for axis in long):
        return ""
    shown = " × ".join(str(len(places[axis])) for axis in long)
    given = " × ".join(str(array.sizes[axis]) for axis in long)
    return f"Thinned for this page: {shown} of {given} positions ({', '.join(long)})."


def _readings(data: ReportData, name: str) -> dict:
    """The positions and values of the readings of one field, with held-out ones marked."""
    parts = [part.measured(name) for part in (data.fitted, data.held_out)]
    points, values = (np.concatenate([getattr(p, n) for p in parts]) for n in ("points", "values"))
    held = np.concatenate([np.full(len(p.rows), k, np.uint8) for k, p in enumerate(parts)])
    kept = np.arange(len(values))
    if len(kept) > MAX_READINGS:
        kept = np.sort(np.random.default_rng(0).permutation(kept)[:MAX_READINGS])
    # Positions far from zero need double precision.
    columns = {a: _packed(points[kept, i].astype("<f8")) for i, a in enumerate(data.fitted.coords)}
    note = f"{number(MAX_READINGS, 4)} of {len(values)} readings are drawn."
    return {
        "points": columns,
        "values": _packed(values[kept].astype("<f4")),
        "held": _packed(held[kept]),
        "note": note if len(kept) < len(values) else "",
    }


def _walls(data: ReportData) -> list[dict]:
    """Every line of a wall: the name, and its points by axis."""
    axes = [axis for axis in data.fitted.coords if axis != "t"]
    return [
        {
            "name": name,
            "points": {a: _packed(line[:, k].astype("<f8")) for k, a in enumerate(axes)},
        }
        for name, lines in (data.tables.walls or {}).items()
        for line in lines
    ]


def _squeezed(codes: np.ndarray) -> str:
    """The codes as deflated differences along the last two axes, a third of the size for smooth fields.

    Differences wrap around at 16 bits, and so do the sums that undo them.
    """
    for axis in range(max(codes.ndim - 2, 0), codes.ndim):
        codes = np.diff(codes, axis=axis, prepend=np.zeros_like(codes.take([0], axis)))
    return base64.b64encode(zlib.compress(codes.astype("<u2").tobytes(), 9)).decode("ascii")


def _packed(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode("ascii")
