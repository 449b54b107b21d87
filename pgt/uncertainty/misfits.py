"""Misfits of readings, and the readings, sensors and noise levels that contradict the fitted field.

A misfit is the predicted minus the measured value, in units of σ. That is the σ given with the reading,
or else an estimate for all readings of the field by the median, which ignores outliers. A sensor is a
place that was measured at many times. Its misfits are split into an offset and a trend,

    m_i = a + b (t_i − t̄) + e_i,      t_a = a √n / s,      t_b = b √Σ(t_i − t̄)² / s

once with s = σ, and once with s equal to the scatter of e. In the second case t has Student's
distribution with n − 2 degrees of freedom, and is converted to the normal number of equal
probability. The smaller t counts.
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

# For normal numbers: the ratio of σ to the median of the absolute values, and √n times the standard
# deviation of the logarithm of that median, taken over n numbers.
MEDIAN_TO_SIGMA, LOG_MEDIAN_DEVIATION = 1.4826, 1.17
# Fewer readings do not show their scatter. If at least as many were held out, these alone estimate the
# noise, since a fit cannot memorize them. An estimate from n readings has a relative standard error of
# about 1/√(2n).
MIN_READINGS = 10
# The smallest significance, in standard deviations, at which a drift or a wrong noise level is reported,
# and that at which a single reading is. By chance they occur once in 16 000 and once in two million.
MIN_SIGMAS, MIN_FAR_SIGMAS = 4.0, 5.0
# The smallest drift of a sensor and the smallest misfit of a far reading that are reported, relative to
# the spread. A fit of exact readings has systematic misfits that are smaller.
MIN_RELATIVE_DRIFT, MIN_RELATIVE_MISFIT = 1e-3, 1e-2
# The scatter contradicts the given noise only beyond this ratio, since the noise of an instrument is
# rarely known better.
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
    """A table with one row per measured value: place, field, reading, prediction, σ, misfit in σ, and
    whether it was held out."""
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
    """σ of the readings of each field: the root mean square of the given σ, or else an estimate."""
    sigmas = {}
    for name, rows in table.groupby("field", sort=False):
        given_sigmas = rows["sigma"].to_numpy()
        gaps = (rows["predicted"] - rows["reading"]).to_numpy()
        held_out = gaps[rows["held_out"].to_numpy(bool)]
        gaps = held_out if len(held_out) >= MIN_READINGS else gaps
        gaps = gaps[np.isfinite(gaps)] if np.isfinite(gaps).any() else np.zeros(1)
        smallest = np.finfo(np.float32).eps * np.abs(rows["reading"]).max()
        estimated = max(float(MEDIAN_TO_SIGMA * np.median(np.abs(gaps))), float(smallest), 1e-300)
        is_given = given_sigmas > 0
        sigmas[str(name)] = (
            float(np.sqrt(np.mean(given_sigmas[is_given] ** 2))) if is_given.any() else estimated
        )
    return sigmas


def largest_misfits(table: pd.DataFrame, n: int = 10) -> pd.DataFrame:
    """The n readings of a `misfit_table` with the largest misfits, the largest first."""
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"suspicious(n={n!r}): write how many readings to list, 1 or more.")
    order = np.argsort(-np.abs(table["misfit"].to_numpy()), kind="stable")
    return table.iloc[order[:n]].reset_index(drop=True)


def far_readings(table: pd.DataFrame) -> pd.DataFrame:
    """The readings of a `misfit_table` that are significantly and visibly far from the field, the
    largest misfit first.

    The estimated σ of exact readings is tiny, so that some of them are always many σ away. So the misfit
    must also be visible beside the spread.
    """
    spreads = _spreads(table)
    spread = np.array([spreads[name] for name in table["field"]], float)
    gap = (table["predicted"] - table["reading"]).abs()
    far = table.loc[(table["misfit"].abs() > MIN_FAR_SIGMAS) & (gap > MIN_RELATIVE_MISFIT * spread)]
    return largest_misfits(far, max(len(far), 1))


def _spreads(table: pd.DataFrame) -> dict:
    """The spread of the readings of each field."""
    return {name: _spread(rows["reading"].to_numpy(float)) for name, rows in table.groupby("field")}


def _spread(readings: Float[np.ndarray, " n"]) -> float:
    """The standard deviation of readings; their size if they are all equal, and ∞ if all are zero."""
    if not is_same(readings):
        return float(np.std(readings))
    return abs(float(np.mean(readings))) or np.inf


def drifting_sensors(table: pd.DataFrame, coords: tuple[str, ...]) -> pd.DataFrame:
    """The sensors whose misfits have a significant offset or trend in time, the most significant first.

    The offset or trend also has to be visible beside the spread of the field's readings. The columns are
    the place, the field, the number of readings, the offset and the trend (per unit of time) in the
    field's units, and t of each.
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
    drifts = pd.DataFrame(rows, columns=pd.Index(columns))
    certainty = drifts[["offset_t", "trend_t"]].astype(float).abs().max(axis=1)
    order = np.argsort(-certainty.to_numpy(), kind="stable")
    return drifts.iloc[order[: int((certainty > MIN_SIGMAS).sum())]].reset_index(drop=True)


def with_sensor_names(table: pd.DataFrame, origins: Sequence[Mapping]) -> pd.DataFrame:
    """The table of readings or sensors with the columns `sensor` and `line`, if `origins` have them.

    >>> origins = [{"x": 0.1, "field": "u", "reading": 2.0, "sensor": "TC4"}]
    >>> table = pd.DataFrame({"x": [0.1, 0.1], "field": "u", "reading": [2.0, 3.0]})
    >>> with_sensor_names(table, origins)["sensor"].tolist()
    ['TC4', '']
    """
    origin_by_key = {_key(row): row for row in origins}
    matches = [origin_by_key.get(_key(row), {}) for row in table.to_dict("records")]
    for name in ("sensor", "line"):
        if any(row.get(name) for row in matches):
            table = table.assign(**{name: [row.get(name, "") for row in matches]})
    return table


def _key(row: Mapping) -> tuple:
    identity = {name: row[name] for name in READING_KEYS if name in row}
    return tuple((k, v if isinstance(v, str) else f"{v:.12g}") for k, v in identity.items())


def _offset_and_trend(sensor: pd.DataFrame, visible: float) -> tuple[float, float, float, float]:
    """(offset, its t, trend, its t); t is 0 if the offset or trend is smaller than `visible`."""
    # A sensor that reads too high has negative misfits.
    excess = (sensor["reading"] - sensor["predicted"]).to_numpy(float)
    time = sensor["t"].to_numpy(float) - sensor["t"].mean()
    offset, time_norm = excess.mean(), float(time @ time)
    trend = float(time @ excess) / time_norm
    scatter_residuals = excess - offset - trend * time
    free, sigma = len(scatter_residuals) - 2, float(np.median(sensor["sigma"]))
    scatter = float(np.sqrt(scatter_residuals @ scatter_residuals / free)) + TINY * sigma

    def certainty(estimate: float, weight: float) -> float:
        scaled = float(estimate * np.sqrt(weight))
        return min(scaled / sigma, equivalent_normal(scaled / scatter, free), key=abs)

    offset_t = certainty(offset, len(scatter_residuals)) if abs(offset) > visible else 0.0
    trend_t = certainty(trend, time_norm) if abs(trend) * np.ptp(time) > visible else 0.0
    return float(offset), offset_t, trend, trend_t


def equivalent_normal(t: float, free: int) -> float:
    """The normal number that is exceeded as rarely as a Student's t with `free` degrees of freedom.

    >>> round(equivalent_normal(4.0, 4), 2), round(equivalent_normal(-4.0, 10000), 2)
    (2.41, -4.0)
    """
    # The normal number never exceeds t, whose distribution has heavier tails. If the probability
    # underflows, it is t.
    return float(np.sign(t) * min(-ndtri(stdtr(free, -abs(t))), abs(t)))


def _comparison_table(
    readings: Observations, predictions: Float[np.ndarray, "n c"]
) -> pd.DataFrame:
    """A table of every measured value with its prediction."""
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

# This part tests whether readings scatter as much as their given noise says.
#
# A fit takes the given noise as true, unless the readings clearly exceed it. If the given noise is too
# large, the field is smoother than the readings demand, and its error and bands are too large in
# proportion. The observed scatter m is the median of the absolute misfits, which ignores outliers,
# divided by that of a normal distribution. Fitted readings show at most their noise, apart from the
# share ρ of the variance that neighbors have in common, which is an error of the field. Held-out
# readings show at least their noise, since no field predicts a reading better than that.
#
#     larger noise:  σ² = (1 - ρ) m²  of all readings      smaller noise:  σ² = m²  of held-out ones


class NoiseContradiction(NamedTuple):
    """The given noise and the observed scatter, in the field's units, and the number of readings."""

    given: float
    observed: float
    readings: int

    @property
    def ratio(self) -> float:
        """The ratio of the scatter to the given noise."""
        return self.observed / self.given


def find_noise_contradiction(
    more: Float[np.ndarray, " n"], less: Float[np.ndarray, " m"], given: float
) -> NoiseContradiction | None:
    """The contradiction between given noise and scatter; None where they agree.

    `more` are the misfits that can show a larger noise and `less` those that can show a smaller one, both
    in units of their σ. `given` is the typical σ.

    >>> noise = np.random.default_rng(0).normal(size=60)
    >>> [find_noise_contradiction(scale * noise, scale * noise, 1.0) is None for scale in (0.1, 1, 3)]
    [False, True, False]
    """
    for misfits, is_larger in ((more, True), (less, False)):
        if len(misfits) < MIN_READINGS:
            continue
        size = max(MEDIAN_TO_SIGMA * float(np.median(np.abs(misfits))), TINY)
        min_ratio = max(
            MIN_NOISE_RATIO,
            float(np.exp(MIN_SIGMAS * LOG_MEDIAN_DEVIATION / np.sqrt(len(misfits)))),
        )
        if (size if is_larger else 1 / size) > min_ratio:
            return NoiseContradiction(given, size * given, len(misfits))
    return None


def noise_contradictions(
    table: pd.DataFrame, held_out: HeldOutPredictions, extent: Float[np.ndarray, " d"] | float = 1.0
) -> dict[str, NoiseContradiction]:
    """The contradictions between given noise and scatter, by field.

    Distances between readings are in units of the `extent` of the domain.
    """
    contradictions, coords = {}, list(held_out.readings.coords)
    for column, name in enumerate(held_out.readings.fields):
        measured = held_out.readings.measured(name)
        if not (measured.noise > 0).any():
            continue
        rows = table.loc[table["field"] == name]
        rows = rows.loc[np.isfinite(rows["misfit"].to_numpy(float))]
        misfits = rows["misfit"].to_numpy(float)[:, None]
        places = rows[coords].to_numpy() / extent
        share = neighbor_correlation(misfits, np.ones(misfits.shape, bool), places)
        gaps = np.asarray(held_out.predictions, float)[measured.rows, column] - measured.values
        is_known = (measured.noise > 0) & np.isfinite(gaps)
        scaled_misfits = np.sqrt(1 - np.clip(share, 0, 1)) * misfits[:, 0]
        contradiction = find_noise_contradiction(
            scaled_misfits, gaps[is_known] / measured.noise[is_known], measured.typical_noise
        )
        if contradiction is not None:
            contradictions[name] = contradiction
    return contradictions


def with_observed_noise(
    misfits: pd.DataFrame, contradictions: Mapping[str, NoiseContradiction]
) -> pd.DataFrame:
    """The table of misfits with the observed σ in place of a given σ that is too small.

    In units of the given σ every reading would be far from the field.
    """
    ratios = {name: max(contradiction.ratio, 1.0) for name, contradiction in contradictions.items()}
    factor = misfits["field"].map(lambda name: ratios.get(name, 1.0)).to_numpy(float)
    sigma, misfit = misfits["sigma"] * factor, misfits["misfit"] / factor
    return misfits.assign(sigma=sigma, misfit=misfit)


def noise_doubts(
    contradictions: Mapping[str, NoiseContradiction], units: Mapping[str, str]
) -> Iterator[Doubt]:
    """A doubt for every field whose readings contradict their given noise."""
    for name, contradiction in contradictions.items():
        unit = "" if units.get(name, "1") == "1" else units[name]
        observed, given = (
            number(size, 2, unit=unit) for size in (contradiction.observed, contradiction.given)
        )
        comparison = (
            f"{number(contradiction.ratio, 2)} times the noise that was given for them, {given}"
        )
        consequence = "either they are noisier than that, or the equation does not describe them"
        if contradiction.ratio < 1:
            comparison = f"and the noise that was given for them is {given}"
            consequence = "the field is smoother than they ask for, and its error stated too large"
        numbers = {
            "field": name,
            "observed": contradiction.observed,
            "given": contradiction.given,
            "readings": contradiction.readings,
        }
        yield Doubt(
            "contradicted_noise",
            f"Readings of {name} scatter by about {observed} around the field, {comparison}: "
            f"{consequence}. Where no noise is given, it is estimated.",
            numbers,
        )
