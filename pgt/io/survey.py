"""What files of readings hold, guessed from what they say: the start of a run file."""

import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from pgt.data._duplicates import groups
from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io import excel
from pgt.io._files import check_is_file, check_suffix, naming, understood
from pgt.io.beside import table_of_sensors
from pgt.io.called import (
    AXES,
    CALLED,
    COUNTERS,
    as_the_equation,
    is_called,
    no_lengths,
    spelt,
)
from pgt.io.cells import CELLS, open_cells, read_sensors
from pgt.io.columns import SHOWN, Columns
from pgt.io.fields import not_used, of_columns, of_sensors
from pgt.io.found import JOINED
from pgt.io.guessed import Guess, check_one_time, length_of, may_be
from pgt.io.headings import Heading, Places, parse_headings, placed_along
from pgt.io.marks import is_number_like
from pgt.io.names import NAMES
from pgt.io.pivots import pivoted
from pgt.io.readers import read_columns
from pgt.io.stamps import is_stamp
from pgt.io.table import Table, as_text
from pgt.io.tecplot import ZONE_TIME
from pgt.io.times import add_times
from pgt.io.told import (
    check_one_kind,
    check_places,
    check_told_apart,
    flags,
    is_numeric,
    take_out_valid,
    unit_of_all,
)
from pgt.io.varying import without_constant


@dataclass(frozen=True)
class Survey:
    """What was found: names as the equation uses them, and the file's own where they differ."""

    files: tuple[Path, ...]
    sensors: Path | None
    coords: tuple[str, ...]
    fields: tuple[str, ...]
    columns: dict[str, str]
    table: Columns
    repeated: int  # readings of one field at one place and time, beyond the first
    unused: tuple[str, ...] = ()
    dialect: Dialect | None = None  # with what the files themselves say

    @property
    def lacks_places(self) -> bool:
        """Whether several columns change in time only: they may be sensors whose places are missing."""
        return self.coords == ("t",) and len(self.fields) + len(self.unused) > 1

    @property
    def bounds(self) -> dict[str, tuple[float, float]]:
        """The box around the readings; where they all have one position, a unit beyond it."""
        found = {}
        for axis in self.coords:
            column = self.table.values[axis]
            low, high = float(np.nanmin(column)), float(np.nanmax(column))
            found[axis] = (low, high if high > low else low + 1.0)
        return found

    @property
    def hidden(self) -> dict[str, tuple[int, int]]:
        """By field, how many of how many readings are missing."""
        counts = {n: int(np.isnan(self.table.values[n]).sum()) for n in self.fields}
        return {name: (count, len(self.table)) for name, count in counts.items() if count}


def survey(
    files: Sequence[Path],
    *,
    measured: Sequence[str] = (),
    sensors: Path | None = None,
    columns: Mapping[str, str] | None = None,
    dialect: Dialect | None = None,
    axes: Sequence[str] = (),
    axes_in_order: bool = False,
) -> Survey:
    """Look at files of readings. `measured` are the fields of an equation, if one is known, and `axes`
    its coordinates; `axes_in_order` says that they are x, then y, then z, whatever they are called in
    the files."""
    files = [Path(file) for file in files]
    if sensors is None:
        sensors = table_of_sensors(files, dialect or Dialect())
        files = [file for file in files if file != sensors]
    places = read_sensors(sensors, dialect or Dialect(), axes) or {}
    given = dict(columns or {})
    with naming(files[0]):
        guess = _look(files[0], places, given, dialect or Dialect(), axes)
        fields = _fields(guess, measured, given)
    if not set(given) & set(AXES):
        guess.coords = as_the_equation(guess.coords, axes, axes_in_order)
    if guess.valid is not None:
        dialect = replace(dialect or Dialect(), valid=guess.valid)
    coords = tuple(axis for axis in AXES if axis in guess.coords)
    own = {a: guess.coords[a] for a in coords if guess.coords[a] not in ("", a)} | fields
    own = {name: heading for name, heading in own.items() if heading != name} | given
    table = read_columns(
        files,
        coords=coords,
        fields=tuple(fields),
        columns=own,
        sensors=sensors,
        dialect=dialect,
    )
    if guess.unit and len(fields) == 1:
        table = replace(table, units=dict.fromkeys(fields, guess.unit) | table.units)
    taken = {*own.values(), *fields, *guess.coords.values(), *coords}
    told = [axis for axis in coords if own.get(axis) != ZONE_TIME]  # of one zone it says little
    table, coords = without_constant(table, coords, (*axes, *given) if axes else told)
    own = {name: heading for name, heading in own.items() if name in (*coords, *fields)}
    unused = tuple(h.text for h in guess.numeric if h.text not in taken and h.name not in taken)
    unused += tuple(not_used(guess, own, tuple(fields)))
    repeated = _repeated(table, coords, tuple(fields))
    _check_repeated(files[0], guess, coords if repeated else ())
    table = replace(table, said=(*table.said, *flags(guess.words, guess.valid)))
    return Survey(
        tuple(files), sensors, coords, tuple(fields), own, table, repeated, unused, dialect
    )


def _check_repeated(path: Path, guess: Guess, coords: Sequence[str]) -> None:
    if tuple(coords) == ("t",):
        with naming(path):
            check_places(guess)


def _look(
    path: Path,
    sensors: dict[str, Places],
    given: dict[str, str],
    dialect: Dialect,
    axes: Sequence[str],
) -> Guess:
    check_is_file(path)
    if check_suffix(path, (*CELLS, *NAMES, *excel.OTHERS)) in excel.OTHERS:
        raise excel.other_workbook()
    if path.suffix.lower() in NAMES:
        with understood("a file of arrays"):
            names = NAMES[path.suffix.lower()](path)
        headings = parse_headings([*names])  # of a structure the last name tells
        called = [n if n != name else "" for name, n in names.items()]
        headings = [
            replace(h, name=word or h.name.rpartition(".")[2])
            for h, word in zip(headings, called, strict=True)
        ]
        guess = _guess(headings, headings, {}, given)
        full = {heading.name: heading.text for heading in reversed(headings)}  # found by that alone
        guess.coords |= {
            a: full.get(name, name) for a, name in guess.coords.items() if a not in given
        }
        return guess
    with open_cells(path, dialect) as table:
        table = _with_lengths(table, sensors, given, axes)
        filled = [{cell for cell in table.cells(at) if cell} for at in range(len(table.headings))]
        columns = [*zip(table.headings, filled, strict=True)]
        numeric = [h for h, c in columns if is_numeric([*c]) and not c <= {*sensors}]
        placed = [h for h, c in columns if _may_be_axis(h, [*c], sensors)]
        guess = _guess(placed, numeric, sensors, given)
        guess.names = [heading.text for heading in table.headings if heading.text]
        guess.constant = {heading.text for heading, c in columns if len(c) == 1}
        guess.words = {
            h.text: _shown(c) for h, c in columns if h.text and c and not is_numeric([*c])
        }
        check_one_kind(columns, given)
        guess.kinds = table.kinds
        guess.unit = unit_of_all(columns)
        take_out_valid(guess, table, given, dialect)
        add_times(guess, table, given)
        if not set(given) - set(AXES):
            check_told_apart(guess, table, sensors)
        if not guess.numeric and not guess.sensors:
            table.load({0: as_text})  # which says what is wrong with its rows
        _add_places(guess, table, sensors, axes)
        _add_lengths(guess)
        return guess


def _may_be_axis(heading: Heading, cells: Sequence[str], sensors: Container[str]) -> bool:
    """Whether a column may be a coordinate: names of sensors and of places are none."""
    is_letter = heading.name.lower() in AXES or is_called(heading.name, "t") or not cells
    return is_letter or (is_numeric(cells) and not all(cell in sensors for cell in cells))


def _shown(cells: set[str]) -> str:
    """A cell that is no number, best one with digits in it."""
    others = sorted(cell for cell in cells if not is_number_like(cell)) or sorted(cells)
    return next((cell for cell in others if re.search(r"\d", cell)), others[0])


def _with_lengths(table: Table, sensors: dict[str, Places], given, axes: Sequence[str]) -> Table:
    """Where no column is an axis of space, lengths in headings are places along that of the equation."""
    space = [axis for axis in AXES[:3] if axis in axes]
    is_placed = any(
        h.places or any(is_called(h.name, axis) for axis in AXES[:3]) for h in table.headings
    )
    if not (sensors or any(h.places for h in table.headings) or len({*given} & {*AXES}) > 1):
        first, last = table.headings[0], table.headings[-1]
        is_clear = is_called(first.name, "t") or is_stamp(
            last.text
        )  # not, if x and y are as likely
        grid = pivoted(table.headings, axes or (("x", "t") if is_clear else ()))
        if any(h.places for h in grid):
            return replace(table, headings=grid)
    if is_placed or sensors or table.fixed or set(given) & set(AXES[:3]) or len(space) > 1:
        return table
    return replace(table, headings=placed_along(table.headings, space[0] if space else "x"))


def _guess(headings: Sequence[Heading], numeric, sensors: dict[str, Places], given) -> Guess:
    guess = Guess({axis: given[axis] for axis in AXES if axis in given})
    guess.names = [heading.text for heading in headings if heading.text]
    for axis, words in CALLED.items():
        if axis == "t" and axis not in given:
            check_one_time(headings)
        for word in words:
            found = [h for h in headings if word == spelt(h.name) and may_be(axis, h)]
            found.sort(key=lambda h: h.name != axis)  # beside x, X is the number of a row
            if found and axis not in guess.coords:
                is_short = found[0].name == axis and found[0].text.startswith(axis)
                guess.coords[axis] = axis if is_short else found[0].text
    taken = {text for texts in guess.coords.values() for text in texts.split(JOINED)}
    taken |= {axis.upper() for axis in AXES[:3] if guess.coords.get(axis) == axis}
    for heading in numeric:
        if heading.places or {heading.text, heading.name} & set(sensors):
            guess.sensors.append(heading)
        elif not {heading.text, heading.name} & taken and heading.name.lower() not in COUNTERS:
            guess.numeric.append(heading)
    return guess


def _add_places(guess: Guess, table: Table, sensors: dict[str, Places], axes) -> None:
    """The axes along which positions are given beside the columns; a time above them may be any."""
    beside = [heading.places for heading in guess.sensors] + [table.fixed, *sensors.values()]
    for axis in AXES:
        asked = beside if axis != "t" or "t" in axes else beside[: len(guess.sensors)]
        if axis not in guess.coords and any(axis in places for places in asked):
            guess.coords[axis] = ""


def _add_lengths(guess: Guess) -> None:
    """The only column of lengths that is called a depth, a position, ... of something, where no axis of
    space is found: "Fibre length [m]", "Soil depth (cm)"."""
    if set(guess.coords) & set(AXES[:3]):
        return
    found = [(axis, heading) for heading in guess.numeric if (axis := length_of(heading))]
    if len(found) == 1:
        axis, heading = found[0]
        guess.coords[axis] = heading.text
        guess.numeric = [other for other in guess.numeric if other != heading]


def _fields(guess: Guess, measured: Sequence[str], given: dict[str, str]) -> dict[str, str]:
    """By the equation's name, the heading of each field."""
    if not guess.coords:
        raise InputError(
            "no column is called x, y, z or t, and no heading gives a position; say which is which: "
            f'`columns={{"x": "name in the file"}}`.{_there_are(guess)}{no_lengths(guess.names)}'
        )
    named = {name: heading for name, heading in given.items() if name not in AXES}
    if named:
        return named
    if guess.sensors:
        return of_sensors(guess.sensors, measured)
    if not guess.numeric:
        raise InputError(
            "there is no column of readings beside the coordinates: numbers."
            f"{_there_are(guess)}{_there_stands(guess)}"
        )
    return of_columns(guess.numeric, measured, guess.constant, guess.kinds)


def _there_are(guess: Guess) -> str:
    shown = guess.names if len(guess.names) <= SHOWN else [*guess.names[:SHOWN], "…"]
    return f" There are: {', '.join(shown)}."


def _there_stands(guess: Guess) -> str:
    """What a column holds in place of numbers."""
    words = {text: cell for text, cell in guess.words.items() if text not in guess.coords.values()}
    heading, cell = next(iter(words.items()), ("", ""))
    return (
        f" In {heading!r} stands {cell[:40]!r}: write numbers alone, and a unit into the heading, as in "
        "T [°C]."
        if heading
        else ""
    )


def _repeated(table: Columns, coords: Sequence[str], fields: Sequence[str]) -> int:
    points = np.stack([table.values[axis] for axis in coords], axis=1)
    count = 0
    for name in fields:
        measured = points[np.isfinite(points).all(axis=1) & ~np.isnan(table.values[name])]
        count += len(measured) - len(np.unique(groups(measured))) if len(measured) else 0
    return count
