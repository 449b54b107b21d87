"""From bytes to lines: compression, encoding, and lines that are too long to be a table's."""

import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pgt.ground.errors import InputError

LONGEST_LINE = 4_000_000  # characters; a row of 10,000 cells has a twentieth of it
CHUNK = 1 << 20
GZIP, ZIP = b"\x1f\x8b", b"PK\x03\x04"
BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
SPOKEN = {
    "utf-32": "UTF-32",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Latin-1",
}

Line = tuple[int, str]


@contextmanager
def opened(path: Path) -> Iterator[tuple[io.TextIOBase, list[str]]]:
    """The text of a file, unpacked and decoded, and what of that is worth saying."""
    with path.open("rb") as file:
        start = file.read(4)
    is_packed = start[:2] == GZIP
    if start == ZIP:
        raise InputError(
            "this is a ZIP archive, or a workbook: unpack it, or give it the ending .xlsx."
        )
    with _in_words(), _unpacked(path, is_packed) as raw:
        encoding = _encoding(raw)
        raw.seek(0)
        said = ["gzip"] if is_packed else []
        said += [SPOKEN[encoding]] if encoding in SPOKEN else []
        with io.TextIOWrapper(raw, encoding, errors="strict") as text:  # type: ignore[arg-type]
            yield text, said


@contextmanager
def _in_words() -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            f"the gzip file is cut short or damaged ({error}); write it anew."
        ) from None
    except UnicodeError as error:
        raise InputError(f"the text is damaged ({error}); save the file as UTF-8.") from None


def _unpacked(path: Path, is_packed: bool) -> io.BufferedIOBase:
    return gzip.GzipFile(path) if is_packed else path.open("rb")


def _encoding(file: io.BufferedIOBase) -> str:
    """UTF-8 if every byte fits; else what loggers under Windows write, which fits always."""
    start = file.read(CHUNK)
    for mark, encoding in BOMS.items():
        if start.startswith(mark):
            return encoding
    if wide := _without_mark(start):
        return wide
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        chunk = start
        while chunk:
            decoder.decode(chunk)
            chunk = file.read(CHUNK)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return "cp1252" if _is_windows(start) else "latin-1"
    return "utf-8"


def _without_mark(start: bytes) -> str | None:
    """UTF-16 whose mark was cut off: nearly every second byte is zero."""
    even, odd = start[0:2000:2], start[1:2000:2]
    if len(odd) >= 4 and odd.count(0) > 0.9 * len(odd) and not even.count(0):
        return "utf-16-le"
    if len(odd) >= 4 and even.count(0) > 0.9 * len(even) and not odd.count(0):
        return "utf-16-be"
    return None


def _is_windows(start: bytes) -> bool:
    try:
        start.decode("cp1252")
    except UnicodeDecodeError:  # five of its bytes mean nothing
        return False
    return True


def numbered(file: io.TextIOBase) -> Iterator[Line]:
    """The lines from 1 on, each of a length that a table may have."""
    for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), ""), 1):
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"line {number} has more than {LONGEST_LINE:,} characters; a table has one row per "
                "line."
            )
        yield number, line
