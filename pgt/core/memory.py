"""How much memory there is, asked before it is taken: no array is begun that cannot end."""

import os
from pathlib import Path

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
