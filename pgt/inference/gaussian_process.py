"""Interpolation by a Gaussian process without physics, quick enough for every report.

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

# Of more readings of a field a random part is interpolated: the work grows as their number cubed.
MAX_READINGS = 1000
# ℓ and s are searched with at most this many readings.
MAX_READINGS_SEARCHED = 200
# Fields with fewer readings are not interpolated.
MIN_READINGS = 4
# The values of ℓ and s from which the search starts. If all lengths are far above that of an oscillation,
# the search takes it for noise.
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
    """Predictions of the process at points. Without points: of every reading from all others; with
    `groups`, from the readings of other groups.

    They are NaN for a field with fewer than four readings. Of very many readings a random part is
    used.

    >>> x = np.linspace(0, 1, 12)
    >>> given = Observations.from_arrays({"x": x}, {"u": np.sin(3 * x)})
    >>> round(float(predict_by_process(given, Domain(x=(0, 1)), np.array([[0.31]]))[0, 0]), 3)
    0.802
    """
    wanted = None if points is None else unit_coordinates(np.asarray(points, float), domain)
    count = len(readings) if wanted is None else len(wanted)
    found = np.full((count, len(readings.fields)), np.nan)
    for column, process in processes(readings, domain).items():
        if wanted is not None:
            found[:, column] = process(wanted)
            continue
        rows = readings.measured(readings.fields[column])[0]
        found[rows, column] = process.left_out(
            np.arange(len(rows)) if groups is None else groups[rows]
        )
    return found


def processes(readings: Observations, domain: Domain) -> "dict[int, Process]":
    """The process of every field with enough readings, by the number of the field."""
    found = {}
    for column, name in enumerate(readings.fields):
        rows, places, values, _ = readings.measured(name)
        if len(rows) >= MIN_READINGS and np.std(values) > 0:
            places = unit_coordinates(np.asarray(places, float), domain)
            found[column] = _fitted(
                places.tobytes(), np.asarray(values, float).tobytes(), places.shape[1]
            )
    return found


@lru_cache(maxsize=8)
def _fitted(places: bytes, values: bytes, axes: int) -> "Process":
    """The process of these readings; the search for its lengths is not repeated for every verdict."""
    return Process(np.frombuffer(places).reshape(-1, axes), np.frombuffer(values))


class Process:
    """The process of one field, conditioned on at most `MAX_READINGS` of its readings."""

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
        found, own = np.zeros(len(groups)), groups[self.kept]
        for group in np.unique(groups):
            weights, inside = self.weights, np.flatnonzero(own == group)
            if len(inside):
                block = inverse[np.ix_(inside, inside)]
                weights = weights - inverse[:, inside] @ np.linalg.solve(block, weights[inside])
                weights[inside] = 0.0  # exactly, not up to rounding
            rows = np.flatnonzero(groups == group)
            found[rows] = self._predict(self.places[rows], weights)
        return found

    def _predict(self, places, weights) -> Float[np.ndarray, " n"]:
        seen = self.places[self.kept]
        return self.mean + self.spread * (_covariance(places, seen, self.lengths) @ weights)


def _covariance(some, others, lengths) -> Float[np.ndarray, "n m"]:
    return np.exp(-0.5 * cdist(some / lengths, others / lengths, "sqeuclidean"))


def _most_probable(places, read) -> tuple[Float[np.ndarray, " e"], float]:
    """ℓ and s with the largest marginal likelihood."""
    axes = places.shape[1]
    squares = (places[:, None, :] - places[None, :, :]) ** 2
    bounds = [np.log(LENGTH_RANGE)] * axes + [np.log(NOISE_RANGE)]
    searches = [
        minimize(
            _negative_log_likelihood, np.log([length] * axes + [noise]), (squares, read), jac=True,
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
    alike = np.exp(-0.5 * scaled.sum(axis=-1))
    try:
        factor = cho_factor(alike + noise * np.eye(len(values)), lower=True)
    except np.linalg.LinAlgError:  # singular up to rounding: a wall for the search
        return 1e25, np.zeros(len(logarithms))
    inverse = cho_solve(factor, np.eye(len(values)))
    weights = inverse @ values
    size = max(float(values @ weights) / len(values), 1e-300)
    fun = 0.5 * len(values) * np.log(size) + np.log(np.diagonal(factor[0])).sum()
    slopes = 0.5 * (inverse - np.outer(weights, weights) / size)
    of_lengths = np.einsum("ij,ij,ijk->k", slopes, alike, scaled)
    return float(fun), np.append(of_lengths, noise * np.trace(slopes))
