"""Checks of paths and endings, errors that name the file, and files written whole or not at all."""

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pgt.core.errors import InputError
from pgt.core.files import folder_in_one_piece, in_one_piece

PACKED_ENDINGS = (".gz", ".bz2", ".xz", ".zip")
_SAVE_POINTS = "save the points as CSV, in ParaView by File > Save Data."
# Endings that are not read, and what to do instead.
UNREADABLE_ENDINGS = {
    ".json": "JSON is not read; write a CSV, for example with pandas.read_json(...).to_csv(...).",
    ".npy": "an array alone has no names; save x, t, ... with numpy.savez as .npz.",
    ".pkl": "a pickle may hold anything, and is never opened; write a CSV or Parquet file.",
    ".feather": "write it as Parquet, for example with pandas.read_feather(...).to_parquet(...).",
    ".xls": "this kind of workbook is not read; save it as .xlsx, or as CSV.",
    ".ods": "this kind of workbook is not read; save it as .xlsx, or as CSV.",
    ".lvm": "export the table as CSV from LabVIEW.",
    ".tdms": "export the table as CSV from LabVIEW.",
    ".vtk": _SAVE_POINTS,
    ".vtu": _SAVE_POINTS,
    ".vtp": _SAVE_POINTS,
}


@contextmanager
def name_file_in_errors(path: Path) -> Iterator[None]:
    """Start every `InputError` inside with the name of the file; errors of the system become such."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(
            f"{path}: the system refuses access ({error.strerror or error}); check the path and its "
            "permissions."
        ) from None


@contextmanager
def wrap_library_errors(kind: str) -> Iterator[None]:
    """A context in which all errors that a library raises for a broken file become an `InputError`."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # these libraries raise anything from KeyError to struct.error
        raise InputError(
            f"could not be read as {kind} ({str(error) or type(error).__name__}). The file may be "
            "cut short, or not be what its name says; write it anew."
        ) from None


def check_is_file(path: Path) -> None:
    if path.is_dir():
        raise InputError("this is a folder; name a file in it.")
    if path.exists() and not path.is_file():
        raise InputError("this is not an ordinary file; name one.")
    if not path.exists():
        raise InputError(f"there is no such file.{_similar_names(path)}")


def _similar_names(path: Path) -> str:
    if not path.parent.is_dir():
        return f" Not even the folder {path.parent} exists."
    close = difflib.get_close_matches(path.name, os.listdir(path.parent), n=3)
    return f" In the same folder: {', '.join(close)}." if close else " Check the path."


def check_suffix(path: Path, known: Iterable[str]) -> str:
    """The suffix in lower case, or an error that lists the known ones."""
    suffix = path.suffix.lower()
    known = sorted(known)
    if suffix in PACKED_ENDINGS and suffix not in known:  # that of the packed file
        suffix = path.with_suffix("").suffix.lower()
    if suffix in known:
        return suffix
    if suffix in UNREADABLE_ENDINGS and ".txt" in known:  # the endings that readers serve
        raise InputError(f"the ending {suffix!r}: {UNREADABLE_ENDINGS[suffix]}")
    ending = f"the ending {path.suffix!r} is unknown" if suffix else "the name has no ending"
    raise InputError(f"{ending}; known are {', '.join(known)}.")


@contextmanager
def write_safely(path: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """A temporary path to write to, which replaces `path` when all went well."""
    if path.is_dir() and not is_folder:
        raise InputError("this is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist; create it first.")
    try:
        with (folder_in_one_piece if is_folder else in_one_piece)(path) as temporary:
            yield temporary
    except (OSError, RuntimeError) as error:  # RuntimeError: HDF5, when it cannot close its file
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"could not be written ({reason}); nothing was left behind. Make room, or name another "
            "folder."
        ) from None


def missing_package(package: str, what_for: str, extra: str = "files") -> InputError:
    return InputError(
        f"{what_for} needs the package {package}: pip install 'physics-guided-transformer[{extra}]'"
    )
