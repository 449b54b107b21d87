"""Atomic writing of files and folders: each is complete or absent."""

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgt.core.errors import InputError

# The names of unfinished files begin with this prefix.
TEMPORARY_PREFIX = ".pgt-"
# The errors of a wrong path; others, such as a full disk, are not the user's mistake.
_WRONG_PATH = {
    errno.EISDIR, errno.ENOTDIR, errno.ENOENT, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS,
    errno.ENAMETOOLONG, errno.EINVAL, errno.ENOTEMPTY, errno.EBUSY,
}  # fmt: skip


@contextmanager
def naming_the_place(path: Path) -> Iterator[None]:
    """A context that turns errors of a wrong path into an `InputError` that names it."""
    try:
        yield
    except OSError as error:
        if error.errno not in _WRONG_PATH:
            raise
        raise InputError(f"cannot write {path} ({error.strerror}); name another place.") from None


def make_folder(folder: Path) -> None:
    """Make the folder and its parents."""
    with naming_the_place(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def in_one_piece(path: Path) -> Iterator[Path]:
    """A temporary path to write to, which replaces `path` after success.

    No other process uses its name, and its content is on the disk before it is renamed.
    """
    name = path.parent / f"{TEMPORARY_PREFIX}{path.stem}-{secrets.token_hex(8)}{path.suffix}"
    try:
        # `mkstemp` would make a file for the owner alone; here the umask decides who may read it.
        os.close(os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666))
        yield name
        _settle(name)
        os.replace(name, path)
        if os.name == "posix":  # the rename itself must survive a power cut
            _settle(path.parent)
    except BaseException as error:
        name.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = str(path)  # the name the user knows
        raise


@contextmanager
def folder_in_one_piece(path: Path) -> Iterator[Path]:
    """A temporary folder to write into, which replaces `path` after success."""
    name = path.parent / f"{TEMPORARY_PREFIX}{path.stem}-{secrets.token_hex(8)}{path.suffix}"
    try:
        name.mkdir()
        yield name
        if path.is_dir():
            shutil.rmtree(path)
        os.replace(name, path)
    except BaseException as error:
        shutil.rmtree(name, ignore_errors=True)
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = str(path)  # the name the user knows
        raise


def _settle(path: str | Path) -> None:
    """Wait until the file or folder is on the disk."""
    handle = os.open(path, os.O_RDONLY if os.path.isdir(path) else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_unfinished(folder: Path, *, below: bool = False) -> None:
    """Remove unfinished files of a killed process; only the owner of the folder may (folder_lock.py)."""
    found = folder.rglob(f"{TEMPORARY_PREFIX}*") if below else folder.glob(f"{TEMPORARY_PREFIX}*")
    for path in list(found):
        if path.is_file():
            path.unlink(missing_ok=True)
        elif path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def require_writable(folder: Path, remedy: str = "name another folder with -o") -> None:
    """Make the folder, and raise if it cannot be written to, before any work is done."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"cannot write to {folder} ({error.strerror or error}); {remedy}."
        ) from None
