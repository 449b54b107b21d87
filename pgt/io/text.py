"""Tables as text: CSV, TSV and their relatives.

One heading line, then one row per line. Cells are separated as in the heading: by commas,
semicolons, tabs, or else spaces. Lines that start with # are comments. Text is UTF-8, numbers have
a decimal point; an empty cell, NA, NaN, N/A, null or None is a missing value.
"""

import csv
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from pgt.ground.errors import InputError
from pgt.ground.registry import register
from pgt.io.columns import Columns, check_count, check_present

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs"}
MISSING = {"", "na", "nan", "n/a", "null", "none"}
BATCH = 1 << 11  # rows split at once; many more at a time keep the garbage collector busy
Line = tuple[int, str]
_QUOTED = re.compile(r'"[^"]*"')
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")


@register(".csv", ".tsv", ".txt", ".dat", kind="reader")
def read(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """The columns `coords` and `others` of a text table."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            return _read(_lines(file), coords + others)
    except UnicodeDecodeError:
        raise _encoding_error(path) from None


def _lines(file: Iterable[str]) -> Iterator[Line]:
    """Numbered lines without blank ones and comments."""
    for number, line in enumerate(file, 1):
        if line.lstrip()[:1] not in ("", "#"):
            yield number, line


def _read(lines: Iterator[Line], wanted: tuple[str, ...]) -> Columns:
    heading, first = next(lines, None), next(lines, None)
    if heading is None:
        raise InputError("the file is empty; write one heading line with the column names first.")
    separator = _separator(heading, first)
    names = [cell.strip() for cell in _cells(*heading, separator)]
    _check_heading(heading[0], names)
    check_present(wanted, filter(None, names))
    if first is None:
        raise InputError(f"line {heading[0]} is the heading, and no row follows it.")
    places = {name: names.index(name) for name in wanted}
    parts, numbers = {name: [] for name in wanted}, []
    for batch in _batches(itertools.chain([first], lines)):
        at, rows = _rows(batch, separator, heading[0], len(names))
        numbers.append(at)
        check_count(BATCH * (len(numbers) - 1) + len(at))
        for name, place in places.items():
            parts[name].append(_numbers([row[place] for row in rows], at, name))
    values = {name: np.concatenate(columns) for name, columns in parts.items()}
    return Columns(values, lines=np.concatenate(numbers))


def _batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while batch := list(itertools.islice(lines, BATCH)):
        yield batch


def _separator(heading: Line, first: Line | None) -> str:
    """The one character that separates the names in the heading; a space stands for any blanks."""
    bare = _QUOTED.sub("", heading[1])
    found = [mark for mark in SEPARATORS if mark in bare]
    if len(found) > 1:  # all but one belong to the names, as in "u, m/s"
        row = _QUOTED.sub("", first[1]) if first else ""
        fitting = [mark for mark in found if bare.count(mark) == row.count(mark)]
        if len(fitting) != 1:
            kinds = " and ".join(SEPARATORS[mark] for mark in found)
            raise InputError(
                f"line {heading[0]}: the heading holds {kinds}, so it is unclear which separate "
                "the cells. Use one kind, and put names that contain it in quotation marks."
            )
        found = fitting
    return found[0] if found else " "


def _cells(number: int, line: str, separator: str) -> list[str]:
    if separator == " ":
        return line.split()
    if '"' not in line:
        return line.rstrip("\n").split(separator)
    try:
        (cells,) = csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True)
    except (csv.Error, ValueError):
        raise InputError(
            f"line {number}: the quotation marks do not enclose whole cells of this line. Close "
            "or remove them."
        ) from None
    return cells


def _check_heading(number: int, names: list[str]) -> None:
    if all(_is_number(name) for name in names if name):
        raise InputError(
            f"line {number} holds numbers where the column names should stand. Write a heading "
            "line first, such as x,t,u (without #, which marks comments)."
        )
    for name in names:
        if name and names.count(name) > 1:
            raise InputError(f"line {number}: two columns are named {name!r}; rename one of them.")


def _rows(batch: list[Line], separator: str, heading: int, width: int):
    rows = [_cells(number, line, separator) for number, line in batch]
    if set(map(len, rows)) != {width}:
        number, row = next((n, r) for (n, _), r in zip(batch, rows, strict=True) if len(r) != width)
        hint = " If the numbers have decimal commas, write 0.5 for 0,5."
        raise InputError(
            f"line {number} has {len(row)} cell(s), the heading in line {heading} has {width}, "
            f"separated by {SEPARATORS.get(separator, 'spaces')}. Give every row one cell per "
            f"column.{hint if separator == ',' and len(row) > width else ''}"
        )
    return np.array([number for number, _ in batch]), rows


def _numbers(cells: list[str], lines: np.ndarray, name: str) -> np.ndarray:
    together = "".join(cells)
    if together.isascii() and "_" not in together:  # float() also takes 1_000 and other digits
        try:
            return np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:  # a missing value, or text: look at every cell
            pass
    return np.array([_number(c, n, name) for c, n in zip(cells, lines.tolist(), strict=True)])


def _number(cell: str, line: int, name: str) -> float:
    text = cell.strip()
    if text.lower() in MISSING:
        return np.nan
    if _is_number(text):
        return float(text)
    if _DECIMAL_COMMA.fullmatch(text):
        advice = f"Write a decimal point: {text.replace(',', '.')}."
    else:
        advice = "Correct it, or leave the cell empty to hide the reading."
    shown = text if len(text) <= 40 else text[:40] + "…"
    raise InputError(f"line {line}, column {name!r}: {shown!r} is not a number. {advice}")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text


def _encoding_error(path: Path) -> InputError:
    with path.open("rb") as file:
        if file.read(2) in (b"\xff\xfe", b"\xfe\xff"):
            return InputError("the text is UTF-16; save the file as UTF-8.")
        file.seek(0)
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                byte = line[error.start]
                return InputError(
                    f"line {number} is not UTF-8 text (byte 0x{byte:02x}); save the file as UTF-8."
                )
    return InputError("the text is not UTF-8; save the file as UTF-8.")
