"""From bytes to lines: compression, encoding, and lines that are too long to be a table's."""

import bz2
import codecs
import gzip
import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from pgt.ground.errors import InputError
from pgt.io.called import CALLED, PRESSURES, TEMPERATURES

LONGEST_LINE = 4_000_000  # characters; a row of 10,000 cells has a twentieth of it
CHUNK = 1 << 20
LOOKED_AT = 4000  # bytes in which a heading stands
HIGHEST_CELL = 20  # lines of one cell
_OPENS = re.compile(r'(?:^|[,;\t|])\s*"[^"]*$')
_CLOSES = re.compile(r'[^"]*"\s*(?:[,;\t|]|$)')
GZIP, ZIP, BZIP2, XZ = b"\x1f\x8b", b"PK\x03\x04", b"BZh", b"\xfd7zXZ\x00"
# How other files begin, and what to do with them.
OTHERS = {
    b"%PDF": "this is a PDF; export the table as CSV.",
    b"{\\rtf": "this is a document in RTF; save it as plain text.",
    b"SQLite format 3": "this is a database of SQLite; export the table as CSV.",
    b"\x89HDF": "this is an HDF5 file; give it the ending .h5.",
    b"PAR1": "this is a Parquet file; give it the ending .parquet.",
    b"# vtk DataFile": "this is a file of VTK; save the points as CSV, in ParaView by File > Save Data.",
    b"TDSm": "this is a TDMS file of LabVIEW; export it as CSV or text.",
    b"\x93NUMPY": "this is an array of NumPy without names; save x, t, ... with numpy.savez as .npz.",
    b"\xd0\xcf\x11\xe0": "this is an old workbook of Excel, or one with a password; save it as .xlsx.",
    b"version https://git-lfs": "this stands for a file of Git LFS; fetch it with `git lfs pull`.",
}
_MARKUP = re.compile(rb"\s*<(!doctype html|html|\?xml|table)", re.IGNORECASE)
_JSON = re.compile(rb"\s*(\{\s*\"|\[\s*[\[{])")
JSON = (
    "JSON is not read; write it as CSV, for example with pandas: "
    'pandas.read_json("a.json").to_csv("a.csv"), with lines=True where each line is an object.'
)
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
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "gb18030": "GB 18030",
    "shift_jis": "Shift JIS",
    "big5": "Big5",
    "euc_kr": "EUC-KR",
}
# Encodings in which nearly any bytes are text: that a heading has a word of its language tells.
_OF_LANGUAGES = ("cp1250", "cp1251", "gb18030", "shift_jis", "big5", "euc_kr")
_SHOWN = {
    word
    for words in (*CALLED.values(), TEMPERATURES, PRESSURES)
    for word in words
    if not word.isascii()
}

PACKED = {GZIP: "gzip", ZIP: "ZIP", BZIP2: "bzip2", XZ: "xz"}
LARGEST = 2 << 30  # bytes of what is in an archive
# Tables unpack to 3 to 50 times their size, a file that was made to fill the disk to 1000 times and more.
# What stays below the second number, in bytes, does no harm.
MOST_UNPACKED, HARMLESS = 200, 64 << 20

Line = tuple[int, str]


@contextmanager
def opened(path: Path) -> Iterator[tuple[io.TextIOBase, list[str]]]:
    """The text of a file, unpacked and decoded, and what of that is worth saying."""
    with path.open("rb") as file:
        start = file.read(100)
    check_is_no_other(start)
    packed = next((word for mark, word in PACKED.items() if start.startswith(mark)), None)
    with _in_words(packed), _unpacked(path, packed) as raw:
        encoding = _encoding(raw)
        raw.seek(0)
        said = [packed] if packed else []
        said += [SPOKEN[encoding]] if encoding in SPOKEN else []
        with io.TextIOWrapper(raw, encoding, errors="strict") as text:  # type: ignore[arg-type]
            yield text, said


def check_is_no_other(start: bytes) -> None:
    """Refuse what is no table, whatever its name says."""
    for mark, words in OTHERS.items():
        if start.startswith(mark):
            raise InputError(words)
    if _MARKUP.match(start):
        raise InputError(
            "this is a page of HTML or XML, and no table; open it in a browser: it may say why."
        )
    if _JSON.match(start):
        raise InputError(JSON)


@contextmanager
def _in_words(packed: str | None) -> Iterator[None]:
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError, zipfile.BadZipFile) as error:
        raise _damaged(packed, error) from None
    except UnicodeError as error:
        raise InputError(f"the text is damaged ({error}); save the file as UTF-8.") from None
    except (OSError, RuntimeError) as error:
        if packed is None or getattr(error, "errno", None) is not None:  # the system's
            raise
        raise _damaged(
            packed, error
        ) from None  # bz2: its data; zipfile: an unknown method, a password


def _damaged(packed: str | None, error: Exception) -> InputError:
    return InputError(
        f"the {packed} file cannot be unpacked, or is cut short or damaged ({error}); write it anew."
    )


def _unpacked(path: Path, packed: str | None) -> io.BufferedIOBase:
    openers = {
        "gzip": gzip.GzipFile,
        "bzip2": bz2.BZ2File,
        "xz": lzma.LZMAFile,
        "ZIP": _only_member,
    }
    if packed is None:
        return path.open("rb")
    return io.BufferedReader(_Bounded(openers[packed](path), most_unpacked(path, LARGEST)), CHUNK)


def most_unpacked(path: Path, largest: int) -> int:
    """To how many bytes a packed table may unpack."""
    return min(largest, max(HARMLESS, MOST_UNPACKED * path.stat().st_size))


class _Bounded(io.RawIOBase):
    """What is unpacked, up to a number of bytes: a small file may unpack to more than any disk holds."""

    def __init__(self, inner: io.BufferedIOBase, most: int):
        self.inner, self.most = inner, most

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self.inner.seek(offset, whence)

    def readinto(self, buffer) -> int:
        content = self.inner.read(len(buffer))
        if self.inner.tell() > self.most:
            raise InputError(
                f"the file unpacks to more than {self.most >> 20:,} MiB, as no table of its size does; "
                "take a part of it, or unpack it yourself."
            )
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        self.inner.close()
        super().close()


def _only_member(path: Path) -> io.BufferedIOBase:
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
        return _of_language(start) or ("cp1252" if _is_windows(start) else "latin-1")
    return "utf-8"


def _of_language(start: bytes) -> str | None:
    """The encoding in which most words of headings are those of axes and fields; None: it has none."""
    counts = {}
    for encoding in ("cp1252", *_OF_LANGUAGES):
        try:
            text = codecs.getincrementaldecoder(encoding)().decode(start[:LOOKED_AT]).lower()
        except UnicodeDecodeError:
            continue
        counts[encoding] = sum(word in text for word in _SHOWN)
    best = max(counts, key=counts.__getitem__, default="cp1252")
    return best if counts.get(best) and best != "cp1252" else None


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
    """The lines from 1 on, each of a length that a table may have. A cell in quotation marks may hold the
    ends of lines, as that of a spreadsheet does: such lines are one, with blanks for those ends."""
    waiting: list[Line] = []  # the first of them opens a cell that none has closed yet
    for number, line in _short_lines(file):
        is_odd = line.count('"') % 2 == 1
        if waiting and is_odd and _CLOSES.match(line):
            yield waiting[0][0], " ".join([*(text.rstrip("\r\n") for _, text in waiting), line])
            waiting = []
        elif waiting and not is_odd and len(waiting) < HIGHEST_CELL:
            waiting.append((number, line))
        else:
            yield from waiting
            waiting = [(number, line)] if is_odd and _OPENS.search(line) else []
            yield from () if waiting else ((number, line),)
    yield from waiting


def _short_lines(file: io.TextIOBase) -> Iterator[Line]:
    for number, line in enumerate(iter(partial(file.readline, LONGEST_LINE + 1), ""), 1):
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"line {number} has more than {LONGEST_LINE:,} characters; a table has one row per "
                "line."
            )
        yield number, line
