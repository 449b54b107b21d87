"""Choosing a radial basis function by how well it predicts each reading from all the others."""

import itertools

import numpy as np
from jaxtyping import Float
from scipy.spatial.distance import cdist

# Each kernel with the degree of the polynomial that goes with it: scipy's formulas and defaults.
KERNELS = {
    "linear": (lambda r: -r, 0),
    "thin_plate_spline": (lambda r: r**2 * np.log(np.where(r > 0, r, 1.0)), 1),
    "cubic": (lambda r: r**3, 1),
    "quintic": (lambda r: -(r**5), 2),
    "gaussian": (lambda r: np.exp(-(r**2)), 0),
    "multiquadric": (lambda r: -np.sqrt(1 + r**2), 0),
}
# These have a width; of a spline it only rescales the smoothing.
BUMPS = ("gaussian", "multiquadric")
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
        if not _determined(polynomials):
            continue
        for width in WIDTHS if kernel in BUMPS else (1.0,):
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
        if spectrum.min() + smoothing > resolved:  # else rounding decides
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


def _determined(polynomials: np.ndarray) -> bool:
    """Whether the polynomial is fixed by the readings, whichever one of them is left out."""
    n, m = polynomials.shape
    if n < m + 2 or np.linalg.matrix_rank(polynomials) < m:
        return False
    leverage = (np.linalg.qr(polynomials)[0] ** 2).sum(axis=1)
    return bool((leverage < 1 - 1e-9).all())  # 1: no other reading says what this one says
