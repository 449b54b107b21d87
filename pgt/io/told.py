"""What columns of words say of the rows beside them: which are readings, of what, and in which unit."""

from collections.abc import Container, Mapping, Sequence

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.io.called import FLAGS, KINDS, SENSORS, UNITS, VALID, is_good, spelt
from pgt.io.found import JOINED
from pgt.io.guessed import Guess
from pgt.io.headings import Heading, as_unit
from pgt.io.marks import MISSING, WORDS, is_number_like
from pgt.io.table import Table


def flags(words: Mapping[str, str], valid: str | None) -> list[str]:
    """That a column of words may say which readings are good, which nobody but the user can read."""
    found = [text for text in words if text.lower() in FLAGS and text != valid]
    return [f"what {text!r} says of the rows is not used" for text in found]


def check_one_kind(columns: Sequence[tuple[Heading, set[str]]], given: dict[str, str]) -> None:
    """Refuse readings of several quantities in one column, which a further column tells apart."""
    for heading, cells in columns:
        kinds = [] if is_numeric([*cells]) or heading.text in given.values() else sorted(cells)
        if heading.name.lower() in KINDS and len(kinds) > 1:
            raise InputError(
                f"the column {heading.text!r} says that rows are of {kinds[0]!r}, {kinds[1]!r} ...: "
                "several quantities stand below each other. Write a file, or a column, for each."
            )


def check_told_apart(guess: Guess, table: Table, sensors: Container[str]) -> None:
    """Refuse readings of one place and time that a column of words tells apart: they may be of several
    quantities, and their mean of none."""
    own = {text for texts in guess.coords.values() for text in texts.split(JOINED)}
    columns = {at: table.cells(at) for at in range(len(table.headings))}
    is_own = {at for at, h in enumerate(table.headings) if {h.text, h.name} & own}
    is_own |= {at for at, cells in columns.items() if cells and all(c in sensors for c in cells)}
    rows = [*zip(*(columns[at] for at in sorted(is_own)), strict=False)]
    if len({*rows}) == len(rows):
        return
    for at, heading in enumerate(table.headings):
        words = {cell for cell in columns[at] if cell}
        is_kind = heading.text in guess.words and 1 < len(words) <= 0.5 * len(rows)
        is_kind = is_kind and heading.name.lower() not in FLAGS
        if not set(guess.coords) - {"t"} and _is_of_sensors(heading.text):
            continue  # of which no place is known, as will be said
        told = [*zip(rows, columns[at], strict=False)]
        if at not in is_own and is_kind and len({*told}) == len(told):
            one, other = sorted(words)[:2]
            raise InputError(
                f"readings of one place and time differ in {heading.text!r} ({one}, {other} ...), and "
                "may be of several quantities. Write a file, or a column, for each; to have a mean, "
                "leave that column out."
            )


def check_places(guess: Guess) -> None:
    """Refuse readings of several sensors whose places nobody says, where they would be averaged."""
    for text in (*guess.words, *(heading.text for heading in guess.numeric)):
        if text not in guess.constant and _is_of_sensors(text):
            raise InputError(
                f"the column {text!r} tells sensors apart, and nothing says where they are: readings "
                "of one time would be averaged. Give a table of names and positions: "
                '`sensors="positions.csv"`; or write a file of one sensor alone.'
            )


def _is_of_sensors(text: str) -> bool:
    return any(word in SENSORS for word in spelt(text).split())


def unit_of_all(columns: Sequence[tuple[Heading, set[str]]]) -> str | None:
    """The unit that a column of its own gives for all rows."""
    for heading, cells in columns:
        units = sorted({unit for cell in cells if (unit := as_unit(cell))})
        if heading.name.lower() in UNITS and units:
            if len(cells) > 1:
                raise InputError(
                    f"the column {heading.text!r} says that rows are in {sorted(cells)[0]!r}, "
                    f"{sorted(cells)[1]!r} ...; write them in one unit, or a file for each."
                )
            return units[0]
    return None


def take_out_valid(guess: Guess, table: Table, given: dict[str, str], dialect: Dialect) -> None:
    """A column that says which rows are readings is none itself."""
    for at, heading in enumerate(table.headings):
        if heading.text in given.values():
            continue
        cells = {cell.lower() for cell in table.cells(at)}
        is_so = cells <= {"0", "1", "true", "false"} and heading.name.lower() in VALID
        # In numbers only the user knows which are the good ones.
        is_told = heading.name.lower() in FLAGS and not any(map(is_number_like, cells))
        is_told = is_told and all(is_good(cell) is not None for cell in cells)
        if dialect.valid is None and (is_so or is_told):
            guess.valid = heading.text
        elif dialect.valid not in (heading.text, heading.name):
            continue
        guess.numeric = [other for other in guess.numeric if other != heading]


def is_numeric(cells: Sequence[str]) -> bool:
    given = [c for c in cells if c.lower() not in MISSING and c.lower() not in WORDS]
    return bool(given) and sum(map(is_number_like, given)) > 0.5 * len(given)
