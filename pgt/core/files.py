"""Files that are either whole or not there."""

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgt.core.errors import InputError

# Names of files that are not finished begin like this.
TEMPORARY_PREFIX = ".pgt-"
# What a path that was named wrongly gives; a full disk, for example, is another matter.
_WRONG_PATH = {
    errno.EISDIR, errno.ENOTDIR, errno.ENOENT, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS,
    errno.ENAMETOOLONG, errno.EINVAL, errno.ENOTEMPTY, errno.EBUSY,
}  # fmt: skip


@contextmanager
def naming_the_place(path: Path) -> Iterator[None]:
    """Where nothing can be written, say where."""
    try:
        yield
    except OSError as error:
        if error.errno not in _WRONG_PATH:
            raise
        raise InputError(f"cannot write {path} ({error.strerror}); name another place.") from None


def make_folder(folder: Path) -> None:
    """The folder, and those above it."""
    with naming_the_place(folder):
        folder.mkdir(parents=True, exist_ok=True)


@contextmanager
def in_one_piece(path: Path) -> Iterator[Path]:
    """A path to write to; it takes the place of `path` when all went well.

    Its name is that of this process alone, and its content is on the disk before it has the new name.
    """
    name = path.parent / f"{TEMPORARY_PREFIX}{path.stem}-{secrets.token_hex(8)}{path.suffix}"
    try:
        # Not by mkstemp, whose files are for the owner alone: who else may read one, the umask says.
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
    """A folder to write into; it takes the place of `path` when all went well."""
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
    """Remove what a kill left half-written; for whoever owns the folder (folder_lock.py)."""
    found = folder.rglob(f"{TEMPORARY_PREFIX}*") if below else folder.glob(f"{TEMPORARY_PREFIX}*")
    for path in list(found):
        if path.is_file():
            path.unlink(missing_ok=True)
        elif path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def require_writable(folder: Path, remedy: str = "name another folder with -o") -> None:
    """Make the folder, and refuse one that cannot be written to: before the work, not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"cannot write to {folder} ({error.strerror or error}); {remedy}."
        ) from None
