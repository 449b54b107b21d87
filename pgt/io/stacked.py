"""Names of columns that stand in several rows: merged cells, and groups of columns."""

import re
from collections.abc import Sequence

from pgt.io.headings import as_unit
from pgt.io.marks import is_number_like
from pgt.io.stamps import is_stamp

_PLACE = re.compile(r"[xyz]\s*=\s*[+-]?\d[\d.,]*(?:[eE][+-]?\d+)?\s*(?:[mck]?m)?")


def named(cells: Sequence[str], above: Sequence[Sequence[str]]) -> list[str]:
    """The names of columns; where a cell is empty, since cells were merged, what stands `above` it, the
    nearest row last. A place alone belongs to the group of columns whose name is above.

    >>> named(["t", "x=0.1", "x=0.5"], [["", "T [K]", ""]])
    ['t', 'T [K] x=0.1', 'T [K] x=0.5']
    >>> named(["Time", "", ""], [["Tag", "TC1", "TC2"], ["Unit", "C", "C"]])
    ['Time', 'TC1 [C]', 'TC2 [C]']
    """
    rows = [row for row in above if len(row) == len(cells)]
    groups = _filled(rows[-1]) if rows else [""] * len(cells)
    found = []
    for at, cell in enumerate(cells):
        name = cell if cell.strip() else _from_above([row[at] for row in reversed(rows)])
        is_place = cell.strip() and not _PLACE.sub("", cell).strip(" ()[],;")
        found.append(" ".join(f"{groups[at] if is_place else ''} {name}".split()))
    return found


def _filled(row: Sequence[str]) -> list[str]:
    """Names of groups of columns, each in all of its columns."""
    found, last = [], ""
    for cell in row:
        last = cell.strip() or last
        found.append(last)
    is_group = not any(is_number_like(cell) or is_stamp(cell) for cell in row)
    is_group = is_group and any(row[1:]) and not all(row)  # a title stands in the first cell alone
    return found if is_group else [""] * len(row)


def _from_above(cells: Sequence[str]) -> str:
    """The nearest name, and the unit between it and the heading."""
    given = [cell.strip() for cell in cells if cell.strip()]
    if len(given) > 1 and as_unit(given[0]) and not is_number_like(given[1]):
        return f"{given[1]} [{given[0]}]"
    return given[0] if given else ""
