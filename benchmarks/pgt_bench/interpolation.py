"""Interpolation without physics, by scipy and scikit-learn: the first thing a practitioner tries.

Both methods see the readings only, never the truth, and treat each field by itself. Coordinates run
from 0 to 1 over the domain; a periodic axis becomes a circle. An average over a box is taken as the
value at its center. All readings are used at once: the work grows as their number cubed.

The kernel, width and smoothing of radial basis functions are chosen by the leave-one-out error.
"""

import dataclasses
import itertools
import time
import warnings
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float
from scipy.interpolate import RBFInterpolator
from scipy.spatial.distance import cdist

from pgt.core.errors import InputError
from pgt.core.types import Points
from pgt.core.unknown import is_unknown
from pgt.data import Domain, Observations
from pgt.data.condition_regions import Spread
from pgt.inference.gaussian_process import unit_coordinates
from pgt.physics.conditions import AbstractCondition, Dirichlet, Initial


def masked_values(observations: Observations) -> Float[np.ndarray, "n c"]:
    """The readings in float64, NaN where hidden."""
    return np.where(observations.mask, np.asarray(observations.values, np.float64), np.nan)


def first_at_each_place(
    coordinates: Float[np.ndarray, "n e"], mask: Bool[np.ndarray, "n c"]
) -> Bool[np.ndarray, "n c"]:
    """The mask without values whose field has an earlier value at the same place, or a period away."""
    group = np.unique(np.round(coordinates, 9) + 0.0, axis=0, return_inverse=True)[1].reshape(-1)
    kept = np.zeros_like(mask)
    for column in range(mask.shape[1]):
        rows = np.flatnonzero(mask[:, column])
        kept[rows[np.unique(group[rows], return_index=True)[1]], column] = True
    return kept


# Each kernel with the degree of the polynomial that goes with it: scipy's formulas and defaults.
KERNELS = {
    "linear": (lambda r: -r, 0),
    "thin_plate_spline": (lambda r: r**2 * np.log(np.where(r > 0, r, 1.0)), 1),
    "cubic": (lambda r: r**3, 1),
    "quintic": (lambda r: -(r**5), 2),
    "gaussian": (lambda r: np.exp(-(r**2)), 0),
    "multiquadric": (lambda r: -np.sqrt(1 + r**2), 0),
}
# These kernels have a width; for a spline it only rescales the smoothing.
KERNELS_WITH_WIDTH = ("gaussian", "multiquadric")
WIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0)  # scipy's epsilon: one over the width


def best_candidates(
    coordinates: Float[np.ndarray, "n d"],
    values: Float[np.ndarray, "n k"],
    kernels: tuple[str, ...],
    smoothings: Float[np.ndarray, " s"],
) -> list[dict] | None:
    """For each column of values the kernel, width and smoothing with the least leave-one-out error.

    None where no kernel has enough readings.
    """
    distance = cdist(coordinates, coordinates)
    tried, errors = [], []
    for kernel in kernels:
        formula, degree = KERNELS[kernel]
        polynomials = monomials(coordinates, degree)
        if not _is_determined(polynomials):
            continue
        for width in WIDTHS if kernel in KERNELS_WITH_WIDTH else (1.0,):
            errors += [*leave_one_out(formula(width * distance), polynomials, values, smoothings)]
            tried += [
                {"kernel": kernel, "epsilon": width, "smoothing": float(s)} for s in smoothings
            ]
    table = np.array(errors)
    if not (tried and np.isfinite(table).any(axis=0).all()):
        return None
    return [
        tried[row] | {"leave_one_out": float(table[row, column])}
        for column, row in enumerate(table.argmin(axis=0))
    ]


def leave_one_out(
    matrix: Float[np.ndarray, "n n"],
    polynomials: Float[np.ndarray, "n m"],
    values: Float[np.ndarray, "n k"],
    smoothings: Float[np.ndarray, " s"],
) -> Float[np.ndarray, "s k"]:
    """Root mean square error at each reading of the fit to all others; inf where it has no meaning.

    With Q an orthonormal basis of what polynomials cannot express and B = Q (QᵀKQ + λ)⁻¹ Qᵀ, the
    error at reading i is (B y)_i / B_ii. One spectrum of QᵀKQ serves every smoothing λ.
    """
    n, m = polynomials.shape
    basis = np.linalg.qr(polynomials, mode="complete")[0][:, m:]
    spectrum, vectors = np.linalg.eigh(basis.T @ matrix @ basis)
    directions = basis @ vectors
    parts, shares = directions.T @ values, directions**2
    resolved = n * np.finfo(float).eps * spectrum.max()
    errors = np.full((len(smoothings), values.shape[1]), np.inf)
    for row, smoothing in enumerate(smoothings):
        if spectrum.min() + smoothing > resolved:  # else rounding errors dominate
            weights = 1 / (spectrum + smoothing)
            missed = directions @ (weights[:, None] * parts)
            errors[row] = np.sqrt(np.mean((missed / (shares @ weights)[:, None]) ** 2, axis=0))
    return errors


def monomials(coordinates: Float[np.ndarray, "n d"], degree: int) -> Float[np.ndarray, "n m"]:
    """All products of up to `degree` coordinates."""
    axes = range(coordinates.shape[1])
    powers = [
        coordinates[:, list(chosen)].prod(axis=1)
        for size in range(degree + 1)
        for chosen in itertools.combinations_with_replacement(axes, size)
    ]
    return np.stack(powers, axis=1)


def _is_determined(polynomials: np.ndarray) -> bool:
    """Whether the readings determine the polynomial, whichever one of them is left out."""
    n, m = polynomials.shape
    if n < m + 2 or np.linalg.matrix_rank(polynomials) < m:
        return False
    leverage = (np.linalg.qr(polynomials)[0] ** 2).sum(axis=1)
    return bool(
        (leverage < 1 - 1e-9).all()
    )  # with leverage 1, no other reading determines the same


SMOOTHINGS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0)
# Added to the variances, less and less, each search starting where the last one ended: with the
# smallest alone the search stops where the covariance of its start is singular to rounding.
JITTERS = (1e-4, 1e-7, 1e-10)
CHUNK = 4096  # points predicted at once: their covariances with all readings must fit in memory

Predict = Callable[[np.ndarray], np.ndarray]


@dataclasses.dataclass(frozen=True)
class Reference:
    """The predictions of a reference method.

    Attributes
    ----------
    predictions : (n, c) values; NaN for a field without readings.
    seconds : for choosing, fitting and predicting.
    chosen : by field, the hyperparameters as plain data; None for a field without readings.
    warnings : the warnings of the optimizer, by field.
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

    The covariance of standardized values is c · exp(−Σ (x_k − y_k)² / 2ℓ_k²), one length per axis,
    and with `noise` s² more for each reading; c, ℓ and s maximize the marginal likelihood, searched
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

        model, jitter, complaints = _fit_with_small_jitter(search, kernel, restarts)
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
    """The predictions of all fields; those measured at the same coordinates are fitted together.

    `fit(coordinates, values, sigma)` gives (predict, chosen, warnings) for each column of `values`.
    """
    began = time.monotonic()
    observations.check_inside(domain)
    points = np.asarray(points, np.float64)
    domain.contains(points)  # raises for a wrong shape
    wanted, coordinates = (
        unit_coordinates(points, domain),
        unit_coordinates(np.asarray(observations.points), domain),
    )
    values, sigma = masked_values(observations), np.asarray(observations.noise, np.float64)
    mask = first_at_each_place(coordinates, np.asarray(observations.mask))
    fields = observations.fields
    predictions = np.full((len(points), len(fields)), np.nan)
    chosen: dict[str, dict | None] = dict.fromkeys(fields)
    complaints: dict[str, list[str]] = {field: [] for field in fields}
    for pattern in np.unique(mask.T[mask.any(axis=0)], axis=0):
        columns = np.flatnonzero((mask == pattern[:, None]).all(axis=0))
        cells = np.ix_(pattern, columns)
        fits = fit(coordinates[pattern], values[cells], sigma[cells])
        for column, (predict, found, messages) in zip(columns, fits, strict=True):
            predictions[:, column] = predict(wanted)
            chosen[fields[column]], complaints[fields[column]] = found, messages
    return Reference(predictions, time.monotonic() - began, chosen, complaints)


def _scikit_learn():
    try:
        from sklearn.gaussian_process import GaussianProcessRegressor, kernels
    except ImportError:
        raise InputError(
            "gaussian_process needs scikit-learn; install it with `pip install scikit-learn`."
        ) from None
    return GaussianProcessRegressor, kernels


def _fit_with_small_jitter(search: Callable, kernel, restarts: int):
    """The fit with the smallest jitter that leaves a regular matrix, that jitter, and its warnings."""
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


# ------------------------------------------------------------------------------- given values

# Boundary and initial values as readings, so that methods without an equation get the same
# information.


def with_conditions(
    observations: Observations,
    conditions: Sequence[AbstractCondition],
    domain: Domain,
    count: int = 51,
) -> Observations:
    """The readings, and about `count` evenly spread readings of each face where a value is given.

    The given values come first. Where a condition and a reading meet, the condition counts; where
    two conditions meet, the first of them.

    >>> sensor = Observations.from_arrays({"x": [0.5], "t": [0.5]}, {"u": [1.0]})
    >>> box = Domain(x=(0, 1), t=(0, 1))
    >>> len(with_conditions(sensor, [Initial(u=0.0), Dirichlet("x", u=0.0)], box, count=5))
    14
    """
    observations.check_inside(domain)
    if count < 2:
        raise InputError(f"with_conditions(count={count}): write a number of points of 2 or more.")
    parts = [_condition_values(c, domain, observations.fields, count) for c in conditions]
    points = np.concatenate([*(part[0] for part in parts), np.asarray(observations.points)])
    values = np.concatenate([*(part[1] for part in parts), masked_values(observations)])
    known = len(points) - len(observations)

    def padded(leaf):
        return np.concatenate([np.zeros((known, leaf.shape[1])), leaf])

    mask = first_at_each_place(unit_coordinates(points, domain), ~np.isnan(values))
    half = observations.half_width
    return Observations(
        points=points,
        values=np.where(mask, values, 0.0),
        mask=mask,
        noise=np.where(mask, padded(observations.noise), 0.0),
        half_width=None if half is None else padded(half),
        coords=observations.coords,
        fields=observations.fields,
        units=observations.units,
    ).take(mask.any(axis=1))


def _condition_values(
    condition: AbstractCondition, domain: Domain, fields: tuple[str, ...], count: int
):
    """Points (m, d) on the faces of a condition, and the values (m, c) it gives; NaN for others."""
    name = type(condition).__name__
    if not isinstance(condition, Dirichlet | Initial):
        raise InputError(
            f"with_conditions: {name} gives no values to read; only Dirichlet and Initial do."
        )
    for field, value in condition.values.items():
        if field not in fields or is_unknown(value):
            raise InputError(
                f"with_conditions: {name}({field}=...) is no known value of one of the fields "
                f"{', '.join(fields)}; leave it out, or call .aligned(pde.fields) on the readings."
            )
    bound = condition.bind(domain, fields)
    assert bound.region is not None
    if isinstance(bound.region, Spread):
        points = bound.region.nodes(count)
    else:
        grids = [_even_points(domain, axis, side, count) for axis, side in bound.region.pairs]
        points = np.concatenate(grids)
    with jax.enable_x64(True):
        # A row is value − given; with a value of 0 it is the given one.
        rows = jax.vmap(lambda z: bound.rows(lambda *_: jnp.zeros(()), z))(jnp.asarray(points))
    values = np.full((len(points), len(fields)), np.nan)
    values[:, [fields.index(field) for field in bound.values]] = -np.asarray(rows)
    return points, values


def _even_points(domain: Domain, held: str, side: int, count: int) -> np.ndarray:
    """About `count` points of one face, evenly spread along its axes, edges included."""
    per_axis = max(2, round(count ** (1 / max(domain.dimension - 1, 1))))
    columns = [
        np.array([domain.bounds(axis)[side]])
        if axis == held
        else np.linspace(*domain.bounds(axis), per_axis, endpoint=axis not in domain.periodic)
        for axis in domain.axes
    ]
    return np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, len(columns))
