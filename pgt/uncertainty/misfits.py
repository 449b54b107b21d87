"""Misfits of readings, and which readings and sensors the field contradicts.

A misfit is predicted minus measured, in units of σ: that given with the reading, else that of all
readings of its field, estimated by the median, which ignores outliers. A sensor is a place that was
measured at many times. Its misfits are split into an offset and a trend,

    m_i = a + b (t_i − t̄) + e_i,      t_a = a √n / s,      t_b = b √Σ(t_i − t̄)² / s

once with s = σ, and once with s the scatter of e. In the second case t has Student's distribution
with n − 2 degrees of freedom, and is converted to the normal number of equal probability. The
smaller t counts.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.special import ndtri, stdtr

from pgt.core.errors import InputError
from pgt.data.observations import Observations
from pgt.nn.scaling import is_same

# σ of a normal distribution over the median of the absolute values.
MEDIAN_TO_SIGMA = 1.4826
# With this many held-out readings, these alone estimate the noise, as they cannot be memorized.
MIN_HELD_OUT_FOR_NOISE = 10
# A sensor with fewer readings shows no drift.
MIN_TIMES_FOR_DRIFT = 6
# The smallest |t| of a drifting sensor: by chance once in 16 000 sensors.
MIN_DRIFT_T = 4.0
# The smallest offset or trend of a drifting sensor, relative to the spread: a fit of exact readings
# has smaller systematic misfits.
MIN_RELATIVE_DRIFT = 1e-3
# The smallest misfit of a far reading in σ: by chance once in two million readings.
MIN_FAR_SIGMAS = 5.0
# The smallest misfit of a far reading, relative to the spread of its field.
MIN_RELATIVE_MISFIT = 0.01
# The lower limit of the scatter in σ, for misfits that lie exactly on a line.
MIN_SCATTER = 1e-12
# The columns by which readings and sensors are identified.
READING_KEYS = (
    "x",
    "y",
    "z",
    "t",
    "field",
    "reading",
)

# Readings, and the prediction of each of them.
WithPredictions = tuple[Observations, Float[np.ndarray, "_ c"]]


def misfit_table(fitted: WithPredictions, held_out: WithPredictions) -> pd.DataFrame:
    """One row per measured value: place, field, reading, predicted, σ, misfit in σ, held_out."""
    parts = [
        _comparison_table(*fitted).assign(held_out=False),
        _comparison_table(*held_out).assign(held_out=True),
    ]
    table = pd.concat(parts, ignore_index=True)
    for name, sigma in noise_by_field(table).items():
        unknown = (table["field"] == name) & ~(table["sigma"] > 0)
        table.loc[unknown, "sigma"] = sigma
    table["misfit"] = (table["predicted"] - table["reading"]) / table["sigma"]
    columns = (*fitted[0].coords, "field", "reading", "predicted", "sigma", "misfit", "held_out")
    return table.reindex(columns=list(columns))


def noise_by_field(table: pd.DataFrame) -> dict[str, float]:
    """σ of the readings of each field: the root mean square of what was given, else estimated."""
    found = {}
    for name, rows in table.groupby("field", sort=False):
        given = rows["sigma"].to_numpy()
        gaps = (rows["predicted"] - rows["reading"]).to_numpy()
        held_out = gaps[rows["held_out"].to_numpy(bool)]
        gaps = held_out if len(held_out) >= MIN_HELD_OUT_FOR_NOISE else gaps
        gaps = gaps[np.isfinite(gaps)] if np.isfinite(gaps).any() else np.zeros(1)
        smallest = np.finfo(np.float32).eps * np.abs(rows["reading"]).max()
        estimated = max(float(MEDIAN_TO_SIGMA * np.median(np.abs(gaps))), float(smallest), 1e-300)
        is_given = given > 0
        found[str(name)] = (
            float(np.sqrt(np.mean(given[is_given] ** 2))) if is_given.any() else estimated
        )
    return found


def largest_misfits(table: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The n readings of a `misfit_table` with the largest misfits, the largest first."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"suspicious(n={n!r}): write how many readings to list, 1 or more.")
    order = np.argsort(-np.abs(table["misfit"].to_numpy()), kind="stable")
    return table.iloc[order[:n]].reset_index(drop=True)


def far_readings(table: pd.DataFrame) -> pd.DataFrame:
    """Readings of a `misfit_table` with misfits beyond noise that are also large enough to matter,
    the largest first.

    σ of exact readings is the misfit of the fit, perhaps a millionth: some readings are always many
    σ away.
    """
    spreads = _spreads(table)
    spread = np.array([spreads[name] for name in table["field"]], float)
    gap = (table["predicted"] - table["reading"]).abs()
    found = table.loc[
        (table["misfit"].abs() > MIN_FAR_SIGMAS) & (gap > MIN_RELATIVE_MISFIT * spread)
    ]
    return largest_misfits(found, max(len(found), 1))


def _spreads(table: pd.DataFrame) -> dict:
    """The spread of the readings of each field."""
    return {name: _spread(rows["reading"].to_numpy(float)) for name, rows in table.groupby("field")}


def _spread(readings: Float[np.ndarray, " n"]) -> float:
    """The spread of readings; where they are all equal their size, and infinite where they are all
    zero.
    """
    if not is_same(readings):
        return float(np.std(readings))
    return abs(float(np.mean(readings))) or np.inf


def drifting_sensors(table: pd.DataFrame, coords: tuple[str, ...]) -> pd.DataFrame:
    """Sensors whose misfits have a significant offset or trend in time, the most significant first.

    The offset or trend also has to be visible beside the spread of the field's readings. Columns:
    place, field, readings (how many), offset and trend (per unit of time) in the field's units, and
    their t.
    """
    space = [axis for axis in coords if axis != "t"]
    columns = [*space, "field", "readings", "offset", "offset_t", "trend", "trend_t"]
    rows, visible = [], {name: MIN_RELATIVE_DRIFT * size for name, size in _spreads(table).items()}
    if "t" in coords and space:
        for key, sensor in table.groupby([*space, "field"], sort=False):
            if len(sensor) >= MIN_TIMES_FOR_DRIFT and np.ptp(sensor["t"].to_numpy(float)) > 0:
                place = key if isinstance(key, tuple) else (key,)
                drift = _offset_and_trend(sensor, visible[place[-1]])
                rows.append([*place, len(sensor), *drift])
    found = pd.DataFrame(rows, columns=pd.Index(columns))
    certainty = found[["offset_t", "trend_t"]].astype(float).abs().max(axis=1)
    order = np.argsort(-certainty.to_numpy(), kind="stable")
    return found.iloc[order[: int((certainty > MIN_DRIFT_T).sum())]].reset_index(drop=True)


def with_sensor_names(table: pd.DataFrame, origins: Sequence[Mapping]) -> pd.DataFrame:
    """A table of readings or sensors with the columns `sensor` and `line`, where `origins` contain
    them.

    >>> origins = [{"x": 0.1, "field": "u", "reading": 2.0, "sensor": "TC4"}]
    >>> table = pd.DataFrame({"x": [0.1, 0.1], "field": "u", "reading": [2.0, 3.0]})
    >>> with_sensor_names(table, origins)["sensor"].tolist()
    ['TC4', '']
    """
    known = {_key(row): row for row in origins}
    found = [known.get(_key(row), {}) for row in table.to_dict("records")]
    for name in ("sensor", "line"):
        if any(row.get(name) for row in found):
            table = table.assign(**{name: [row.get(name, "") for row in found]})
    return table


def _key(row: Mapping) -> tuple:
    found = {name: row[name] for name in READING_KEYS if name in row}
    return tuple((k, v if isinstance(v, str) else f"{v:.12g}") for k, v in found.items())


def _offset_and_trend(sensor: pd.DataFrame, visible: float) -> tuple[float, float, float, float]:
    """Offset and trend, each with its t, which is 0 where the offset or trend is not visible."""
    # The excess of the sensor has the opposite sign of the misfit of the field.
    excess = (sensor["reading"] - sensor["predicted"]).to_numpy(float)
    time = sensor["t"].to_numpy(float) - sensor["t"].mean()
    offset, along = excess.mean(), float(time @ time)
    trend = float(time @ excess) / along
    left = excess - offset - trend * time
    free, sigma = len(left) - 2, float(np.median(sensor["sigma"]))
    scatter = float(np.sqrt(left @ left / free)) + MIN_SCATTER * sigma

    def certainty(found: float, weight: float) -> float:
        moved = float(found * np.sqrt(weight))
        return min(moved / sigma, equivalent_normal(moved / scatter, free), key=abs)

    offset_t = certainty(offset, len(left)) if abs(offset) > visible else 0.0
    trend_t = certainty(trend, along) if abs(trend) * np.ptp(time) > visible else 0.0
    return float(offset), offset_t, trend, trend_t


def equivalent_normal(t: float, free: int) -> float:
    """The normal number that is exceeded as rarely as a Student's t with so many degrees of
    freedom.

    >>> round(equivalent_normal(4.0, 4), 2), round(equivalent_normal(-4.0, 10000), 2)
    (2.41, -4.0)
    """
    # The normal distribution has the lightest tails: a probability that underflows is that of t itself.
    return float(np.sign(t) * min(-ndtri(stdtr(free, -abs(t))), abs(t)))


def _comparison_table(
    readings: Observations, predictions: Float[np.ndarray, "n c"]
) -> pd.DataFrame:
    """Every measured value beside its prediction."""
    parts = []
    for column, name in enumerate(readings.fields):
        rows, points, values, noise = readings.measured(name)
        table = {
            "field": np.full(len(rows), name, object),
            "reading": values,
            "predicted": np.asarray(predictions, float)[rows, column],
            "sigma": noise,
        }
        parts.append(pd.DataFrame(dict(zip(readings.coords, points.T, strict=True)) | table))
    return pd.concat(parts, ignore_index=True)
