"""A Gaussian process without physics, quick enough to stand in every report.

The covariance of standardised readings is c (exp(−Σ (x_k − y_k)² / 2ℓ_k²) + s δ); c has its most
probable value in closed form, ℓ and s maximise what is left of the marginal likelihood (Rasmussen and
Williams 2006, chapter 5). What the others say of some readings G, m_G = y_G − (K⁻¹)_GG⁻¹ (K⁻¹y)_G, needs
no second fit.
"""

import numpy as np
from jaxtyping import Float
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from pgt.data import Domain, Observations
from pgt.data.splits import Groups
from pgt.trust.references.coordinates import unit

MOST = 500  # readings of a field; the work grows as their number cubed
SEARCHED = 200  # of them, by which ℓ and s are found
FEWEST = 4
STARTS = ((0.3, 1e-4), (0.15, 1e-2))  # ℓ and s
LENGTHS, NOISES = (0.02, 50.0), (1e-9, 10.0)
STEPS = 40


def by_process(
    readings: Observations,
    domain: Domain,
    points: Float[np.ndarray, "n d"] | None = None,
    groups: Groups | None = None,
) -> Float[np.ndarray, "n c"] | None:
    """What the process says at points; without them, what the others say of every reading, with `groups`
    those of other groups.

    NaN for a field of fewer than four readings; None where a field has more than 500.

    >>> x = np.linspace(0, 1, 12)
    >>> given = Observations.from_arrays({"x": x}, {"u": np.sin(3 * x)})
    >>> round(float(by_process(given, Domain(x=(0, 1)), np.array([[0.31]]))[0, 0]), 3)
    0.802
    """
    measured = [readings.measured(name) for name in readings.fields]
    if any(len(rows) > MOST for rows, *_ in measured):
        return None
    wanted = None if points is None else unit(np.asarray(points, float), domain)
    count = len(readings) if wanted is None else len(wanted)
    found = np.full((count, len(readings.fields)), np.nan)
    for column, (rows, places, values, _) in enumerate(measured):
        if len(rows) >= FEWEST and np.std(values) > 0:
            here = rows if wanted is None else slice(None)
            apart = rows if groups is None else groups[rows]
            about = unit(np.asarray(places, float), domain), values
            found[here, column] = _said(*about, wanted, apart)
    return found


def _said(coordinates, values, wanted, groups) -> Float[np.ndarray, " n"]:
    mean, spread = values.mean(), values.std()
    standard = (values - mean) / spread
    lengths, noise = _most_probable(coordinates, standard)
    factor = cho_factor(_alike(coordinates, coordinates, lengths) + noise * np.eye(len(values)))
    weights = cho_solve(factor, standard)
    if wanted is None:
        inverse, missed = cho_solve(factor, np.eye(len(values))), np.zeros(len(values))
        for group in np.unique(groups):
            inside = np.flatnonzero(groups == group)
            missed[inside] = np.linalg.solve(inverse[np.ix_(inside, inside)], weights[inside])
        return mean + spread * (standard - missed)
    return mean + spread * (_alike(wanted, coordinates, lengths) @ weights)


def _alike(some, others, lengths) -> Float[np.ndarray, "n m"]:
    gaps = (some[:, None, :] - others[None, :, :]) / lengths
    return np.exp(-0.5 * np.sum(gaps**2, axis=-1))


def _most_probable(coordinates, values) -> tuple[Float[np.ndarray, " e"], float]:
    """ℓ and s, from a part of the readings where they are many."""
    part = np.random.default_rng(0).permutation(len(values))[:SEARCHED]
    places, read, axes = coordinates[part], values[part], coordinates.shape[1]
    squares = (places[:, None, :] - places[None, :, :]) ** 2
    bounds = [np.log(LENGTHS)] * axes + [np.log(NOISES)]
    searches = [
        minimize(
            _improbability, np.log([length] * axes + [noise]), (squares, read), jac=True,
            method="L-BFGS-B", bounds=bounds, options={"maxiter": STEPS},
        )
        for length, noise in STARTS
    ]  # fmt: skip
    best = np.exp(min(searches, key=lambda search: search.fun).x)
    return best[:-1], float(best[-1])


def _improbability(logarithms, squares, values) -> tuple[float, Float[np.ndarray, " p"]]:
    """−log of the marginal likelihood, less what does not change, and its gradient."""
    *lengths, noise = np.exp(logarithms)
    scaled = squares / np.square(lengths)
    alike = np.exp(-0.5 * scaled.sum(axis=-1))
    try:
        factor = cho_factor(alike + noise * np.eye(len(values)), lower=True)
    except np.linalg.LinAlgError:  # singular to rounding: not to be searched further
        return 1e25, np.zeros(len(logarithms))
    inverse = cho_solve(factor, np.eye(len(values)))
    weights = inverse @ values
    size = max(float(values @ weights) / len(values), 1e-300)
    fun = 0.5 * len(values) * np.log(size) + np.log(np.diagonal(factor[0])).sum()
    slopes = 0.5 * (inverse - np.outer(weights, weights) / size)
    of_lengths = np.einsum("ij,ij,ijk->k", slopes, alike, scaled)
    return float(fun), np.append(of_lengths, noise * np.trace(slopes))
