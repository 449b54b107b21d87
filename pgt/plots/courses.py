"""What is drawn over the steps of a training: which losses, where they are recorded, smoothed."""

from collections.abc import Sequence

import numpy as np
import xarray as xr

from pgt.core.errors import InputError

MANY = 50  # steps, above which a loss is smoothed over 2 % of them


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
    """Steps and values where the term was recorded and has a logarithm."""
    values = term.to_numpy().astype(float)
    good = np.isfinite(values) & (values > 0)
    if not good.any():
        raise InputError(
            f"{name!r} has no positive value to draw on a logarithmic scale; "
            "leave it out with terms=[...]."
        )
    return steps(term)[good], values[good]


def running_mean(values: np.ndarray) -> np.ndarray:
    """Mean over 2 % of the steps around each, fewer at the ends; a short series is kept."""
    half = len(values) // 100 if len(values) > MANY else 0
    total = np.concatenate([[0.0], np.cumsum(values)])
    centre = np.arange(len(values))
    low, high = np.maximum(centre - half, 0), np.minimum(centre + half + 1, len(values))
    return (total[high] - total[low]) / (high - low)
