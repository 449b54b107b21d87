"""What a practitioner runs first: interpolation without physics, by scipy and scikit-learn.

Both methods see the readings only, never the truth, and treat each field by itself. Coordinates run
from 0 to 1 over the domain, a periodic axis around a circle. An average over a box is read as the
value at its centre. All readings are used at once: the work grows as their number cubed.
"""

import dataclasses
import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Float
from scipy.interpolate import RBFInterpolator

from pgt.data import Domain, Observations
from pgt.ground.errors import InputError
from pgt.ground.types import Points
from pgt.trust.references.coordinates import first_at_each_place, readings, unit
from pgt.trust.references.leave_one_out import KERNELS, best_candidates

SMOOTHINGS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
# Added to the variances, less and less, each search starting where the last one ended: with the
# smallest alone the search stops where the covariance of its start is singular to rounding.
JITTERS = (1e-4, 1e-7, 1e-10)
CHUNK = 4096  # points predicted at once: their covariances with all readings must fit in memory

Predict = Callable[[np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Reference:
    """What a reference method says at the points asked for.

    Attributes
    ----------
    predictions : (n, c) values; NaN for a field without readings.
    seconds : choosing, fitting and predicting.
    chosen : by field, the hyper-parameters as plain data; None for a field without readings.
    warnings : what the optimiser complained about, by field.
    """

    predictions: Float[np.ndarray, "n c"]
    seconds: float
    chosen: dict[str, dict | None]
    warnings: dict[str, list[str]]


def rbf(
    observations: Observations,
    domain: Domain,
    points: Points,
    *,
    kernel: str | Sequence[str] = tuple(KERNELS),
    smoothing: float | Sequence[float] = SMOOTHINGS,
) -> Reference:
    """Radial basis functions, scipy's `RBFInterpolator`, at points (n, d).

    Of the kernels, widths and smoothings offered it takes those with the smallest leave-one-out
    error on the readings, which has a closed form (Golub, Heath and Wahba 1979; Rippa 1999).

    >>> x = np.linspace(0, 1, 9)
    >>> readings = Observations.from_arrays({"x": x}, {"u": x**2})
    >>> answer = rbf(readings, Domain(x=(0, 1)), np.array([[0.3]]))
    >>> round(float(answer.predictions[0, 0]), 3)
    0.09
    """
    kernels = (kernel,) if isinstance(kernel, str) else tuple(kernel)
    levels = np.atleast_1d(np.asarray(smoothing, np.float64))
    if not (kernels and set(kernels) <= set(KERNELS) and levels.size and (levels >= 0).all()):
        raise InputError(
            f"rbf(kernel={kernel!r}, smoothing={smoothing!r}): write kernels out of "
            f"{', '.join(KERNELS)}, and smoothings of 0 or more."
        )

    def fit(coordinates, values, sigma):
        best = best_candidates(coordinates, values, kernels, levels)
        if best is None:
            raise InputError(
                f"rbf: {len(values)} readings are too few for {', '.join(kernels)}, or lie all on "
                "one line; give more readings, or kernel='gaussian'."
            )
        names = ("kernel", "epsilon", "smoothing")
        return [
            (
                RBFInterpolator(coordinates, column, **{name: chosen[name] for name in names}),
                chosen,
                [],
            )
            for column, chosen in zip(values.T, best, strict=True)
        ]

    return _evaluate(observations, domain, points, fit)


def gaussian_process(
    observations: Observations,
    domain: Domain,
    points: Points,
    *,
    noise: bool = False,
    restarts: int = 1,
    seed: int = 0,
) -> Reference:
    """A Gaussian process, scikit-learn's `GaussianProcessRegressor`: its mean at points (n, d).

    The covariance of standardised values is c · exp(−Σ (x_k − y_k)² / 2ℓ_k²), one length per axis,
    and with `noise` s² more for each reading; c, ℓ and s maximise the marginal likelihood, searched
    from `restarts` further random starts (Rasmussen and Williams 2006, chapters 2 and 5). A σ that
    the readings record is used as it is.
    """
    process, kernels = _scikit_learn()
    if restarts < 0:
        raise InputError(f"gaussian_process(restarts={restarts}): write 0 or more.")

    def fit_one(coordinates, values, sigma):
        mean, spread = values.mean(), values.std() or 1.0
        lengths = kernels.RBF([0.2] * coordinates.shape[1], (1e-2, 1e2))
        kernel = kernels.ConstantKernel(1.0, (1e-3, 1e5)) * lengths
        if noise:
            kernel = kernel + kernels.WhiteKernel(1e-2, (1e-10, 10.0))

        def search(start, jitter, restarts):
            model = process(
                start,
                alpha=jitter + (sigma / spread) ** 2,
                n_restarts_optimizer=restarts,
                random_state=seed,
            )
            return model.fit(coordinates, (values - mean) / spread)

        model, jitter, complaints = _continued(search, kernel, restarts)
        chosen = _hyper_parameters(model, noise) | {"jitter": jitter}
        return (
            _in_chunks(lambda z: np.asarray(model.predict(z)) * spread + mean),
            chosen,
            complaints,
        )

    def fit(coordinates, values, sigma):
        return [fit_one(coordinates, y, s) for y, s in zip(values.T, sigma.T, strict=True)]

    return _evaluate(observations, domain, points, fit)


# ------------------------------------------------------------------------------- fitting


def _evaluate(observations, domain: Domain, points: Points, fit: Callable) -> Reference:
    """Fields measured at the same coordinates are fitted together.

    `fit(coordinates, values, sigma)` gives (predict, chosen, complaints) for each column of `values`.
    """
    began = time.monotonic()
    observations.check_inside(domain)
    points = np.asarray(points, np.float64)
    domain.contains(points)  # refuses a wrong shape
    wanted, coordinates = unit(points, domain), unit(np.asarray(observations.points), domain)
    values, sigma = readings(observations), np.asarray(observations.noise, np.float64)
    mask = first_at_each_place(coordinates, np.asarray(observations.mask))
    fields = observations.fields
    predictions = np.full((len(points), len(fields)), np.nan)
    chosen: dict[str, dict | None] = dict.fromkeys(fields)
    complaints: dict[str, list[str]] = {field: [] for field in fields}
    for pattern in np.unique(mask.T[mask.any(axis=0)], axis=0):
        columns = np.flatnonzero((mask == pattern[:, None]).all(axis=0))
        cells = np.ix_(pattern, columns)
        fits = fit(coordinates[pattern], values[cells], sigma[cells])
        for column, (predict, found, told) in zip(columns, fits, strict=True):
            predictions[:, column] = predict(wanted)
            chosen[fields[column]], complaints[fields[column]] = found, told
    return Reference(predictions, time.monotonic() - began, chosen, complaints)


def _scikit_learn():
    try:
        from sklearn.gaussian_process import GaussianProcessRegressor, kernels
    except ImportError:
        raise InputError(
            "gaussian_process needs scikit-learn; install it with "
            "`pip install physics-guided-transformer[bench]`."
        ) from None
    return GaussianProcessRegressor, kernels


def _continued(search: Callable, kernel, restarts: int):
    """The fit with the smallest jitter that leaves a sound matrix, that jitter, and what it said."""
    found = None
    for jitter in JITTERS:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                model = search(kernel, jitter, restarts)
            except np.linalg.LinAlgError:
                break
        found = model, jitter, [str(warning.message) for warning in caught]
        kernel, restarts = model.kernel_, 0
    if found is None:
        raise InputError(
            "gaussian_process: the covariance of the readings cannot be inverted; average readings "
            "at nearly the same place."
        )
    return found


def _hyper_parameters(model, noise: bool) -> dict:
    smooth = model.kernel_.k1 if noise else model.kernel_
    return {
        "constant": float(smooth.k1.constant_value),
        "lengths": [float(length) for length in np.atleast_1d(smooth.k2.length_scale)],
        "noise_variance": float(model.kernel_.k2.noise_level) if noise else None,
        "log_marginal_likelihood": float(model.log_marginal_likelihood_value_),
    }


def _in_chunks(predict: Predict) -> Predict:
    def in_chunks(points: np.ndarray) -> np.ndarray:
        starts = range(0, len(points), CHUNK)
        return np.concatenate([np.zeros(0), *(predict(points[i : i + CHUNK]) for i in starts)])

    return in_chunks
