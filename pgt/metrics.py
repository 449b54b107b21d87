"""How far an estimate is from the truth: xarray in, numbers out."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.data.units import require_same

Labelled = xr.Dataset | xr.DataArray


@checked
def relative_l2(truth: Labelled, estimate: Labelled) -> dict[str, float]:
    """‖estimate − truth‖ / ‖truth‖ of every field of the truth.

    Both are aligned by their coordinates; points where the truth is NaN do not count.

    >>> truth = xr.Dataset({"u": ("x", [3.0, 4.0])}, {"x": [0.0, 1.0]})
    >>> relative_l2(truth, truth * 1.5)
    {'u': 0.5}
    """
    return {
        name: _ratio(np.sum((e - t) ** 2), np.sum(t**2), f"the truth of {name!r}")
        for name, (t, e) in _pairs(truth, estimate).items()
    }


@checked
def overall(truth: Labelled, estimate: Labelled) -> dict[str, float]:
    """The relative error over all fields, by both definitions in use.

    "stacked" is the relative error of all fields joined into one vector; "mean" the mean of the
    per-field relative errors, which gives a small field the same say as a large one.

    >>> truth = xr.Dataset({"u": ("x", [3.0, 4.0]), "v": ("x", [0.6, 0.8])})
    >>> found = overall(truth, truth.assign(v=2 * truth.v))
    >>> {name: round(value, 3) for name, value in found.items()}
    {'stacked': 0.196, 'mean': 0.5}
    """
    pairs = _pairs(truth, estimate).values()
    wrong = sum(np.sum((e - t) ** 2) for t, e in pairs)
    total = sum(np.sum(t**2) for t, _ in pairs)
    return {
        "stacked": _ratio(wrong, total, "the truth"),
        "mean": float(np.mean(list(relative_l2(truth, estimate).values()))),
    }


@checked
def compare(truth: Labelled, estimate: Labelled) -> dict:
    """All measures at once: relative L2, both overall figures, RMSE and largest error by field.

    >>> truth = xr.Dataset({"u": ("x", [3.0, 4.0])})
    >>> found = compare(truth, truth + 0.5)
    >>> found["rmse"], found["max_error"]
    ({'u': 0.5}, {'u': 0.5})
    """
    pairs = _pairs(truth, estimate)
    return {
        "relative_l2": relative_l2(truth, estimate),
        "overall": overall(truth, estimate),
        "rmse": {n: float(np.sqrt(np.mean((e - t) ** 2))) for n, (t, e) in pairs.items()},
        "max_error": {n: float(np.max(np.abs(e - t))) for n, (t, e) in pairs.items()},
    }


@checked
def remove_mean(data: Labelled, over: Sequence[str] = ("x", "y")) -> Labelled:
    """The data less its mean over some dimensions.

    Incompressible flow fixes the pressure only up to a function of time: remove the mean of both
    pressures over space before comparing them.

    >>> remove_mean(xr.DataArray([[1.0, 3.0], [5.0, 9.0]], dims=("t", "x")), over="x").values.tolist()
    [[-1.0, 1.0], [-2.0, 2.0]]
    """
    over = (over,) if isinstance(over, str) else tuple(over)
    for dimension in over:
        if dimension not in data.dims:
            raise InputError(
                f"remove_mean: there is no dimension {dimension!r}; choose `over` among "
                f"{tuple(data.dims)}."
            )
    with xr.set_options(keep_attrs=True):
        return data - data.mean(over)


def _ratio(wrong: float, total: float, what: str) -> float:
    if total == 0:
        raise InputError(f"{what} is zero everywhere, so a relative error has no meaning.")
    return float(np.sqrt(wrong / total))


def _pairs(truth: Labelled, estimate: Labelled) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Truth and estimate of each field as float64 vectors over the same points."""
    truth, estimate = _dataset(truth), _dataset(estimate)
    if not truth.data_vars:
        raise InputError("the truth has no fields to compare.")
    pairs = {}
    for name in truth.data_vars:
        if name not in estimate.data_vars:
            raise InputError(
                f"the estimate has no field {name!r}, only {tuple(estimate.data_vars)}; select the "
                "fields to compare: truth[['u', 'v']]."
            )
        for one in (name, *truth[name].dims):
            _check_unit(str(one), truth, estimate)
        known, guess = _aligned(str(name), truth[name], estimate[name])
        counts = ~np.isnan(known)
        if not counts.any():
            raise InputError(f"the truth of {name!r} holds no number.")
        pairs[str(name)] = (known[counts], guess[counts])
    return pairs


def _check_unit(name: str, truth: xr.Dataset, estimate: xr.Dataset) -> None:
    sides = {"the truth": truth, "the estimate": estimate}
    found = {k: data[name].attrs.get("units") for k, data in sides.items() if name in data}
    require_same(name, {k: None if unit is None else str(unit) for k, unit in found.items()})


def _dataset(data: Labelled) -> xr.Dataset:
    if isinstance(data, xr.DataArray):
        return data.to_dataset(name=data.name if data.name is not None else "value")
    return data


def _aligned(name: str, truth: xr.DataArray, estimate: xr.DataArray):
    if set(truth.dims) != set(estimate.dims):
        raise InputError(
            f"field {name!r}: the truth has dimensions {truth.dims}, the estimate {estimate.dims}."
        )
    for dim in truth.dims:
        if (dim in truth.coords) != (dim in estimate.coords):
            raise InputError(f"field {name!r}: only one side has coordinates along {dim!r}.")
        if dim in truth.coords:
            truth, estimate = truth.sortby(dim), estimate.sortby(dim)
        if not _same_axis(truth, estimate, dim):
            raise InputError(
                f"field {name!r}: truth and estimate lie on different positions along {dim!r} "
                f"({truth.sizes[dim]} and {estimate.sizes[dim]}); evaluate the estimate on the "
                "coordinates of the truth."
            )
    estimate = estimate.transpose(*truth.dims)
    return truth.to_numpy().astype(np.float64), estimate.to_numpy().astype(np.float64)


def _same_axis(truth: xr.DataArray, estimate: xr.DataArray, dim) -> bool:
    if truth.sizes[dim] != estimate.sizes[dim]:
        return False
    if dim not in truth.coords:
        return True
    a, b = truth[dim].to_numpy(), estimate[dim].to_numpy()
    if a.dtype.kind not in "iuf" or b.dtype.kind not in "iuf":
        return bool(np.array_equal(a, b))
    slack = 1e-6 * max(np.ptp(a), np.abs(a).max())  # coordinates may have passed through float32
    return bool(np.all(np.abs(a - b) <= slack))
