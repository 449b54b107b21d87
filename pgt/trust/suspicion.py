"""Which readings, and which sensors, the field contradicts.

A misfit is predicted minus read, counted in σ: that given with the reading, else that of all readings
of its field, by the median, which outliers do not move. A sensor is what read one place at many times;
its misfits are split into an offset and a trend,

    m_i = a + b (t_i − t̄) + e_i,      t_a = a √n / s,      t_b = b √Σ(t_i − t̄)² / s

with s the scatter of e or σ, whichever is larger.
"""

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from jaxtyping import Float

from pgt.data.observations import Observations, cell_quadrature
from pgt.ground.errors import InputError

NORMAL = 1.4826  # of the median of |misfit|: σ of a normal distribution
ENOUGH_HELD_OUT = 10  # readings that tell the noise by themselves, as they cannot be memorised
FEWEST_TIMES = 6  # of a sensor whose drift can be told
CERTAIN = 4.0  # of |t|: by chance once in 16 000 sensors

# Points to what the field says there, by name.
Evaluate = Callable[[Float[np.ndarray, "n d"]], Mapping[str, Float[np.ndarray, " n"]]]


def misfit_table(fitted: Observations, held_out: Observations, evaluate: Evaluate) -> pd.DataFrame:
    """One row per measured value: place, field, reading, predicted, σ, misfit in σ, held_out."""
    parts = [_compared(readings, evaluate) for readings in (fitted, held_out)]
    table = pd.concat(
        [part.assign(held_out=flag) for part, flag in zip(parts, (False, True), strict=True)]
    )
    table = table.reset_index(drop=True)
    for name, sigma in noise_by_field(table).items():
        unknown = (table["field"] == name) & ~(table["sigma"] > 0)
        table.loc[unknown, "sigma"] = sigma
    table["misfit"] = (table["predicted"] - table["reading"]) / table["sigma"]
    columns = (*fitted.coords, "field", "reading", "predicted", "sigma", "misfit", "held_out")
    return table.reindex(columns=list(columns))


def noise_by_field(table: pd.DataFrame) -> dict[str, float]:
    """σ of the readings of each field: root mean square of what was given, else estimated."""
    found = {}
    for name, rows in table.groupby("field", sort=False):
        given = rows["sigma"].to_numpy()
        gaps = (rows["predicted"] - rows["reading"]).to_numpy()
        unseen = gaps[rows["held_out"].to_numpy(bool)]
        gaps = unseen if len(unseen) >= ENOUGH_HELD_OUT else gaps
        gaps = gaps[np.isfinite(gaps)] if np.isfinite(gaps).any() else np.zeros(1)
        smallest = np.finfo(np.float32).eps * np.abs(rows["reading"]).max()
        estimated = max(float(NORMAL * np.median(np.abs(gaps))), float(smallest), 1e-300)
        is_given = given > 0
        found[str(name)] = (
            float(np.sqrt(np.mean(given[is_given] ** 2))) if is_given.any() else estimated
        )
    return found


def suspicious(table: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The n readings of a `misfit_table` that are farthest from the field, the farthest first."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"suspicious(n={n!r}): write how many readings to list, 1 or more.")
    order = np.argsort(-np.abs(table["misfit"].to_numpy()), kind="stable")
    return table.iloc[order[:n]].reset_index(drop=True)


def drifting(table: pd.DataFrame, coords: tuple[str, ...]) -> pd.DataFrame:
    """Sensors whose misfits have an offset or a trend in time, |t| > 4, the most certain first.

    Columns: place, field, readings (how many), offset and trend (per unit of time) in the field's
    units, and their t.
    """
    space = [axis for axis in coords if axis != "t"]
    columns = [*space, "field", "readings", "offset", "offset_t", "trend", "trend_t"]
    rows = []
    if "t" in coords and space:
        for key, sensor in table.groupby([*space, "field"], sort=False):
            if len(sensor) >= FEWEST_TIMES and np.ptp(sensor["t"].to_numpy(float)) > 0:
                place = key if isinstance(key, tuple) else (key,)
                rows.append([*place, len(sensor), *_offset_and_trend(sensor)])
    found = pd.DataFrame(rows, columns=pd.Index(columns))
    certainty = found[["offset_t", "trend_t"]].astype(float).abs().max(axis=1)
    order = np.argsort(-certainty.to_numpy(), kind="stable")
    return found.iloc[order[: int((certainty > CERTAIN).sum())]].reset_index(drop=True)


def _offset_and_trend(sensor: pd.DataFrame) -> tuple[float, float, float, float]:
    # What the sensor reads too much: the other way round than the misfit of the field.
    excess = (sensor["reading"] - sensor["predicted"]).to_numpy(float)
    time = sensor["t"].to_numpy(float) - sensor["t"].mean()
    offset, along = excess.mean(), float(time @ time)
    trend = float(time @ excess) / along
    left = excess - offset - trend * time
    scatter = np.sqrt(left @ left / (len(left) - 2))
    scatter = max(float(scatter), float(np.median(sensor["sigma"])))
    return (
        float(offset),
        float(offset * np.sqrt(len(left)) / scatter),
        trend,
        float(trend * np.sqrt(along) / scatter),
    )


def _compared(readings: Observations, evaluate: Evaluate) -> pd.DataFrame:
    """Every measured value beside what the field says of it, averages over boxes included."""
    nodes, weights = cell_quadrature(readings)
    nodes = np.asarray(nodes, float)
    said = evaluate(nodes.reshape(-1, nodes.shape[-1])) if len(readings) else {}
    parts = []
    for column, name in enumerate(readings.fields):
        rows = np.flatnonzero(np.asarray(readings.mask)[:, column])
        predicted = np.zeros(0)
        if len(readings):
            predicted = np.asarray(said[name], float).reshape(nodes.shape[:2]) @ weights
        places = dict(zip(readings.coords, np.asarray(readings.points, float)[rows].T, strict=True))
        values = {
            "field": np.full(len(rows), name, object),
            "reading": np.asarray(readings.values, float)[rows, column],
            "predicted": predicted[rows],
            "sigma": np.asarray(readings.noise, float)[rows, column],
        }
        parts.append(pd.DataFrame({**places, **values}))
    return pd.concat(parts, ignore_index=True)
