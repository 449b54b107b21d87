"""The columns of one or several files, in the words of the equation: one unit each, times as numbers,
sentinels hidden, and what was done said."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pgt.data.units import conversion, require_same
from pgt.ground.errors import InputError
from pgt.io.columns import Columns, check_count
from pgt.io.epochs import doubt
from pgt.io.sentinels import check_cold, hide, power_on
from pgt.io.stamps import since, split_origin, spoken
from pgt.io.zones import put_back

CF = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days", "ms": "milliseconds"}
Wanted = Mapping[str, tuple[str, np.datetime64 | None]]


def together(
    tables: Sequence[Columns],
    files: Sequence[str],
    units: Mapping[str, str],
    missing: tuple[float, ...] | None,
    fields: Sequence[str],
    sigma: Mapping[str, str],
) -> Columns:
    """One table of several, in the units asked for, or else in those of the first that has any.

    Sentinels are hidden in the `fields`: a coordinate cannot be hidden. `sigma` says which columns
    are standard deviations of which: they take the scale of its unit.
    """
    check_count(sum(map(len, tables)))
    wanted = _wanted(tables, units)
    said: dict[str, None] = dict.fromkeys([f"{len(tables)} files"] if len(tables) > 1 else [])
    said |= dict.fromkeys(word for table in tables for word in table.said)
    hidden = _hidden(tables, fields, missing, said)  # first: in another unit no sentinel is known
    converted = [_converted(table, wanted, sigma, said) for table in hidden]
    values = {name: np.concatenate([part[name] for part in converted]) for name in converted[0]}
    origin = {name: spoken(at) for name, (_, at) in wanted.items() if at is not None}
    for name, column in values.items():
        if column.dtype.kind == "M":
            values[name], origin[name] = _counted(name, column, wanted, said)
    known = {name: unit for name, (unit, _) in wanted.items() if unit}
    is_bare = "t" in values and "t" not in origin
    if is_bare and (word := doubt(values["t"], known.get("t"))):
        said[word] = None
    for name, at in origin.items():  # as CF writes it, so that a result can be read as dates
        unit = known.get(name, "s")
        known[name] = f"{CF.get(unit, unit)} since {at}"
        said[f"{name} in {known[name]}"] = None
    lines, sensors = _lines(tables, files), _sensors(tables, files)
    return Columns(values, known, lines, tuple(said), origin, sensors=sensors)


def _wanted(tables: Sequence[Columns], units: Mapping[str, str]) -> Wanted:
    """The unit of each column, and where it counts from."""
    found: dict[str, tuple[str, np.datetime64 | None]] = {}
    for table in reversed(tables):
        found |= {name: split_origin(unit) for name, unit in table.units.items()}
    for name, unit in units.items():
        plain, origin = split_origin(unit)
        found[name] = (plain, origin if origin is not None else found.get(name, ("", None))[1])
    return found


def _converted(
    table: Columns, wanted: Wanted, sigma: Mapping[str, str], said: dict[str, None]
) -> dict[str, np.ndarray]:
    """The columns of one file in the units that are wanted."""
    found = dict(table.values)
    for name, column in table.values.items():
        of = sigma.get(name, name)
        unit = table.units.get(name) or table.units.get(of)
        if of not in wanted or unit is None or column.dtype.kind == "M":
            continue
        plain, origin = split_origin(unit)
        target, start = wanted[of]
        scale, offset = _conversion(name, plain, target, said)
        if (scale, offset) != (1.0, 0.0):
            found[name] = column * scale + (0.0 if name in sigma else offset)
        if origin is not None and start is not None and origin != start:
            found[name] = found[name] + since(np.array([origin]), start, target)
    return found


def _conversion(name: str, first: str, second: str, said: dict[str, None]) -> tuple[float, float]:
    found = conversion(first, second)
    if found is None:
        require_same(name, {"the file": first, "`units`": second})
        return 1.0, 0.0  # two spellings that nobody else knows
    if found != (1.0, 0.0):
        said[f"{name} converted from {first} to {second}"] = None
    return found


def _counted(name: str, times: np.ndarray, wanted: Wanted, said: dict[str, None]):
    """Dates as numbers since the first of them, or since what was asked for."""
    if np.isnat(times).all():
        raise InputError(f"the column of {name!r} holds no time at all.")
    unit, origin = wanted.get(name, ("s", None))
    origin = np.nanmin(times) if origin is None else origin
    if not any("time stamps" in word for word in said):
        said[f"{len(np.unique(times))} time stamps"] = None
    if (at := put_back(times)) is not None:
        said[
            f"times go back at {spoken(at)}, as clocks do when summer ends: if so, write their zone"
        ] = None
    return since(times, origin, unit or "s"), spoken(origin)


def _hidden(
    tables: Sequence[Columns],
    fields: Sequence[str],
    missing: tuple[float, ...] | None,
    said: dict[str, None],
) -> list[Columns]:
    """The tables with NaN for every sentinel, which all readings of one name decide together."""
    ends, counts = np.cumsum([len(table) for table in tables])[:-1], 0
    parts: list[dict[str, np.ndarray]] = [dict(table.values) for table in tables]
    for name in fields:
        columns = [table.values[name] for table in tables]
        if any(column.dtype.kind == "M" for column in columns):
            raise InputError(f"column {name!r} holds dates; what was measured are numbers.")
        if any(column.dtype.kind not in "iuf" for column in columns):
            continue
        plain, found = hide(name, np.concatenate(columns).astype(float), missing)
        counts += sum(found.values())
        for part, column, table in zip(parts, np.split(plain, ends), tables, strict=True):
            part[name] = column
            check_cold(name, column, table.units.get(name))
            if missing is None and (word := power_on(name, column, table.units.get(name))):
                said[word] = None
    if counts:
        said[f"{counts} sentinel{'s' if counts > 1 else ''} hidden"] = None
    return [replace(table, values=part) for table, part in zip(tables, parts, strict=True)]


def _sensors(tables: Sequence[Columns], files: Sequence[str]) -> np.ndarray | None:
    """Of several files without names in them, each is taken for a sensor."""
    if len(tables) == 1:
        return tables[0].sensors
    parts = [
        np.full(len(table), file.split(".")[0], object) if table.sensors is None else table.sensors
        for table, file in zip(tables, files, strict=True)
    ]
    return np.concatenate(parts)


def _lines(tables: Sequence[Columns], files: Sequence[str]) -> np.ndarray | None:
    """Where each row stands: its line, and in which file where there are several."""
    if any(table.lines is None for table in tables):
        return None
    if len(tables) == 1:
        return tables[0].lines
    return np.array(
        [
            f"{line} of {file}"
            for table, file in zip(tables, files, strict=True)
            for line in np.asarray(table.lines)
        ],
        dtype=object,
    )
