"""How many threads linear algebra may use.

The threads of BLAS wait for one another in a loop. On a machine that does something else as well, two
threads then take a hundred times as long for a small matrix as one does.
"""

import contextlib
from collections.abc import Iterator

SMALL = 1500  # rows of a square matrix that one thread factors in a tenth of a second


@contextlib.contextmanager
def blas_threads(size: int) -> Iterator[None]:
    """Inside, NumPy and SciPy use one thread, where matrices have `size` rows or fewer and that is small.

    >>> with blas_threads(100):
    ...     pass
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # only ever slower without it
        yield
        return
    with threadpool_limits(1 if size <= SMALL else None, "blas"):
        yield
