"""How many threads linear algebra may use.

The threads of BLAS wait for one another in a loop. On a machine that does something else as well, two
threads then take a hundred times as long for a small matrix as one does.
"""

import contextlib
import time
from collections.abc import Iterator

import numpy as np

SMALL = 1500  # rows of a square matrix that one thread factors in a tenth of a second
PROBED = 300  # rows of one that is factored to see whether threads wait for one another
WAITING = 5.0  # times as long as one thread takes: nothing but waiting takes that


@contextlib.contextmanager
def blas_threads(size: int) -> Iterator[None]:
    """Inside, NumPy and SciPy use one thread, where matrices have `size` rows or fewer and that is small,
    or where several would wait for one another.

    >>> with blas_threads(100):
    ...     pass
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # only ever slower without it
        yield
        return
    if size > SMALL:
        with threadpool_limits(1, "blas"):
            alone = _factored()
        size = SMALL if _factored() > WAITING * alone else size
    with threadpool_limits(1 if size <= SMALL else None, "blas"):
        yield


def _factored() -> float:
    """Seconds of a small factorisation; the first may wait for threads to be made."""
    matrix, seconds = np.random.default_rng(0).normal(size=(PROBED, PROBED)), []
    for _ in range(3):
        began = time.perf_counter()
        np.linalg.qr(matrix, mode="r")
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))
