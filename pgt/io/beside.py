"""Which of several files says where the sensors of the others are."""

from collections.abc import Container, Mapping, Sequence
from pathlib import Path

from pgt.ground.dialect import Dialect
from pgt.ground.errors import InputError
from pgt.ground.registry import parts
from pgt.io._files import check_suffix
from pgt.io.cells import CELLS, open_cells, read_sensors
from pgt.io.found import sensor_hint
from pgt.io.headings import Places
from pgt.io.stamps import is_stamp


def table_of_sensors(files: Sequence[Path], dialect: Dialect) -> Path | None:
    """That of several files which names the columns, or the names, of the others."""
    for file in files if len(files) > 1 else ():
        try:
            names = read_sensors(file, dialect) or {}
        except InputError:
            continue
        others = [other for other in files if other != file]
        if any(other.name.partition(".")[0] in names for other in others):
            return file
        if _are_named(names, others[0], dialect):
            return file
        if check_suffix(others[0], parts("reader")) in CELLS and _has_nothing_else(
            file, names, dialect
        ):
            raise InputError(
                f"{file}: this looks like a table of sensors.{sensor_hint('x', names)}"
            )
    return None


def _has_nothing_else(path: Path, sensors: Mapping[str, Places], dialect: Dialect) -> bool:
    """Whether a table has no more than the names of sensors and their positions."""
    axes = {axis for places in sensors.values() for axis in places}
    with open_cells(path, dialect) as table:
        filled = [heading for heading in table.headings if heading.text]
        return len(filled) == 1 + len(axes) and not any(map(is_stamp, sensors))


def _are_named(names: Container[str], path: Path, dialect: Dialect) -> bool:
    """Whether the columns of a table, or cells in it, have such names."""
    try:
        with open_cells(path, dialect) as table:
            cells = (cell for place in range(len(table.headings)) for cell in table.cells(place))
            texts = (text for heading in table.headings for text in (heading.text, heading.name))
            return any(text in names for text in (*texts, *cells))
    except InputError:
        return False
