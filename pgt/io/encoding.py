"""From bytes to lines of text: compression, encoding, and lines that are too long."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pgt.core.errors import InputError

MAX_LINE_CHARACTERS = 4_000_000  # a row of 10,000 cells has a twentieth of it
_CHUNK_BYTES = 1 << 20
ZIP = b"PK\x03\x04"
# The first bytes of files that are no tables, and what to do with them.
UNREADABLE_STARTS = {
    b"%PDF": "this is a PDF; export the table as CSV.",
    b"SQLite format 3": "this is a database of SQLite; export the table as CSV.",
    b"\x89HDF": "this is an HDF5 file; give it the ending .h5.",
    b"PAR1": "this is a Parquet file; give it the ending .parquet.",
    b"# vtk DataFile": "this is a file of VTK; save the points as CSV, in ParaView by File > Save Data.",
    b"\x93NUMPY": "this is an array of NumPy without names; save x, t, ... with numpy.savez as .npz.",
    b"\xd0\xcf\x11\xe0": "this is an old workbook of Excel, or one with a password; save it as .xlsx.",
    b"version https://git-lfs": "this is a pointer to a file of Git LFS; fetch it with `git lfs pull`.",
    b'"TOB': "this is a binary table of Campbell (TOB); convert it to TOA5, as CardConvert does.",
}
_MARKUP_START = re.compile(rb"\s*<(!doctype html|html|\?xml|table)", re.IGNORECASE)
_JSON_START = re.compile(rb"\s*(\{\s*\"|\[\s*[\[{])")
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
ENCODING_NAMES = {"utf-32": "UTF-32", "utf-16": "UTF-16", "cp1252": "Latin-1"}
_COMPRESSIONS = {b"\x1f\x8b": "gzip", ZIP: "ZIP", b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz"}
MAX_UNPACKED_BYTES = 2 << 30
# Tables unpack to 3 to 50 times their size, files made to fill a disk to 1000 times and more. Files that
# unpack to less than the second number, in bytes, are harmless.
MAX_EXPANSION, HARMLESS_BYTES = 200, 64 << 20
Line = tuple[int, str]  # its number, from 1 on, and its text
Lines = tuple[Sequence[Line], Iterator[Line]]  # the first lines of a file, and the rest


@contextmanager
def open_text_file(path: Path) -> Iterator[tuple[io.TextIOBase, list[str]]]:
    """The text of a file, unpacked and decoded, with notes on both."""
    with path.open("rb") as file:
        start = file.read(100)
    check_file_start(start)
    packed = next((word for mark, word in _COMPRESSIONS.items() if start.startswith(mark)), None)
    limit = max_unpacked_bytes(path, MAX_UNPACKED_BYTES) if packed else None
    with _explain_damage(packed), _open_unpacked(path, packed) as raw:
        encoding = _detect_encoding(raw, limit)
        raw.seek(0)
        notes = [packed] if packed else []
        notes += [ENCODING_NAMES[encoding]] if encoding in ENCODING_NAMES else []
        with io.TextIOWrapper(raw, encoding, errors="strict") as text:  # type: ignore[arg-type]
            yield text, notes


def check_file_start(start: bytes) -> None:
    """Refuse files that begin like no table, whatever their name."""
    for mark, words in UNREADABLE_STARTS.items():
        if start.startswith(mark):
            raise InputError(words)
    if _MARKUP_START.match(start):
        raise InputError(
            "this is a page of HTML or XML, and no table; open it in a browser to see what it says."
        )
    if _JSON_START.match(start):
        raise InputError(
            "JSON is not read; write it as CSV, for example with pandas: "
            'pandas.read_json("a.json").to_csv("a.csv"), with lines=True where each line is an object.'
        )


@contextmanager
def _explain_damage(packed: str | None) -> Iterator[None]:
    """Errors of unpacking and decoding become an `InputError`; those of the system pass."""
    try:
        yield
    except UnicodeError as error:
        raise InputError(f"the text is damaged ({error}); save the file as UTF-8.") from None
    except (
        EOFError,
        OSError,
        RuntimeError,
        zlib.error,
        lzma.LZMAError,
        zipfile.BadZipFile,
    ) as error:
        # bz2 raises an OSError without a number, zipfile a RuntimeError for a password.
        is_damage = not isinstance(error, OSError | RuntimeError) or (
            packed is not None and getattr(error, "errno", None) is None
        )
        if not is_damage:
            raise
        raise InputError(
            f"the {packed} file cannot be unpacked, or is cut short or damaged ({error}); write it anew."
        ) from None


def _open_unpacked(path: Path, packed: str | None) -> io.BufferedIOBase:
    if packed is None:
        return path.open("rb")
    openers = {
        "gzip": gzip.GzipFile,
        "bzip2": bz2.BZ2File,
        "xz": lzma.LZMAFile,
        "ZIP": _open_only_member,
    }
    return openers[packed](path)


def max_unpacked_bytes(path: Path, largest: int) -> int:
    """The number of bytes to which a packed table may unpack."""
    return min(largest, max(HARMLESS_BYTES, MAX_EXPANSION * path.stat().st_size))


def _open_only_member(path: Path) -> io.BufferedIOBase:
    """The only file in an archive."""
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if not name.endswith("/")]
        names = [name for name in names if not name.startswith("__MACOSX/")]
        if "[Content_Types].xml" in names or "mimetype" in names:
            raise InputError("this is a workbook: give it the ending .xlsx, or save it as one.")
        if len(names) != 1:
            raise InputError(
                f"the archive holds {len(names)} files; unpack it, and name one of them."
            )
        return archive.open(names[0])  # type: ignore[return-value]  # outlives the archive


def _detect_encoding(file: io.BufferedIOBase, limit: int | None) -> str:
    """UTF-8 if every byte fits, or as the byte order mark says; else that of Windows, or Latin-1.

    The whole file is read, in parts, and refused where it unpacks to more bytes than the `limit`.
    """
    start = chunk = file.read(_CHUNK_BYTES)
    found = next((e for mark, e in BYTE_ORDER_MARKS.items() if start.startswith(mark)), None)
    if found is None and b"\0" in start[:2]:
        raise InputError("the text seems to be UTF-16 without a byte order mark; save it as UTF-8.")
    decoder, size, is_utf8 = codecs.getincrementaldecoder("utf-8")(), 0, True
    while chunk:
        size += len(chunk)
        if limit is not None and size > limit:
            raise InputError(
                f"the file unpacks to more than {limit >> 20:,} MiB, too much for a table of its size; "
                "take a part of it, or unpack it yourself."
            )
        chunk, last = file.read(_CHUNK_BYTES), chunk
        try:
            if is_utf8 and found is None:
                decoder.decode(last, final=not chunk)
        except UnicodeDecodeError:
            is_utf8 = False
    if found is not None or is_utf8:
        return found or "utf-8"
    try:
        start.decode("cp1252")
    except UnicodeDecodeError:  # five bytes are undefined there
        return "latin-1"
    return "cp1252"


def iterate_lines(file: io.TextIOBase) -> Iterator[Line]:
    """The numbered lines of a text."""
    for number, line in enumerate(iter(partial(file.readline, MAX_LINE_CHARACTERS + 1), ""), 1):
        if len(line) > MAX_LINE_CHARACTERS:
            raise InputError(
                f"line {number} has more than {MAX_LINE_CHARACTERS:,} characters; a table has one row "
                "per line."
            )
        yield number, line
