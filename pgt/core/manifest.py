"""The checksums of every file of a folder, in a file beside them: what has changed since is found.

`sha256sum -c checksums.sha256` reads it, too. Its last line is the checksum of the others.
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
# In the folder, so that no list can name a file elsewhere.
_NAME = re.compile(r"[^/\\\n.][^/\\\n]*(/[^/\\\n.][^/\\\n]*)*")
_LINE = re.compile(rf"(?P<sum>[0-9a-f]{{64}})  (?P<name>{_NAME.pattern})")
# A file is read in pieces of so many bytes.
_BYTES_AT_ONCE = 1 << 20


def write_manifest(folder: Path, names: Iterable[str]) -> None:
    """Write the checksums of these files of `folder` down, beside those that are known. A name is a path
    in the folder, with slashes; hidden files are left out, and names that no line can hold."""
    anew = {name: checksum(folder / name) for name in names if _NAME.fullmatch(name)}
    lines = [f"{code}  {name}\n" for name, code in sorted((read_manifest(folder) | anew).items())]
    text = "".join(lines)
    with in_one_piece(folder / NAME) as path:
        path.write_text(f"{text}{_LAST}{_code(text.encode())}\n", encoding="utf-8")


@contextmanager
def update_manifest(folder: Path) -> Iterator[None]:
    """Where the folder has a list, the files that are written into it meanwhile get their checksums."""
    is_listed = (folder / NAME).is_file()
    before = file_stamps(folder) if is_listed else {}
    yield
    if is_listed:
        write_manifest(folder, changed_since(folder, before))


def file_stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """Which files lie in the folder, with something that changes when they are written anew."""
    found = {path.name: path.stat() for path in folder.iterdir() if path.is_file()}
    return {name: (stat.st_mtime_ns, stat.st_ino) for name, stat in found.items()}


def changed_since(folder: Path, before: Mapping[str, tuple[int, int]]) -> list[str]:
    """The files of the folder that were written since `stamps` gave `before`."""
    return sorted(name for name, stamp in file_stamps(folder).items() if before.get(name) != stamp)


def read_manifest(folder: Path) -> dict[str, str]:
    """Checksums by the name of the file; empty where none were written."""
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
    """Files that are not what was written; one that is no longer there is none of them. `below`: only
    those whose path in the folder begins so."""
    known = {n: code for n, code in read_manifest(folder).items() if n.startswith(below)}
    return [
        n for n, code in known.items() if (folder / n).is_file() and checksum(folder / n) != code
    ]


def require_unchanged(folder: Path, *, editable: Iterable[str] = (), below: str = "") -> list[str]:
    """Raise where a file of the folder is damaged; which of the `editable` ones were changed."""
    changed = changed_files(folder, below)
    for name in changed:
        if name not in editable:
            raise InputError(f"{folder / name}: {DAMAGED}")
    return changed


def require_intact(path: Path) -> None:
    """Raise where a manifest beside the file says that it was another one; the caller names the file."""
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
