"""Dense linear algebra of a least-squares step: LAPACK through SciPy on the CPU, XLA elsewhere.

On the CPU nothing has to be compiled, and BLAS exploits the symmetry of a Gram matrix, which takes a
third of XLA's time.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jaxtyping import Array, Float

Matrix = Float[Array | np.ndarray, "_ _"]
Square = Float[Array | np.ndarray, "_ _"]  # with as many rows as columns
Vector = Float[Array | np.ndarray, " _"]


def on_host() -> bool:
    """Whether arrays are in host memory, where NumPy can work on them."""
    return jax.default_backend() == "cpu"


@contextmanager
def beside_numpy() -> Iterator[None]:
    """A context in which JAX computes in double precision on the CPU. Results that NumPy needs compile
    faster there than on a GPU and need not be copied back."""
    try:
        processor = jax.local_devices(backend="cpu")[0]
    except RuntimeError:  # JAX was configured not to use the CPU
        processor = None
    with jax.enable_x64(True), jax.default_device(processor):
        yield


def local(array: Float[Array | np.ndarray, "..."]) -> Float[Array | np.ndarray, "..."]:
    """The array as NumPy array on the host, else as JAX array: whichever is multiplied faster."""
    return np.asarray(array) if on_host() else jnp.asarray(array)


def gram(matrix: Matrix, *, dual: bool) -> Square:
    """JJᵀ where `dual`, else JᵀJ."""
    return matrix @ matrix.T if dual else matrix.T @ matrix


def factorised(matrix: Square, diagonal: Vector) -> Square | None:
    """The Cholesky factor L with LLᵀ = matrix + diag(diagonal); None where that is not positive
    definite."""
    if not on_host():
        factor = _factorised(matrix, jnp.asarray(diagonal))
        return factor if bool(jnp.isfinite(factor[-1, -1])) else None
    shifted = np.array(matrix)
    shifted.flat[:: len(shifted) + 1] += np.asarray(diagonal)
    try:
        return np.linalg.cholesky(shifted)
    except np.linalg.LinAlgError:
        return None


def solved(factor: Square, right: Vector) -> Vector:
    """The solution (LLᵀ)⁻¹ b."""
    if not on_host():
        return _solved(factor, right)
    # Lᵀ has the column order that LAPACK needs, so no copy is made.
    return scipy.linalg.cho_solve((factor.T, False), np.asarray(right), check_finite=False)


def triangle(rows: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "q q"]:
    """The square factor R of the QR factorization of the rows A, with RᵀR = AᵀA."""
    size = rows.shape[1]
    padded = np.concatenate([rows, np.zeros((max(size - len(rows), 0), size))])
    if not on_host():
        return np.asarray(jnp.linalg.qr(jnp.asarray(padded), mode="r"))
    return np.asarray(scipy.linalg.qr(padded, mode="r", check_finite=False)[0])[:size]


def back(factor: Square, right: Matrix | Vector, *, transposed: bool = False) -> np.ndarray:
    """The solution R⁻¹ b, or R⁻ᵀ b where `transposed`."""
    trans = int(transposed)
    if not on_host():
        return np.asarray(jax.scipy.linalg.solve_triangular(factor, right, trans=trans))
    return scipy.linalg.solve_triangular(factor, right, trans=trans, check_finite=False)


@jax.jit
def _factorised(matrix, diagonal):
    return jnp.linalg.cholesky(matrix + jnp.diag(diagonal))


@jax.jit
def _solved(factor, right):
    return jax.scipy.linalg.cho_solve((factor, True), right)
