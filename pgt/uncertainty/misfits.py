"""Misfits of readings, and which readings and sensors the field contradicts.

A misfit is predicted minus measured, in units of σ: that given with the reading, else that of all
readings of its field, estimated by the median, which ignores outliers. A sensor is a place that was
measured at many times. Its misfits are split into an offset and a trend,

    m_i = a + b (t_i − t̄) + e_i,      t_a = a √n / s,      t_b = b √Σ(t_i − t̄)² / s

once with s = σ, and once with s the scatter of e. In the second case t has Student's distribution
with n − 2 degrees of freedom, and is converted to the normal number of equal probability. The
smaller t counts.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy.special import ndtri, stdtr

from pgt.core.doubt import Doubt
from pgt.core.errors import InputError
from pgt.core.numbers import number
from pgt.data.observations import Observations
from pgt.methods.second_order.residual_noise import neighbor_correlation
from pgt.nn.scaling import is_same
from pgt.uncertainty.held_out import HeldOutPredictions

# σ of a normal distribution over the median of the absolute values, and the standard deviation of
# the logarithm of the median of n absolute normal numbers, times √n.
MEDIAN_TO_SIGMA, LOG_MEDIAN_DEVIATION = 1.4826, 1.17
# Fewer readings do not show their scatter; with as many held-out ones, these alone estimate the noise,
# as they cannot be memorized. The error of n readings has a relative standard error of about 1/√(2n).
MIN_READINGS = 10
# A drift, or noise other than given, is reported from so many standard deviations on, and a single
# reading far from the field from so many: by chance once in 16 000 and in two million.
MIN_SIGMAS, MIN_FAR_SIGMAS = 4.0, 5.0
# The smallest drift of a sensor and misfit of a far reading that are reported, relative to the spread:
# a fit of exact readings has smaller systematic misfits.
MIN_RELATIVE_DRIFT, MIN_RELATIVE_MISFIT = 1e-3, 1e-2
# Scatter and given noise contradict each other only beyond this ratio: instruments are not known
# better.
MIN_NOISE_RATIO = 2.0
TINY = np.finfo(float).eps
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
        gaps = held_out if len(held_out) >= MIN_READINGS else gaps
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
            if len(sensor) >= MIN_READINGS and np.ptp(sensor["t"].to_numpy(float)) > 0:
                place = key if isinstance(key, tuple) else (key,)
                drift = _offset_and_trend(sensor, visible[place[-1]])
                rows.append([*place, len(sensor), *drift])
    found = pd.DataFrame(rows, columns=pd.Index(columns))
    certainty = found[["offset_t", "trend_t"]].astype(float).abs().max(axis=1)
    order = np.argsort(-certainty.to_numpy(), kind="stable")
    return found.iloc[order[: int((certainty > MIN_SIGMAS).sum())]].reset_index(drop=True)


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
    scatter = float(np.sqrt(left @ left / free)) + TINY * sigma

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


# ------------------------------------------------------------------------------- given noise

# Whether readings scatter as much as their given noise says.
#
# A fit takes given noise as true, unless readings clearly exceed it. Where it is too large, the field
# is smoother than the readings demand, and its error and bands are too large in proportion. The
# observed scatter is the median of the absolute misfits, which ignores outliers, in units of that of
# a normal distribution. Fitted readings show at most their noise, apart from the share ρ of the
# variance that neighbors have in common, which is misfit of the field. Held-out readings show at
# least their noise: no field predicts a reading better than that.
#
#     larger noise:  σ² = (1 - ρ) m²  of all readings      smaller noise:  σ² = m²  of held-out ones


class NoiseContradiction(NamedTuple):
    """The noise that was given, the observed scatter, in the field's units, and the number of
    readings.
    """

    given: float
    observed: float
    readings: int

    @property
    def ratio(self) -> float:
        """The scatter over the given noise."""
        return self.observed / self.given


def find_noise_contradiction(
    more: Float[np.ndarray, " n"], less: Float[np.ndarray, " m"], given: float
) -> NoiseContradiction | None:
    """The contradiction between given noise and scatter; None where they agree.

    `more` and `less` are the misfits that can show a larger and a smaller noise, in units of their
    σ; `given` is the typical σ.

    >>> noise = np.random.default_rng(0).normal(size=60)
    >>> [find_noise_contradiction(scale * noise, scale * noise, 1.0) is None for scale in (0.1, 1, 3)]
    [False, True, False]
    """
    for misfits, is_more in ((more, True), (less, False)):
        if len(misfits) < MIN_READINGS:
            continue
        size = max(MEDIAN_TO_SIGMA * float(np.median(np.abs(misfits))), TINY)
        min_ratio = max(
            MIN_NOISE_RATIO,
            float(np.exp(MIN_SIGMAS * LOG_MEDIAN_DEVIATION / np.sqrt(len(misfits)))),
        )
        if (size if is_more else 1 / size) > min_ratio:
            return NoiseContradiction(given, size * given, len(misfits))
    return None


def noise_contradictions(
    table: pd.DataFrame, held_out: HeldOutPredictions, extent: Float[np.ndarray, " d"] | float = 1.0
) -> dict[str, NoiseContradiction]:
    """By field with given noise, the contradiction with its scatter, where there is one.

    Distances between readings are in units of the `extent` of the domain.
    """
    found, coords = {}, list(held_out.readings.coords)
    for column, name in enumerate(held_out.readings.fields):
        read = held_out.readings.measured(name)
        if not (read.noise > 0).any():
            continue
        own = table.loc[table["field"] == name]
        own = own.loc[np.isfinite(own["misfit"].to_numpy(float))]
        misfits = own["misfit"].to_numpy(float)[:, None]
        places = own[coords].to_numpy() / extent
        share = neighbor_correlation(misfits, np.ones(misfits.shape, bool), places)
        gap = np.asarray(held_out.predictions, float)[read.rows, column] - read.values
        known = (read.noise > 0) & np.isfinite(gap)
        more = np.sqrt(1 - np.clip(share, 0, 1)) * misfits[:, 0]
        one = find_noise_contradiction(more, gap[known] / read.noise[known], read.typical_noise)
        if one is not None:
            found[name] = one
    return found


def with_observed_noise(
    misfits: pd.DataFrame, found: Mapping[str, NoiseContradiction]
) -> pd.DataFrame:
    """The table of misfits with the observed σ, where it contradicts a smaller given one: in the
    given σ every reading would be far from the field.
    """
    ratios = {name: max(one.ratio, 1.0) for name, one in found.items()}
    factor = misfits["field"].map(lambda name: ratios.get(name, 1.0)).to_numpy(float)
    sigma, misfit = misfits["sigma"] * factor, misfits["misfit"] / factor
    return misfits.assign(sigma=sigma, misfit=misfit)


def noise_doubts(
    found: Mapping[str, NoiseContradiction], units: Mapping[str, str]
) -> Iterator[Doubt]:
    """A doubt for every field whose readings contradict their given noise."""
    for name, one in found.items():
        unit = "" if units.get(name, "1") == "1" else units[name]
        observed, given = (number(size, 2, unit=unit) for size in (one.observed, one.given))
        beside = f"{number(one.ratio, 2)} times the noise that was given for them, {given}"
        what = "either they are noisier than that, or the equation does not describe them"
        if one.ratio < 1:
            beside = f"and the noise that was given for them is {given}"
            what = "the field is smoother than they ask for, and its error stated too large"
        numbers = {
            "field": name,
            "observed": one.observed,
            "given": one.given,
            "readings": one.readings,
        }
        yield Doubt(
            "contradicted_noise",
            f"Readings of {name} scatter by about {observed} around the field, {beside}: {what}. "
            "Where no noise is given, it is estimated.",
            numbers,
        )
