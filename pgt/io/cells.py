"""Any file that is a table of cells, opened: text, a workbook or Parquet."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from pgt.ground.dialect import Dialect
from pgt.io import excel, parquet, text
from pgt.io._files import check_is_file, check_suffix, naming
from pgt.io.headings import Places
from pgt.io.sensors import positions_in
from pgt.io.table import Table

OTHERS = {".xlsx": excel.sheet_of, ".xlsm": excel.sheet_of, ".parquet": parquet.table_of}
CELLS = (*OTHERS, *text.ENDINGS)


@contextmanager
def open_cells(path: Path, dialect: Dialect) -> Iterator[Table]:
    """The table in a file; its columns can be loaded as long as it is open."""
    if opener := OTHERS.get(check_suffix(path, CELLS)):
        yield opener(path, dialect)
        return
    with text.open_text(path, dialect) as table:
        yield table


def read_sensors(
    path: Path | None, dialect: Dialect, asked: Sequence[str] = ()
) -> dict[str, Places] | None:
    """Positions by the name of the sensor; None where there is no such file. `asked` are the coordinates
    of the readings."""
    if path is None:
        return None
    with naming(path):
        check_is_file(path)
        with open_cells(path, dialect) as table:
            return positions_in(table, dialect, asked)
