"""NumPy arrays that a user's function captures, evaluated in single and in double precision.

JAX 0.11 converts a NumPy array once and keeps the result as long as a compiled program uses it. The
array that was converted in double precision is then used in single precision too, and the program fails
with a mismatch of types (or, the other way round, loses digits). A function of a user, such as an initial
state that is a sum of waves, is evaluated in both precisions here.
"""

import jax
import numpy as np


def convert_numpy_arrays_anew() -> None:
    """Make JAX convert a NumPy array each time that it meets it, if its version keeps the result."""
    if not _keeps_conversions():
        return
    from jax._src import dtypes, literals

    def converted(array: np.ndarray):
        return literals.TypedNdArray(
            array.astype(dtypes.canonicalize_dtype(array.dtype), copy=False)
        )

    dtypes.register_canonicalize_value_handler(np.ndarray, converted)


def _keeps_conversions() -> bool:
    from jax._src import dtypes

    if not hasattr(dtypes, "canonicalize_value"):
        return False
    array = np.zeros(1, np.float64)
    with jax.enable_x64(True):
        kept = dtypes.canonicalize_value(array)
    with jax.enable_x64(False):
        return dtypes.canonicalize_value(array).dtype == kept.dtype
