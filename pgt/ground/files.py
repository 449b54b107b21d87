"""Files that are either whole or not there."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pgt.ground.errors import InputError

# What a path that was named wrongly gives; a full disk, for example, is another matter.
_WRONG_PATH = {
    errno.EISDIR, errno.ENOTDIR, errno.ENOENT, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EROFS,
    errno.ENAMETOOLONG, errno.EINVAL, errno.ENOTEMPTY,
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
    """A path to write to; it takes the place of `path` when all went well."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=path.suffix)
    os.close(handle)
    try:
        yield Path(name)
        Path(name).chmod(0o644)  # mkstemp's own is for the owner only
        os.replace(name, path)
    except BaseException as error:
        Path(name).unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = str(path)  # the name the user knows
        raise


def require_writable(folder: Path) -> None:
    """Make the folder, and refuse one that cannot be written to: before the work, not after it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(
            f"cannot write to {folder} ({error.strerror or error}); name another folder with -o."
        ) from None
