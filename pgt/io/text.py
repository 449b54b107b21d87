"""Tables as text: CSV, TSV and their relatives, as loggers write them.

A heading, then one row per line. What separates the cells, the decimal mark, where the heading is and
how the text is encoded show in the file. Lines that start with #, %, // or ! are comments. An empty cell,
NA, NaN, N/A, null or None is a missing value, and so are words such as OVER or ---.
"""

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd

from pgt.ground.dialect import SPOKEN, Dialect
from pgt.ground.errors import InputError
from pgt.ground.registry import register
from pgt.io import (
    blocks,
    casts,
    curves,
    frames,
    labview,
    pairs,
    placed,
    probes,
    rasters,
    sections,
    tecplot,
)
from pgt.io.above import HIGH, counts, table_lines
from pgt.io.columns import Columns, check_count
from pgt.io.encoding import Line, numbered, opened
from pgt.io.headings import Heading, Places, as_unit, parse_headings, places_in, with_length_unit
from pgt.io.layout import (
    Layout,
    check_another_heading,
    check_names,
    check_upright,
    find_layout,
    fits,
    leniently,
    split,
)
from pgt.io.stacked import named
from pgt.io.suffixed import without_units
from pgt.io.table import Convert, Table, select, titled
from pgt.io.unstacked import unstacked

BATCH = 1 << 14  # rows split at once
SIDE = 20  # rows whose beginnings show that a table lies on its side
LOOKED_AT = 5000  # rows that show the decimal mark


# What is no table yet as it is written, as lines that are one; each lets all others be.
FORMS = (
    probes.as_table,
    tecplot.as_table,
    rasters.as_table,
    curves.as_table,
    casts.as_table,
    labview.as_table,
    sections.as_table,
    frames.as_table,
    pairs.as_table,
    blocks.as_table,
)
ENDINGS = (
    ".csv", ".tsv", ".txt", ".dat", ".asc", ".log", ".prn", ".lvm", ".xy", ".cnv", ".vec", ".rdb", ".zip",
)  # fmt: skip


@register(*ENDINGS, kind="reader")
def read(
    path: Path,
    coords: tuple[str, ...],
    others: tuple[str, ...],
    *,
    sensors: dict[str, Places] | None = None,
    dialect: Dialect | None = None,
) -> Columns:
    """The columns `coords` and `others` of a text table."""
    dialect = dialect or Dialect()
    with open_text(path, dialect) as table:
        return select(table, coords, others, sensors, dialect)


@contextmanager
def open_text(path: Path, dialect: Dialect) -> Iterator[Table]:
    """The table in a text file, which stays open for its columns to be loaded."""
    with opened(path) as (file, said):
        yield _table(numbered(file), said, path.name, dialect)


def _table(lines: Iterator[Line], said: list[str], name: str, dialect: Dialect) -> Table:
    """The table in numbered lines; the lines are read on when columns are loaded."""
    head: Sequence[Line] = list(itertools.islice(lines, LOOKED_AT))
    doubts = rasters.doubts(head)
    for as_table in FORMS:
        head, lines = as_table(head, lines, name)
    head = placed.quoted(head)
    kept = placed.in_lines(table_lines(head, dialect), dialect)
    layout = find_layout(kept, dialect)
    number, text = kept[layout.heading]
    above = kept[max(layout.heading - HIGH, 0) : layout.heading]
    above = [leniently(line, layout.separator) for _, line in above]
    names = named(split(number, text, layout.separator), above)
    first = kept[layout.first : layout.first + 1]
    check_names(number, names, leniently(first[0][1], layout.separator) if first else ())
    check_upright(
        number, names, [_first_cell(line, layout) for line in kept[layout.first :][:SIDE]]
    )
    if len(kept) <= layout.first:
        raise InputError(
            f"line {number} is the heading, and no row follows it; lines that begin with # are none."
        )
    units = None if layout.units is None else split(*kept[layout.units], layout.separator)
    before = [line for at, line in head if at < number]
    heads = {line.strip() for _, line in kept[: layout.first]}  # loggers begin anew with all of it
    body = [line for line in kept[layout.first :] if line[1].strip() not in heads]
    more = (line for line in lines if counts(line[1]) and line[1].strip() not in heads)
    source = _Rows(itertools.chain(body, more), layout, names, number)
    sample = [source.cells(line) for line in body]
    headings = with_length_unit(parse_headings(names, units), before)
    table = Table(
        titled(_by_channel(headings, before, layout.separator), sample),
        sample,
        source.load,
        (*said, SPOKEN[layout.separator], *layout.said, *doubts),
        _fixed(before, name),
        name.partition(".")[0],
    )
    return unstacked(without_units(table))


def _fixed(before: list[str], name: str) -> Places:
    """Positions that the lines above the heading, or the name of the file, give for all rows."""
    found = places_in(name.replace("_", " "))
    others: set[str] = set()  # axes along which lines differ: each is of another sensor
    for line in before:
        places = (places_in(line) or _one_place(line)) if len(line) < 200 else {}
        others |= {axis for axis, at in places.items() if found.get(axis, at) != at}
        found |= places
    return {axis: at for axis, at in found.items() if axis not in others}


def _by_channel(headings: list[Heading], before: list[str], separator: str) -> list[Heading]:
    """The headings with the places that lines above give by channel: CH1, "x=0.1", TC_K."""
    cells = [leniently(line, separator) for line in before if len(line) < 200]
    places = {row[0].strip(): at for row in cells if (at := places_in(separator.join(row[1:])))}
    return [
        replace(h, places=places[h.name]) if h.name in places and not h.places else h
        for h in headings
    ]


def _one_place(line: str) -> Places:
    """A position as a line of its own: "x [m];0,1", "Position x: 0.1 m"."""
    words = line.strip(" #\t\r\n;,").replace(":", " ").replace(";", " ").replace("\t", " ").split()
    words = words[1:] if words and words[0].lower() in ("position", "pos", "sensor") else words
    if len(words) not in (2, 3) or words[0].lower() not in ("x", "y", "z"):
        return {}
    unit = next((as_unit(word) for word in words[1:] if as_unit(word)), None)
    numbers = [word for word in words[1:] if places_in(f"x={word}")]
    if len(numbers) != 1:  # of several each is of another column
        return {}
    return {words[0].lower(): (places_in(f"x={numbers[0]}")["x"][0], unit)}


def _first_cell(line: Line, layout: Layout) -> str:
    cells = split(*line, layout.separator) if '"' not in line[1] else []
    return cells[0] if cells else ""


class _Rows:
    """The rows of a text, split by pandas, each with as many cells as the heading."""

    def __init__(self, lines: Iterator[Line], layout: Layout, names: list[str], heading: int):
        self.lines, self.separator = lines, layout.separator
        self.names, self.heading = names, heading
        self.width: int | None = None  # of the first row, and so of all

    def cells(self, line: Line) -> list[str]:
        try:
            return split(*line, self.separator)
        except InputError:  # said when the row is read
            return []

    def load(self, converters: dict[int, Convert]) -> tuple[dict[int, np.ndarray], np.ndarray]:
        parts: dict[int, list[np.ndarray]] = {place: [] for place in converters}
        numbers: list[np.ndarray] = []
        while batch := list(itertools.islice(self.lines, BATCH)):
            numbers.append(np.array([number for number, _ in batch]))
            check_count(BATCH * (len(numbers) - 1) + len(batch))
            columns = self._split(batch, sorted(converters))
            rows = ((number, self.cells((number, text))) for number, text in batch)
            with check_another_heading(rows, self.names, self.heading):
                for place, convert in converters.items():
                    parts[place].append(convert(columns[place], numbers[-1]))
        values = {place: np.concatenate(columns) for place, columns in parts.items()}
        return values, np.concatenate(numbers)

    def _split(self, batch: list[Line], places: list[int]) -> dict[int, list[str]]:
        width = max(self._checked(line) for line in batch)
        text = "".join(line if line.endswith("\n") else line + "\n" for _, line in batch)
        if "\x00" in text:  # some versions of pandas leave it out, and 2\x00 becomes a number
            rows = [split(*line, self.separator) for line in batch]
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
                f"the rows from line {batch[0][0]} on are no table: {error}."
            ) from None
        if len(frame) != len(batch):
            raise InputError(f"the rows from line {batch[0][0]} on could not be told apart.")
        return {place: frame[place].tolist() for place in places}

    def _checked(self, line: Line) -> int:
        """How many cells a row has: as many as the heading, or an empty one more."""
        number, text = line
        if self.separator != " " and '"' not in text:
            count, is_open = text.count(self.separator) + 1, text.rstrip("\r\n")[-1:]
            is_open = is_open == self.separator
        else:
            cells = split(number, text, self.separator)
            count, is_open = len(cells), bool(cells) and not cells[-1]
        width = len(self.names)
        if self.width is None and fits(count, is_open, width, not self.names[-1]):
            self.width = count
        if count == self.width:
            return count
        if tecplot.is_zone(text):
            raise InputError(
                f"line {number} begins another zone; write each zone to a file of its own."
            )
        hint = " If the numbers have decimal commas, separate the cells by semicolons."
        raise InputError(
            f"line {number} has {count} cell(s), the heading in line {self.heading} has {width}, "
            f"separated by {SPOKEN[self.separator]}. Give every row one cell per column, and put a # "
            f"before what is no row.{hint if self.separator == ',' and count > width else ''}"
        )
