"""Tables as text: CSV, TSV and their relatives, as loggers write them.

A heading, then one row per line. The separator of cells, the decimal mark, the heading and the encoding
are found in the file. Lines that begin with #, %, // or ! are comments. An empty cell, NA, NaN, N/A,
null or None is a missing value, and so are words such as OVER or ---.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from pgt.core.dialect import SEPARATOR_NAMES, Dialect
from pgt.core.errors import InputError
from pgt.io.columns import check_row_count
from pgt.io.encoding import Line, iterate_lines, open_text_file
from pgt.io.headings import Positions, parse_headings, parse_positions, parse_unit
from pgt.io.layout import (
    TableLayout,
    check_heading,
    check_orientation,
    explain_second_heading,
    find_layout,
    find_table_lines,
    is_content,
    is_fitting_width,
    split_leniently,
    split_line,
)
from pgt.io.selection import CellTable, Converter, name_index
from pgt.io.simulation_text import convert_openfoam_probes, convert_tecplot

BATCH_ROWS = 1 << 14  # rows that are split at once
_ORIENTATION_ROWS = 20  # rows whose first cells show that a table lies on its side
SAMPLE_LINES = 5000  # lines that are read to find the table and the formats of its cells
TEXT_ENDINGS = (
    ".csv",
    ".tsv",
    ".txt",
    ".dat",
    ".asc",
    ".log",
    ".prn",
    ".xy",
    ".vec",
    ".rdb",
    ".zip",
)


@contextmanager
def open_text_table(path: Path, dialect: Dialect) -> Iterator[CellTable]:
    """The table in a text file, which stays open while its columns are loaded."""
    with open_text_file(path) as (file, notes):
        yield _find_text_table(iterate_lines(file), notes, path.name, dialect)


def _find_text_table(
    lines: Iterator[Line], notes: list[str], name: str, dialect: Dialect
) -> CellTable:
    """The table in numbered lines, which are read on when columns are loaded."""
    head: Sequence[Line] = list(itertools.islice(lines, SAMPLE_LINES))
    for convert in (convert_openfoam_probes, convert_tecplot):
        head, lines = convert(head, lines, name)
    kept = find_table_lines(head, dialect)
    layout = find_layout(kept, dialect)
    mark, first = layout.separator, layout.first
    number, text = kept[layout.heading]
    names = split_line(number, text, mark)
    check_heading(number, names, split_leniently(kept[first][1], mark) if kept[first:] else ())
    beginnings = [_first_cell(line, layout) for line in kept[first:][:_ORIENTATION_ROWS]]
    check_orientation(number, names, beginnings)
    if len(kept) <= first:
        raise InputError(
            f"line {number} is the heading, and no row follows it; lines that begin with # are comments."
        )
    units = None if layout.units is None else split_line(*kept[layout.units], mark)
    header = {line.strip() for _, line in kept[:first]}  # a restarted logger writes it again
    body = [line for line in kept[first:] if line[1].strip() not in header]
    more = (line for line in lines if is_content(line[1]) and line[1].strip() not in header)
    reader = _RowReader(itertools.chain(body, more), layout, names, number)
    sample = [reader.cells(line) for line in body]
    return CellTable(
        name_index(parse_headings(names, units), sample),
        sample,
        reader.load,
        (*notes, SEPARATOR_NAMES[mark], *layout.notes),
        _fixed_positions([line for at, line in head if at < number], name),
        name.partition(".")[0],
    )


def _fixed_positions(before: list[str], name: str) -> Positions:
    """Positions that the lines above the heading, or the name of the file, give for all rows."""
    found = parse_positions(name.replace("_", " "))
    conflicting: set[str] = set()  # axes along which lines differ: each belongs to another sensor
    for line in before:
        if any(len(re.findall(rf"\b{axis}\s*=", line)) > 1 for axis in "xyz"):
            continue  # the positions of several columns
        at = (parse_positions(line) or _parse_position_line(line)) if len(line) < 200 else {}
        conflicting |= {axis for axis, value in at.items() if found.get(axis, value) != value}
        found |= at
    return {axis: at for axis, at in found.items() if axis not in conflicting}


def _parse_position_line(line: str) -> Positions:
    """The position in a line of its own: "x [m];0,1", "Position x: 0.1 m"."""
    words = line.strip(" #\t\r\n;,").replace(":", " ").replace(";", " ").replace("\t", " ").split()
    words = words[1:] if words and words[0].lower() in ("position", "pos", "sensor") else words
    if len(words) not in (2, 3) or words[0].lower() not in ("x", "y", "z"):
        return {}
    unit = next((parse_unit(word) for word in words[1:] if parse_unit(word)), None)
    numbers = [word for word in words[1:] if parse_positions(f"x={word}")]
    if len(numbers) != 1:  # several numbers belong to several columns
        return {}
    return {words[0].lower(): (parse_positions(f"x={numbers[0]}")["x"][0], unit)}


def _first_cell(line: Line, layout: TableLayout) -> str:
    cells = split_line(*line, layout.separator) if '"' not in line[1] else []
    return cells[0] if cells else ""


class _RowReader:
    """The rows of a text, split by pandas, each with as many cells as the heading."""

    def __init__(self, lines: Iterator[Line], layout: TableLayout, names: list[str], heading: int):
        self.lines, self.separator = lines, layout.separator
        self.names, self.heading = names, heading
        self.width: int | None = None  # of the first row, which all others share

    def cells(self, line: Line) -> list[str]:
        try:
            return split_line(*line, self.separator)
        except InputError:  # reported when the row is read
            return []

    def load(self, converters: dict[int, Converter]) -> tuple[dict[int, np.ndarray], np.ndarray]:
        parts: dict[int, list[np.ndarray]] = {place: [] for place in converters}
        numbers: list[np.ndarray] = []
        while batch := list(itertools.islice(self.lines, BATCH_ROWS)):
            numbers.append(np.array([number for number, _ in batch]))
            check_row_count(BATCH_ROWS * (len(numbers) - 1) + len(batch))
            columns = self._split(batch, sorted(converters))
            rows = ((number, self.cells((number, text))) for number, text in batch)
            with explain_second_heading(rows, self.names, self.heading):
                for place, convert in converters.items():
                    parts[place].append(convert(columns[place], numbers[-1]))
        values = {place: np.concatenate(columns) for place, columns in parts.items()}
        return values, np.concatenate(numbers)

    def _split(self, batch: list[Line], places: list[int]) -> dict[int, list[str]]:
        width = max(self._checked(line) for line in batch)
        text = "".join(line if line.endswith("\n") else line + "\n" for _, line in batch)
        if "\x00" in text:  # some versions of pandas drop zero bytes
            rows = [split_line(*line, self.separator) for line in batch]
            return {place: [row[place] for row in rows] for place in places}
        try:
            frame = pd.read_csv(
                io.StringIO(text),
                sep=r"\s+" if self.separator == " " else self.separator,
                header=None,
                names=range(width),
                usecols=places,
                dtype=str,
                keep_default_na=False,
                quoting=csv.QUOTE_NONE if self.separator == " " else csv.QUOTE_MINIMAL,
                skipinitialspace=True,
                skip_blank_lines=False,
            )
        except pd.errors.ParserError as error:
            raise InputError(
                f"the rows from line {batch[0][0]} on cannot be split into cells: {error}."
            ) from None
        if len(frame) != len(batch):
            raise InputError(f"the rows from line {batch[0][0]} on could not be told apart.")
        return {place: frame[place].tolist() for place in places}

    def _checked(self, line: Line) -> int:
        """The number of cells in a row: that of the heading, or one more that is empty."""
        number, text = line
        if self.separator != " " and '"' not in text:
            count, last = text.count(self.separator) + 1, text.rstrip("\r\n")[-1:]
            is_open = last == self.separator
        else:
            cells = split_line(number, text, self.separator)
            count, is_open = len(cells), bool(cells) and not cells[-1]
        width = len(self.names)
        if self.width is None and is_fitting_width(count, is_open, width, not self.names[-1]):
            self.width = count
        if count == self.width:
            return count
        hint = " If the numbers have decimal commas, separate the cells by semicolons."
        hint = hint if self.separator == "," and count > width else ""
        raise InputError(
            f"line {number} has {count} cell(s), the heading in line {self.heading} has {width}, "
            f"separated by {SEPARATOR_NAMES[self.separator]}. Give every row one cell per column, "
            f"and put a # before lines that are no rows.{hint}"
        )
