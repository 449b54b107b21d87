"""Locks of folders: one process at a time writes to a folder, and an error names it to a second one.

The operating system holds the lock and releases it when the process ends in any way, so a killed owner
leaves nothing that must be removed by hand.
"""

import errno
import os
import socket
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgt.core.errors import InputError
from pgt.core.files import remove_unfinished

try:
    import fcntl
except ImportError:  # Windows, where folders are not guarded
    fcntl = None

LOCK = ".owner"
# A lock that is released at the same moment is requested again, at most this many times.
_MAX_TRIES = 100


@contextmanager
def lock_folder(folder: Path, *, below: bool = False) -> Iterator[None]:
    """A context that owns the folder, which must exist; remains of killed processes are removed first.

    If another process owns it, an `InputError` says which. `below` includes all folders inside.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with lock_folder(folder):
    ...     print(sorted(path.name for path in folder.iterdir()))
    ['.owner']
    >>> list(folder.iterdir())
    []
    """
    if fcntl is None:
        yield
        return
    handle = _taken(folder)
    try:
        remove_unfinished(folder, below=below)
        yield
    finally:
        (folder / LOCK).unlink(missing_ok=True)  # first: nobody else can have it yet
        os.close(handle)


def _taken(folder: Path) -> int:
    """The handle of the lock file, which is locked and names this process."""
    for _ in range(_MAX_TRIES):
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        if not _is_locked(handle, folder):
            os.close(handle)
            raise InputError(
                f"{folder} belongs to {_owner(folder)}, which writes to it; wait until it ends, or name "
                "another folder."
            )
        if _is_still_there(handle, folder):
            return _signed(handle)
        os.close(handle)  # its owner has removed it meanwhile
    raise InputError(f"{folder} changes hands all the time; name another folder.")


def _is_locked(handle: int, folder: Path) -> bool:
    """Lock the open file; the result is False where another process holds the lock."""
    assert fcntl is not None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
            return False
        warnings.warn(
            f"{folder} is on a file system without locks ({error.strerror}): start one run in it.",
            stacklevel=5,
        )
    return True


def _is_still_there(handle: int, folder: Path) -> bool:
    """Whether the locked file still is the one in the folder."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(folder / LOCK))
    except FileNotFoundError:
        return False


def _signed(handle: int) -> int:
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    words = f"process {os.getpid()} on {socket.gethostname()} since {since}"
    os.ftruncate(handle, 0)
    os.pwrite(handle, words.encode(), 0)
    return handle


def _owner(folder: Path) -> str:
    """The owner that the lock file names; a very recent owner may not have written it yet."""
    try:
        return (folder / LOCK).read_text(encoding="utf-8") or "another process"
    except (OSError, ValueError):
        return "another process"
