"""The resources of the machine: checks of memory before it is allocated, and the threads of BLAS.

The threads of BLAS wait for one another in a busy loop. On a machine with other work, two threads may
then take a hundred times as long for a small matrix as one thread.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from pgt.core.errors import InputError

GIGABYTE = 1e9
_SYSTEM = Path("/proc/meminfo")
# The memory limit of a container. Its usage is not read, because cached files count as used.
_CONTAINER = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def available_memory() -> float | None:
    """The number of bytes that this process may still allocate; None where the system does not say."""
    known = [_of_system(), *(_of_container(limit) for limit in _CONTAINER)]
    return min((size for size in known if size is not None), default=None)


def require_memory(needed: float, asked: str, remedy: str, room: float | None = None) -> None:
    """Raise where the request `asked` needs more bytes than are available, or than the given `room`.

    >>> require_memory(4e9, "grid(x=1000000000)", "ask for less", room=1e9)
    Traceback (most recent call last):
    ...
    pgt.InputError: grid(x=1000000000): this needs 4 GB of memory, and 1 GB are free; ask for less.
    """
    room = available_memory() if room is None else room
    if room is not None and needed > room:
        raise InputError(
            f"{asked}: this needs {needed / GIGABYTE:.3g} GB of memory, and {room / GIGABYTE:.3g} GB are "
            f"free; {remedy}."
        )


def _of_system() -> float | None:
    try:
        lines = _SYSTEM.read_text().splitlines()
    except OSError:
        return _physical()
    found = [line.split() for line in lines if line.startswith("MemAvailable:")]
    return 1024.0 * float(found[0][1]) if found else _physical()


def _physical() -> float | None:
    try:
        return float(os.sysconf("SC_PAGE_SIZE")) * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows
        return None


def _of_container(limit: Path) -> float | None:
    try:
        return float(limit.read_text())
    except (OSError, ValueError):  # ValueError: "max", no limit
        return None


# Matrices with at most this many rows use one thread, which factors them in a tenth of a second.
MAX_SINGLE_THREAD_ROWS = 1500
# The number of rows of a matrix that shows whether threads wait for one another.
PROBE_ROWS = 300
# Several threads that take more than this many times as long as one thread mostly wait.
MAX_SLOWDOWN = 5.0


# ------------------------------------------------------------------------------- threads


@contextlib.contextmanager
def blas_threads(size: int) -> Iterator[None]:
    """A context in which NumPy and SciPy use one thread for small matrices, of at most `size` rows.

    They also use one thread where several threads would wait for one another.

    >>> with blas_threads(100):
    ...     pass
    """
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # only ever slower without it
        yield
        return
    if size > MAX_SINGLE_THREAD_ROWS:
        with threadpool_limits(1, "blas"):
            alone = _factored()
        size = MAX_SINGLE_THREAD_ROWS if _factored() > MAX_SLOWDOWN * alone else size
    with threadpool_limits(1 if size <= MAX_SINGLE_THREAD_ROWS else None, "blas"):
        yield


def _factored() -> float:
    """The median seconds of a small factorization; the first one may include the start of threads."""
    matrix, seconds = np.random.default_rng(0).normal(size=(PROBE_ROWS, PROBE_ROWS)), []
    for _ in range(3):
        began = time.perf_counter()
        np.linalg.qr(matrix, mode="r")
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))
