"""What every reader and writer says about the file itself."""

import difflib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pgt.ground.errors import InputError
from pgt.ground.files import in_one_piece

PACKED = (".gz", ".bz2", ".xz", ".zip")
# What people have, and cannot be read; and how it can.
_TABLE = "this kind of file is not read; export the table as CSV"
ELSEWHERE = {
    ".json": "JSON is not read; write a CSV, for example with pandas.read_json(...).to_csv(...).",
    ".tdms": f"{_TABLE}, or as text from LabVIEW.",
    ".npy": "an array alone has no names; save x, t, ... with numpy.savez as .npz.",
    ".pkl": "a pickle may hold anything, and is never opened; write a CSV or Parquet file.",
    ".xml": f"{_TABLE}.",
    ".html": f"{_TABLE}.",
    ".db": f"{_TABLE}.",
    ".sqlite": f"{_TABLE}.",
    ".feather": "write it as Parquet, for example with pandas.read_feather(...).to_parquet(...).",
    ".vtu": "save the points as CSV, in ParaView by File > Save Data.",
}
ELSEWHERE |= {
    ".jsonl": ELSEWHERE[".json"],
    ".ndjson": ELSEWHERE[".json"],
    ".pickle": ELSEWHERE[".pkl"],
}
ELSEWHERE |= {".vtk": ELSEWHERE[".vtu"], ".vtp": ELSEWHERE[".vtu"], ".foam": ELSEWHERE[".vtu"]}


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Every `InputError` inside starts with the name of the file, and the system's become such."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except OSError as error:
        raise InputError(
            f"{path}: the system refuses ({error.strerror or error}); check the path and its "
            "permissions."
        ) from None


@contextmanager
def understood(kind: str) -> Iterator[None]:
    """Whatever a file library raises on a broken file becomes an `InputError`."""
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
        raise InputError(f"there is no such file.{_close_names(path)}")


def _close_names(path: Path) -> str:
    if not path.parent.is_dir():
        return f" Not even the folder {path.parent} exists."
    close = difflib.get_close_matches(path.name, os.listdir(path.parent), n=3)
    return f" In the same folder: {', '.join(close)}." if close else " Check the path."


def check_suffix(path: Path, known: Iterable[str]) -> str:
    """The suffix in small letters, or an error that lists the known ones."""
    suffix = path.suffix.lower()
    if suffix in PACKED and suffix not in known:  # of what is packed in it
        suffix = path.with_suffix("").suffix.lower()
    known = tuple(known)
    if suffix in ELSEWHERE and suffix not in known and ".txt" in known:  # who reads, not who writes
        raise InputError(f"the ending {suffix!r}: {ELSEWHERE[suffix]}")
    if suffix not in known:
        ending = f"the ending {path.suffix!r} is unknown" if suffix else "the name has no ending"
        known = sorted(known)
        hint = (
            ""
            if suffix or ".txt" not in known
            else f" A table as text may be called {path.name}.txt."
        )
        raise InputError(f"{ending}; known are {', '.join(known)}.{hint}")
    return suffix


@contextmanager
def written(path: Path) -> Iterator[Path]:
    """A path to write to; it takes the place of `path` when all went well."""
    if path.is_dir():
        raise InputError("this is a folder; name a file in it.")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist; create it first.")
    try:
        with in_one_piece(path) as temporary:
            yield temporary
    except (OSError, RuntimeError) as error:  # RuntimeError: HDF5, when it cannot close its file
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"could not be written ({reason}); nothing was left behind. Make room, or name another "
            "folder."
        ) from None


def need(package: str, what_for: str, extra: str = "files") -> InputError:
    return InputError(
        f"{what_for} needs the package {package}: pip install 'physics-guided-transformer[{extra}]'"
    )
