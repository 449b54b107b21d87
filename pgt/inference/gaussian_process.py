"""Interpolation by a Gaussian process without an equation, quick enough for every report.

The covariance of standardized readings is c (exp(−Σ (x_k − y_k)² / 2ℓ_k²) + s δ). The most probable c
has a closed form; ℓ and s maximize the marginal likelihood (Rasmussen and Williams 2006, chapter 5).
With K the covariance and α = K⁻¹ y, the weights without the readings of a group G are α − K⁻¹_{·G}
(K⁻¹_{GG})⁻¹ α_G: leaving readings out needs no second fit.
"""

from functools import lru_cache

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.splits import Groups

# At most this many random readings of a field are interpolated, because the work grows as their number
# cubed.
MAX_READINGS = 1000
# At most this many readings are used in the search for ℓ and s.
MAX_READINGS_SEARCHED = 200
# Fields with fewer readings are not interpolated.
MIN_READINGS = 4
# The values of ℓ and s from which the search starts. If all lengths were far above that of an
# oscillation, the search would take it for noise.
SEARCH_STARTS = ((0.3, 1e-4), (0.1, 1e-2), (0.03, 1e-2))
# The ranges of ℓ and s, with ℓ in units of the domain and s of the variance.
LENGTH_RANGE = (0.005, 50.0)
NOISE_RANGE = (1e-9, 10.0)
# The largest number of steps of each search.
MAX_SEARCH_STEPS = 40


def unit_coordinates(points: Float[np.ndarray, "n d"], domain: Domain) -> Float[np.ndarray, "n e"]:
    """Coordinates from 0 to 1; a periodic axis becomes a circle of circumference 1."""
    columns = []
    for axis, along in zip(domain.axes, ((points - domain.lower) / domain.extent).T, strict=True):
        angle, radius = 2 * np.pi * along, 1 / (2 * np.pi)
        circle = [radius * np.cos(angle), radius * np.sin(angle)]
        columns += circle if axis in domain.periodic else [along]
    return np.stack(columns, axis=1)


def predict_by_process(
    readings: Observations,
    domain: Domain,
    points: Float[np.ndarray, "n d"] | None = None,
    groups: Groups | None = None,
) -> Float[np.ndarray, "n c"]:
    """The predictions of the process at points. Without points, every reading is predicted from all
    others, or, with `groups`, from the readings of other groups.

    Predictions are NaN for a field with fewer than four readings. If there are very many readings, a
    random part of them is used.

    >>> x = np.linspace(0, 1, 12)
    >>> given = Observations.from_arrays({"x": x}, {"u": np.sin(3 * x)})
    >>> round(float(predict_by_process(given, Domain(x=(0, 1)), np.array([[0.31]]))[0, 0]), 3)
    0.802
    """
    targets = None if points is None else unit_coordinates(np.asarray(points, float), domain)
    count = len(readings) if targets is None else len(targets)
    predictions = np.full((count, len(readings.fields)), np.nan)
    for column, process in processes(readings, domain).items():
        if targets is not None:
            predictions[:, column] = process(targets)
            continue
        rows = readings.measured(readings.fields[column])[0]
        predictions[rows, column] = process.left_out(
            np.arange(len(rows)) if groups is None else groups[rows]
        )
    return predictions


def processes(readings: Observations, domain: Domain) -> "dict[int, Process]":
    """The Gaussian process of every field with enough readings, by the number of the field."""
    by_field = {}
    for column, name in enumerate(readings.fields):
        rows, places, values, _ = readings.measured(name)
        if len(rows) >= MIN_READINGS and np.std(values) > 0:
            places = unit_coordinates(np.asarray(places, float), domain)
            by_field[column] = _cached_process(
                places.tobytes(), np.asarray(values, float).tobytes(), places.shape[1]
            )
    return by_field


@lru_cache(maxsize=8)
def _cached_process(places: bytes, values: bytes, axes: int) -> "Process":
    """The process of these readings, cached so that its lengths are searched only once."""
    return Process(np.frombuffer(places).reshape(-1, axes), np.frombuffer(values))


class Process:
    """The Gaussian process of one field, conditioned on at most `MAX_READINGS` of its readings."""

    def __init__(self, places: Float[np.ndarray, "n d"], values: Float[np.ndarray, " n"]):
        self.places, self.mean, self.spread = places, values.mean(), values.std()
        standard = (values - self.mean) / self.spread
        order = np.random.default_rng(0).permutation(len(values))
        self.kept = np.sort(order[:MAX_READINGS])
        part = order[:MAX_READINGS_SEARCHED]
        self.lengths, noise = _most_probable(places[part], standard[part])
        kept = places[self.kept]
        covariance = _covariance(kept, kept, self.lengths) + noise * np.eye(len(kept))
        self.factor = cho_factor(covariance)
        self.weights = cho_solve(self.factor, standard[self.kept])

    def __call__(self, places: Float[np.ndarray, "n d"]) -> Float[np.ndarray, " n"]:
        return self._predict(places, self.weights)

    def left_out(self, groups: Groups) -> Float[np.ndarray, " n"]:
        """The prediction of every reading from the readings of other groups."""
        inverse = cho_solve(self.factor, np.eye(len(self.kept)))
        predictions, kept_groups = np.zeros(len(groups)), groups[self.kept]
        for group in np.unique(groups):
            weights, inside = self.weights, np.flatnonzero(kept_groups == group)
            if len(inside):
                block = inverse[np.ix_(inside, inside)]
                weights = weights - inverse[:, inside] @ np.linalg.solve(block, weights[inside])
                weights[inside] = 0.0  # exactly, not up to rounding
            rows = np.flatnonzero(groups == group)
            predictions[rows] = self._predict(self.places[rows], weights)
        return predictions

    def _predict(self, places, weights) -> Float[np.ndarray, " n"]:
        seen = self.places[self.kept]
        return self.mean + self.spread * (_covariance(places, seen, self.lengths) @ weights)


def _covariance(some, others, lengths) -> Float[np.ndarray, "n m"]:
    return np.exp(-0.5 * cdist(some / lengths, others / lengths, "sqeuclidean"))


def _most_probable(places, values) -> tuple[Float[np.ndarray, " e"], float]:
    """ℓ and s with the largest marginal likelihood."""
    axes = places.shape[1]
    squares = (places[:, None, :] - places[None, :, :]) ** 2
    bounds = [np.log(LENGTH_RANGE)] * axes + [np.log(NOISE_RANGE)]
    searches = [
        minimize(
            _negative_log_likelihood, np.log([length] * axes + [noise]), (squares, values), jac=True,
            method="L-BFGS-B", bounds=bounds, options={"maxiter": MAX_SEARCH_STEPS},
        )
        for length, noise in SEARCH_STARTS
    ]  # fmt: skip
    best = np.exp(min(searches, key=lambda search: search.fun).x)
    return best[:-1], float(best[-1])


def _negative_log_likelihood(logarithms, squares, values) -> tuple[float, Float[np.ndarray, " p"]]:
    """−log of the marginal likelihood, up to a constant, and its gradient."""
    *lengths, noise = np.exp(logarithms)
    scaled = squares / np.square(lengths)
    correlation = np.exp(-0.5 * scaled.sum(axis=-1))
    try:
        factor = cho_factor(correlation + noise * np.eye(len(values)), lower=True)
    except np.linalg.LinAlgError:  # singular up to rounding: a wall for the search
        return 1e25, np.zeros(len(logarithms))
    inverse = cho_solve(factor, np.eye(len(values)))
    weights = inverse @ values
    variance = max(float(values @ weights) / len(values), 1e-300)
    fun = 0.5 * len(values) * np.log(variance) + np.log(np.diagonal(factor[0])).sum()
    slopes = 0.5 * (inverse - np.outer(weights, weights) / variance)
    length_slopes = np.einsum("ij,ij,ijk->k", slopes, correlation, scaled)
    return float(fun), np.append(length_slopes, noise * np.trace(slopes))
