"""Which readings, and which sensors, the field contradicts.

A misfit is predicted minus read, counted in σ: that given with the reading, else that of all readings
of its field, by the median, which outliers do not move. A sensor is what read one place at many times;
its misfits are split into an offset and a trend,

    m_i = a + b (t_i − t̄) + e_i,      t_a = a √n / s,      t_b = b √Σ(t_i − t̄)² / s

with s once σ, and once the scatter of e, of which t is Student's with n − 2 degrees of freedom and counts
as the normal number that is as rare. The smaller t tells.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.special import ndtri, stdtr

from pgt.data.observations import Observations
from pgt.ground.errors import InputError
from pgt.nn.scaling import is_same

NORMAL = 1.4826  # of the median of |misfit|: σ of a normal distribution
ENOUGH_HELD_OUT = 10  # readings that tell the noise by themselves, as they cannot be memorised
FEWEST_TIMES = 6  # of a sensor whose drift can be told
CERTAIN = 4.0  # of |t|: by chance once in 16 000 sensors
VISIBLE = 1e-3  # of the spread: a clean fit is off by less in the same way at one place
BEYOND_NOISE = 5.0  # σ from the field: by chance once in two million readings
NOTICEABLE = 0.01  # of the spread of a field's readings
SMALLEST = 1e-12  # scatter, in σ: of readings whose misfits lie on a line
WHERE = ("x", "y", "z", "t", "field", "reading")  # by which readings and sensors are known again

# Readings, and what the field says of each of them.
Compared = tuple[Observations, Float[np.ndarray, "_ c"]]


def misfit_table(fitted: Compared, held_out: Compared) -> pd.DataFrame:
    """One row per measured value: place, field, reading, predicted, σ, misfit in σ, held_out."""
    parts = [_beside(*fitted).assign(held_out=False), _beside(*held_out).assign(held_out=True)]
    table = pd.concat(parts, ignore_index=True)
    for name, sigma in noise_by_field(table).items():
        unknown = (table["field"] == name) & ~(table["sigma"] > 0)
        table.loc[unknown, "sigma"] = sigma
    table["misfit"] = (table["predicted"] - table["reading"]) / table["sigma"]
    columns = (*fitted[0].coords, "field", "reading", "predicted", "sigma", "misfit", "held_out")
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


def far(table: pd.DataFrame) -> pd.DataFrame:
    """Readings of a `misfit_table` too far from the field to be noise, and by enough to matter; the
    farthest first.

    Of clean readings σ is what the fit leaves, a millionth perhaps: some are always many σ away.
    """
    spreads = _sizes(table)
    spread = np.array([spreads[name] for name in table["field"]], float)
    gap = (table["predicted"] - table["reading"]).abs()
    found = table.loc[(table["misfit"].abs() > BEYOND_NOISE) & (gap > NOTICEABLE * spread)]
    return suspicious(found, max(len(found), 1))


def _sizes(table: pd.DataFrame) -> dict:
    """Of each field."""
    return {name: _size(rows["reading"].to_numpy(float)) for name, rows in table.groupby("field")}


def _size(readings: Float[np.ndarray, " n"]) -> float:
    """The spread of readings; where they are all the same their size, and of zeros nothing tells."""
    if not is_same(readings):
        return float(np.std(readings))
    return abs(float(np.mean(readings))) or np.inf


def drifting(table: pd.DataFrame, coords: tuple[str, ...]) -> pd.DataFrame:
    """Sensors whose misfits have an offset or a trend in time, |t| > 4, the most certain first; it has
    to be visible beside the spread of the field's readings, too.

    Columns: place, field, readings (how many), offset and trend (per unit of time) in the field's
    units, and their t.
    """
    space = [axis for axis in coords if axis != "t"]
    columns = [*space, "field", "readings", "offset", "offset_t", "trend", "trend_t"]
    rows, visible = [], {name: VISIBLE * size for name, size in _sizes(table).items()}
    if "t" in coords and space:
        for key, sensor in table.groupby([*space, "field"], sort=False):
            if len(sensor) >= FEWEST_TIMES and np.ptp(sensor["t"].to_numpy(float)) > 0:
                place = key if isinstance(key, tuple) else (key,)
                told = _offset_and_trend(sensor, visible[place[-1]])
                rows.append([*place, len(sensor), *told])
    found = pd.DataFrame(rows, columns=pd.Index(columns))
    certainty = found[["offset_t", "trend_t"]].astype(float).abs().max(axis=1)
    order = np.argsort(-certainty.to_numpy(), kind="stable")
    return found.iloc[order[: int((certainty > CERTAIN).sum())]].reset_index(drop=True)


def named(table: pd.DataFrame, origins: Sequence[Mapping]) -> pd.DataFrame:
    """A table of readings or sensors with the columns `sensor` and `line`, where `origins` say them.

    >>> origins = [{"x": 0.1, "field": "u", "reading": 2.0, "sensor": "TC4"}]
    >>> table = pd.DataFrame({"x": [0.1, 0.1], "field": "u", "reading": [2.0, 3.0]})
    >>> named(table, origins)["sensor"].tolist()
    ['TC4', '']
    """
    known = {_known_by(row): row for row in origins}
    found = [known.get(_known_by(row), {}) for row in table.to_dict("records")]
    for name in ("sensor", "line"):
        if any(row.get(name) for row in found):
            table = table.assign(**{name: [row.get(name, "") for row in found]})
    return table


def _known_by(row: Mapping) -> tuple:
    found = {name: row[name] for name in WHERE if name in row}
    return tuple((k, v if isinstance(v, str) else f"{v:.12g}") for k, v in found.items())


def _offset_and_trend(sensor: pd.DataFrame, visible: float) -> tuple[float, float, float, float]:
    """Each with its t, which is 0 where it changes what is read by less than is visible."""
    # What the sensor reads too much: the other way round than the misfit of the field.
    excess = (sensor["reading"] - sensor["predicted"]).to_numpy(float)
    time = sensor["t"].to_numpy(float) - sensor["t"].mean()
    offset, along = excess.mean(), float(time @ time)
    trend = float(time @ excess) / along
    left = excess - offset - trend * time
    free, sigma = len(left) - 2, float(np.median(sensor["sigma"]))
    scatter = float(np.sqrt(left @ left / free)) + SMALLEST * sigma

    def certainty(found: float, weight: float) -> float:
        moved = float(found * np.sqrt(weight))
        return min(moved / sigma, as_rare(moved / scatter, free), key=abs)

    offset_t = certainty(offset, len(left)) if abs(offset) > visible else 0.0
    trend_t = certainty(trend, along) if abs(trend) * np.ptp(time) > visible else 0.0
    return float(offset), offset_t, trend, trend_t


def as_rare(t: float, free: int) -> float:
    """The normal number that is exceeded as rarely as a Student's t with so many degrees of freedom.

    >>> round(as_rare(4.0, 4), 2), round(as_rare(-4.0, 10000), 2)
    (2.41, -4.0)
    """
    # Nothing is rarer than by a normal distribution: what is rounded to never is as rare as t.
    return float(np.sign(t) * min(-ndtri(stdtr(free, -abs(t))), abs(t)))


def _beside(readings: Observations, predictions: Float[np.ndarray, "n c"]) -> pd.DataFrame:
    """Every measured value beside what the field says of it."""
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
