"""What the machine has: memory, which is asked for before it is taken, and threads of BLAS.

The threads of BLAS wait for one another in a loop. On a machine that does something else as well, two
threads then take a hundred times as long for a small matrix as one does.
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
# The limit of a container. What is taken of it is no use here: files that were read count as taken.
_CONTAINER = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


def available_memory() -> float | None:
    """Bytes that this process may still take; None where the system does not say."""
    known = [_of_system(), *(_of_container(limit) for limit in _CONTAINER)]
    return min((size for size in known if size is not None), default=None)


def require_memory(needed: float, asked: str, remedy: str, room: float | None = None) -> None:
    """Raise where what was `asked` for needs more bytes than there are, or than the `room` given.

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


# One thread factors a square matrix with so many rows in a tenth of a second.
MAX_SINGLE_THREAD_ROWS = 1500
# A matrix with so many rows shows whether threads wait for one another.
PROBE_ROWS = 300
# Threads that take so many times as long as one thread do nothing but wait.
MAX_SLOWDOWN = 5.0


# ------------------------------------------------------------------------------- threads


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
    if size > MAX_SINGLE_THREAD_ROWS:
        with threadpool_limits(1, "blas"):
            alone = _factored()
        size = MAX_SINGLE_THREAD_ROWS if _factored() > MAX_SLOWDOWN * alone else size
    with threadpool_limits(1 if size <= MAX_SINGLE_THREAD_ROWS else None, "blas"):
        yield


def _factored() -> float:
    """Seconds of a small factorisation; the first may wait for threads to be made."""
    matrix, seconds = np.random.default_rng(0).normal(size=(PROBE_ROWS, PROBE_ROWS)), []
    for _ in range(3):
        began = time.perf_counter()
        np.linalg.qr(matrix, mode="r")
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds))
