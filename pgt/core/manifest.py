"""A file with the checksums of all files of a folder, which shows what has changed since.

`sha256sum -c checksums.sha256` reads it, too. Its last line is the checksum of the lines above.
"""

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pgt.core.errors import InputError
from pgt.core.files import in_one_piece

NAME = "checksums.sha256"
DAMAGED = (
    f"damaged or changed since it was written: its checksum in {NAME} does not match. Use another copy, "
    "or delete the file to go on without it."
)
_LAST = "# of the lines above: "
# Names are relative to the folder, so that no manifest can name a file elsewhere.
_NAME = re.compile(r"[^/\\\n.][^/\\\n]*(/[^/\\\n.][^/\\\n]*)*")
_LINE = re.compile(rf"(?P<sum>[0-9a-f]{{64}})  (?P<name>{_NAME.pattern})")
# Files are read in pieces of this size.
_BYTES_AT_ONCE = 1 << 20


def write_manifest(folder: Path, names: Iterable[str]) -> None:
    """Write the checksums of these files of `folder` to its manifest, and keep those of other files.

    A name is a path in the folder, with slashes. Hidden files and names that no line can hold are left
    out.
    """
    anew = {name: checksum(folder / name) for name in names if _NAME.fullmatch(name)}
    lines = [f"{code}  {name}\n" for name, code in sorted((read_manifest(folder) | anew).items())]
    text = "".join(lines)
    with in_one_piece(folder / NAME) as path:
        path.write_text(f"{text}{_LAST}{_code(text.encode())}\n", encoding="utf-8")


@contextmanager
def update_manifest(folder: Path) -> Iterator[None]:
    """A context after which the manifest, if there is one, has the checksums of files written inside."""
    is_listed = (folder / NAME).is_file()
    before = file_stamps(folder) if is_listed else {}
    yield
    if is_listed:
        write_manifest(folder, changed_since(folder, before))


def file_stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """A stamp for each file of the folder, which changes when the file is written again."""
    found = {path.name: path.stat() for path in folder.iterdir() if path.is_file()}
    return {name: (stat.st_mtime_ns, stat.st_ino) for name, stat in found.items()}


def changed_since(folder: Path, before: Mapping[str, tuple[int, int]]) -> list[str]:
    """The files of the folder that were written since `file_stamps` returned `before`."""
    return sorted(name for name, stamp in file_stamps(folder).items() if before.get(name) != stamp)


def read_manifest(folder: Path) -> dict[str, str]:
    """The checksums by name of file; empty without a manifest."""
    path = folder / NAME
    if not path.is_file():
        return {}
    text = path.read_bytes().decode("utf-8", errors="replace")
    lines, found, last = text.rpartition(_LAST)
    matches = [_LINE.fullmatch(line) for line in lines.splitlines()]
    if not found or last != f"{_code(lines.encode())}\n" or None in matches:
        raise InputError(
            f"{path}: damaged, so that the files beside it cannot be checked; use another copy of the "
            "folder, or delete this file to go on unchecked."
        )
    return {match["name"]: match["sum"] for match in matches if match}


def changed_files(folder: Path, below: str = "") -> list[str]:
    """The files that differ from their checksums; missing files are not among them.

    `below` restricts them to paths that begin so.
    """
    known = {n: code for n, code in read_manifest(folder).items() if n.startswith(below)}
    return [
        n for n, code in known.items() if (folder / n).is_file() and checksum(folder / n) != code
    ]


def require_unchanged(folder: Path, *, editable: Iterable[str] = (), below: str = "") -> list[str]:
    """The changed files among the `editable` ones; raises where another file has changed."""
    changed = changed_files(folder, below)
    for name in changed:
        if name not in editable:
            raise InputError(f"{folder / name}: {DAMAGED}")
    return changed


def require_intact(path: Path) -> None:
    """Raise where the file differs from its checksum in the manifest; the caller names the file."""
    known = read_manifest(path.parent)
    if path.name in known and checksum(path) != known[path.name]:
        raise InputError(DAMAGED)


def checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    code = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_BYTES_AT_ONCE):
            code.update(piece)
    return code.hexdigest()


def _code(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
