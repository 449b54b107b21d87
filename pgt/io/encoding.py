"""From bytes to lines: compression, encoding, cells of several lines, and lines that are too long."""

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
from pgt.io.column_aliases import AXIS_ALIASES, PRESSURE_NAMES, TEMPERATURE_NAMES

MAX_LINE_CHARACTERS = 4_000_000  # a row of 10,000 cells has a twentieth of it
_CHUNK_BYTES = 1 << 20
_HEADING_BYTES = 4000  # the bytes in which the words of a heading are sought
_MAX_LINES_PER_CELL = 20
_OPENS_CELL = re.compile(r'(?:^|[,;\t|])\s*"[^"]*$')
_CLOSES_CELL = re.compile(r'[^"]*"\s*(?:[,;\t|]|$)')
GZIP, ZIP, BZIP2, XZ = b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00"
# The first bytes of files that are no tables, and what to do with them.
UNREADABLE_STARTS = {
    b"%PDF": "this is a PDF; export the table as CSV.",
    b"{\\rtf": "this is a document in RTF; save it as plain text.",
    b"SQLite format 3": "this is a database of SQLite; export the table as CSV.",
    b"\x89HDF": "this is an HDF5 file; give it the ending .h5.",
    b"PAR1": "this is a Parquet file; give it the ending .parquet.",
    b"# vtk DataFile": "this is a file of VTK; save the points as CSV, in ParaView by File > Save Data.",
    b"TDSm": "this is a TDMS file of LabVIEW; export it as CSV or text.",
    b"\x93NUMPY": "this is an array of NumPy without names; save x, t, ... with numpy.savez as .npz.",
    b"\xd0\xcf\x11\xe0": "this is an old workbook of Excel, or one with a password; save it as .xlsx.",
    b"version https://git-lfs": "this is a pointer to a file of Git LFS; fetch it with `git lfs pull`.",
}
_MARKUP_START = re.compile(rb"\s*<(!doctype html|html|\?xml|table)", re.IGNORECASE)
_JSON_START = re.compile(rb"\s*(\{\s*\"|\[\s*[\[{])")
JSON_REMEDY = (
    "JSON is not read; write it as CSV, for example with pandas: "
    'pandas.read_json("a.json").to_csv("a.csv"), with lines=True where each line is an object.'
)
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
ENCODING_NAMES = {
    "utf-32": "UTF-32",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "cp1252": "Latin-1",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "gb18030": "GB 18030",
    "shift_jis": "Shift JIS",
    "big5": "Big5",
    "euc_kr": "EUC-KR",
}
# Encodings in which nearly any bytes are text: words of their language in the heading decide.
_LANGUAGE_ENCODINGS = ("cp1250", "cp1251", "gb18030", "shift_jis", "big5", "euc_kr")
_FOREIGN_WORDS = {
    word
    for words in (*AXIS_ALIASES.values(), TEMPERATURE_NAMES, PRESSURE_NAMES)
    for word in words
    if not word.isascii()
}
_COMPRESSIONS = {GZIP: "gzip", ZIP: "ZIP", BZIP2: "bzip2", XZ: "xz"}
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
    with _explain_damage(packed), _open_unpacked(path, packed) as raw:
        encoding = _detect_encoding(raw)
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
        raise InputError(JSON_REMEDY)


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
    openers = {
        "gzip": gzip.GzipFile,
        "bzip2": bz2.BZ2File,
        "xz": lzma.LZMAFile,
        "ZIP": _open_only_member,
    }
    if packed is None:
        return path.open("rb")
    return io.BufferedReader(
        _BoundedStream(openers[packed](path), max_unpacked_bytes(path, MAX_UNPACKED_BYTES)),
        _CHUNK_BYTES,
    )


def max_unpacked_bytes(path: Path, largest: int) -> int:
    """The number of bytes to which a packed table may unpack."""
    return min(largest, max(HARMLESS_BYTES, MAX_EXPANSION * path.stat().st_size))


class _BoundedStream(io.RawIOBase):
    """The unpacked bytes of a file, of which no more than a limit are read."""

    def __init__(self, inner: io.BufferedIOBase, limit: int):
        self.inner, self.limit = inner, limit

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self.inner.seek(offset, whence)

    def readinto(self, buffer) -> int:
        content = self.inner.read(len(buffer))
        if self.inner.tell() > self.limit:
            raise InputError(
                f"the file unpacks to more than {self.limit >> 20:,} MiB, too much for a table of its "
                "size; take a part of it, or unpack it yourself."
            )
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self.inner.close()
        super().close()


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


def _detect_encoding(file: io.BufferedIOBase) -> str:
    """UTF-8 if every byte fits; else an encoding of Windows, or Latin-1, which always fits."""
    start = file.read(_CHUNK_BYTES)
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if start.startswith(mark):
            return encoding
    if wide := _detect_utf16(start):
        return wide
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        chunk = start
        while chunk:
            decoder.decode(chunk)
            chunk = file.read(_CHUNK_BYTES)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return _detect_by_words(start) or ("cp1252" if _is_windows(start) else "latin-1")
    return "utf-8"


def _detect_by_words(start: bytes) -> str | None:
    """The encoding in which most words of the heading are known; None for those of Western Europe."""
    counts = {}
    for encoding in ("cp1252", *_LANGUAGE_ENCODINGS):
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(start[:_HEADING_BYTES]).lower()
        except UnicodeDecodeError:
            continue
        counts[encoding] = sum(word in text for word in _FOREIGN_WORDS)
    best = max(counts, key=counts.__getitem__, default="cp1252")
    return best if counts.get(best) and best != "cp1252" else None


def _detect_utf16(start: bytes) -> str | None:
    """UTF-16 without a byte order mark: nearly every second byte is zero."""
    even, odd = start[0:2000:2], start[1:2000:2]
    if len(odd) >= 4 and odd.count(0) > 0.9 * len(odd) and not even.count(0):
        return "utf-16-le"
    if len(odd) >= 4 and even.count(0) > 0.9 * len(even) and not odd.count(0):
        return "utf-16-be"
    return None


def _is_windows(start: bytes) -> bool:
    try:
        start.decode("cp1252")
    except UnicodeDecodeError:  # five bytes are undefined there
        return False
    return True


def iterate_lines(file: io.TextIOBase) -> Iterator[Line]:
    """The numbered lines of a text. Lines of one cell in quotation marks are joined by blanks."""
    waiting: list[Line] = []  # lines of a cell that is not closed yet
    for number, line in _iterate_short_lines(file):
        is_odd = line.count('"') % 2 == 1
        if waiting and is_odd and _CLOSES_CELL.match(line):
            yield waiting[0][0], " ".join([*(text.rstrip("\r\n") for _, text in waiting), line])
            waiting = []
        elif waiting and not is_odd and len(waiting) < _MAX_LINES_PER_CELL:
            waiting.append((number, line))
        else:
            yield from waiting
            waiting = [(number, line)] if is_odd and _OPENS_CELL.search(line) else []
            yield from () if waiting else ((number, line),)
    yield from waiting


def _iterate_short_lines(file: io.TextIOBase) -> Iterator[Line]:
    for number, line in enumerate(iter(partial(file.readline, MAX_LINE_CHARACTERS + 1), ""), 1):
        if len(line) > MAX_LINE_CHARACTERS:
            raise InputError(
                f"line {number} has more than {MAX_LINE_CHARACTERS:,} characters; a table has one row "
                "per line."
            )
        yield number, line
