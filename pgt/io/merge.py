"""Merging of the columns of one or several files: one unit per column, times as numbers, no sentinels.

Sentinels are numbers such as -9999 that stand for "no reading"; they become NaN. Numbers of seconds since
1970 get a note that says how to write them as dates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from pgt.core.errors import InputError
from pgt.data.units import conversion, require_same
from pgt.io.columns import Columns, check_row_count
from pgt.io.time_stamps import elapsed_since, format_origin, split_origin

CF_UNIT_NAMES = {"s": "seconds", "min": "minutes", "h": "hours", "d": "days", "ms": "milliseconds"}
# For each column, the unit to which all files are converted, and the moment from which a time counts.
TargetUnits = Mapping[str, tuple[str, np.datetime64 | None]]


def merge_tables(
    tables: Sequence[Columns],
    files: Sequence[str],
    units: Mapping[str, str],
    missing: tuple[float, ...] | None,
    fields: Sequence[str],
    sigma: Mapping[str, str],
) -> Columns:
    """The tables of several files as one table, in `units` or else in those of the first file with units.

    Sentinels are replaced by NaN in the `fields` alone, since a coordinate cannot be missing. `sigma`
    maps columns of standard deviations to their fields; they are converted without the offset of a unit.
    """
    check_row_count(sum(map(len, tables)))
    targets = _target_units(tables, units)
    notes: dict[str, None] = dict.fromkeys([f"{len(tables)} files"] if len(tables) > 1 else [])
    notes |= dict.fromkeys(note for table in tables for note in table.notes)
    # Sentinels come before the conversion, after which they could not be recognized.
    hidden = _hide_in_tables(tables, fields, missing, notes)
    converted = [_convert_table(table, targets, sigma, notes) for table in hidden]
    values = {name: np.concatenate([part[name] for part in converted]) for name in converted[0]}
    origin = {
        name: format_origin(moment) for name, (_, moment) in targets.items() if moment is not None
    }
    for name, column in values.items():
        if column.dtype.kind == "M":
            values[name], origin[name] = _count_dates(name, column, targets, notes)
    unit_by_name = {name: unit for name, (unit, _) in targets.items() if unit}
    if (
        "t" in values
        and "t" not in origin
        and (note := _note_epoch(values["t"], unit_by_name.get("t")))
    ):
        notes[note] = None
    for name, start in origin.items():  # the notation of CF, so that results can be read as dates
        unit = unit_by_name.get(name, "s")
        unit_by_name[name] = f"{CF_UNIT_NAMES.get(unit, unit)} since {start}"
        notes[f"{name} in {unit_by_name[name]}"] = None
    lines, sensors = _merge_lines(tables, files), _merge_sensors(tables, files)
    return Columns(values, unit_by_name, lines, tuple(notes), origin, sensors=sensors)


def _target_units(tables: Sequence[Columns], units: Mapping[str, str]) -> TargetUnits:
    """The target unit of each column, and the moment from which a time counts."""
    targets: dict[str, tuple[str, np.datetime64 | None]] = {}
    for table in reversed(tables):
        targets |= {name: split_origin(unit) for name, unit in table.units.items()}
    for name, unit in units.items():
        plain, origin = split_origin(unit)
        targets[name] = (plain, origin if origin is not None else targets.get(name, ("", None))[1])
    return targets


def _convert_table(
    table: Columns, wanted: TargetUnits, sigma: Mapping[str, str], notes: dict[str, None]
) -> dict[str, np.ndarray]:
    """The columns of one file in the target units."""
    converted = dict(table.values)
    for name, column in table.values.items():
        field = sigma.get(name, name)
        unit = table.units.get(name) or table.units.get(field)
        if field not in wanted or unit is None or column.dtype.kind == "M":
            continue
        plain, origin = split_origin(unit)
        target, start = wanted[field]
        scale, offset = _find_conversion(name, plain, target, notes)
        if (scale, offset) != (1.0, 0.0):
            converted[name] = column * scale + (0.0 if name in sigma else offset)
        if origin is not None and start is not None and origin != start:
            converted[name] = converted[name] + elapsed_since(np.array([origin]), start, target)
    return converted


def _find_conversion(
    name: str, first: str, second: str, notes: dict[str, None]
) -> tuple[float, float]:
    """The scale and the offset from the first unit to the second; raises where they are incompatible."""
    found = conversion(first, second)
    if found is None:
        require_same(name, {"the file": first, "`units`": second})
        return 1.0, 0.0  # two spellings of one unknown unit
    if found != (1.0, 0.0):
        notes[f"{name} converted from {first} to {second}"] = None
    return found


def _count_dates(name: str, times: np.ndarray, wanted: TargetUnits, notes: dict[str, None]):
    """Dates as numbers, and their origin: that of the target unit, or else the first date."""
    if np.isnat(times).all():
        raise InputError(f"the column of {name!r} holds no time at all.")
    unit, origin = wanted.get(name, ("s", None))
    origin = np.nanmin(times) if origin is None else origin
    if not any("time stamps" in word for word in notes):
        notes[f"{len(np.unique(times))} time stamps"] = None
    return elapsed_since(times, origin, unit or "s"), format_origin(origin)


def _hide_in_tables(
    tables: Sequence[Columns],
    fields: Sequence[str],
    missing: tuple[float, ...] | None,
    notes: dict[str, None],
) -> list[Columns]:
    """The tables with NaN for sentinels, which are sought in all readings of a field together."""
    ends, total = np.cumsum([len(table) for table in tables])[:-1], 0
    parts: list[dict[str, np.ndarray]] = [dict(table.values) for table in tables]
    for name in fields:
        columns = [table.values[name] for table in tables]
        if any(column.dtype.kind == "M" for column in columns):
            raise InputError(f"column {name!r} holds dates; readings are numbers.")
        if any(column.dtype.kind not in "iuf" for column in columns):
            continue
        plain, count_by_sentinel = hide_sentinels(
            name, np.concatenate(columns).astype(float), missing
        )
        total += sum(count_by_sentinel.values())
        for part, column, table in zip(parts, np.split(plain, ends), tables, strict=True):
            part[name] = column
            check_absolute_zero(name, column, table.units.get(name))
    if total:
        notes[f"{total} sentinel{'s' if total > 1 else ''} hidden"] = None
    return [replace(table, values=part) for table, part in zip(tables, parts, strict=True)]


def _merge_sensors(tables: Sequence[Columns], files: Sequence[str]) -> np.ndarray | None:
    """The name of the sensor of each row; of several files, one without names is one sensor."""
    if len(tables) == 1:
        return tables[0].sensors
    parts = [
        np.full(len(table), file.split(".")[0], object) if table.sensors is None else table.sensors
        for table, file in zip(tables, files, strict=True)
    ]
    return np.concatenate(parts)


def _merge_lines(tables: Sequence[Columns], files: Sequence[str]) -> np.ndarray | None:
    """The line number of each row, with the name of its file where there are several."""
    if any(table.lines is None for table in tables):
        return None
    if len(tables) == 1:
        return tables[0].lines
    pairs = zip(tables, files, strict=True)
    named = [f"{line} of {file}" for table, file in pairs for line in np.asarray(table.lines)]
    return np.array(named, object)


# By notation of a time axis, the numbers that times between 1990 and 2050 have there.
EPOCHS = {
    "seconds since 1970-01-01": (6.3e8, 2.5e9),
    "milliseconds since 1970-01-01": (6.3e11, 2.5e12),
    "days since 1899-12-30": (32_874.0, 54_789.0),  # as Excel counts
}


def _note_epoch(times: np.ndarray, unit: str | None = None) -> str | None:
    """A note on times that seem to count from an epoch; None where they count from zero."""
    finite = times[np.isfinite(times)]
    for name, (low, high) in EPOCHS.items() if finite.size else ():
        is_far = np.ptp(finite) < 0.05 * finite.min() or not name.startswith("days")
        is_possible = is_far and not (unit and name.startswith("days"))
        if low < finite.min() and finite.max() < high and is_possible:
            return f"t may count from {name[-10:-6]}: if so, write units = {{t = '{name}'}}"
    return None


# Numbers that loggers, archives and meters write for "no reading"; each counts where it is far from all
# readings.
SENTINELS = (
    -99.99, -999.0, -999.9, -999.99, -6999.0, -7999.0, -8999.0, -9999.0, -9999.9, -9999.99, -32767.0,
    -32768.0, -99999.0, -999999.0, -2147483648.0, 9999.0, 9999.9, 9999.99, 32767.0, 65535.0, 99999.0,
    999999.0, 2147483647.0, 1e20,
)  # fmt: skip
# Fill values of archives, overflows of meters, and the largest float32, of either sign.
HUGE_SENTINELS = (
    1e30, 1e32, 1e33, 9.99e33, 1e34, 1e35, 1e36, 9.969209968e36, 1e37, 9.9e37, 9.91e37, 1e38,
    3.4028235e38,
)  # fmt: skip
# These may also be readings, as a pressure of 999 hPa; they count only where no reading is plausible.
UNLIKELY_SENTINELS = (999.0, 999.9, 999.99, -999.25, -127.0, -99.0, -99.9, 6999.0, 7999.0, -888.88)
# Sentinels of buoys and archives that may be percentages: an error makes the user decide.
AMBIGUOUS_SENTINELS = (99.0, 99.9, 99.99)
# Sentinels in coordinates; positive ones are left out, because coordinates may be large.
AXIS_SENTINELS = tuple(number for number in SENTINELS if number < -900)


def hide_sentinels(
    name: str, values: np.ndarray, missing: tuple[float, ...] | None
) -> tuple[np.ndarray, dict[float, int]]:
    """The readings with NaN for every sentinel, and the number of each sentinel.

    >>> hide_sentinels("T", np.array([20.5, -9999.0, 21.0]), None)
    (array([20.5,  nan, 21. ]), {-9999.0: 1})
    """
    is_sentinel = np.isin(values, missing) if missing is not None else _find_sentinels(name, values)
    if not is_sentinel.any():
        return values, {}
    numbers, counts = np.unique(values[is_sentinel], return_counts=True)
    count_by_sentinel = dict(zip(numbers.tolist(), counts.tolist(), strict=True))
    return np.where(is_sentinel, np.nan, values), count_by_sentinel


def _find_sentinels(name: str, values: np.ndarray) -> np.ndarray:
    """Which values are sentinels; raises where one may also be a reading."""
    candidates = np.isin(values, SENTINELS + UNLIKELY_SENTINELS + AMBIGUOUS_SENTINELS)
    large = np.flatnonzero(np.isfinite(values) & (np.abs(values) >= min(HUGE_SENTINELS)))
    sizes = np.abs(values[large])[:, None]
    candidates[large] = np.isclose(sizes, HUGE_SENTINELS, rtol=1e-6, atol=0).any(axis=1)
    readings = values[np.isfinite(values) & ~candidates]
    if not candidates.any() or not readings.size:
        return np.zeros_like(candidates)
    low, high = readings.min(), readings.max()
    for number in np.unique(values[candidates]):
        is_clear = _is_clearly_outside(number, low, high)
        is_near = max(low - number, number - high) <= 0.1 * (high - low)
        is_doubtful = not is_clear and not is_near and number in SENTINELS
        if is_doubtful or (is_clear and number in AMBIGUOUS_SENTINELS):
            raise InputError(
                f"field {name!r}: {number:g} may be a reading, or a sentinel for none; the others lie "
                f"between {low:g} and {high:g}. If it is a sentinel, write "
                f"`dialect=pgt.io.Dialect(missing=[{number:g}])`, else "
                "`dialect=pgt.io.Dialect(missing=[])`."
            )
        candidates &= (values != number) | is_clear
    return candidates


def check_axis_sentinels(name: str, values: np.ndarray) -> None:
    """Raise for a sentinel in a coordinate: it cannot be missing, and it would widen the domain."""
    candidates = np.isin(values, AXIS_SENTINELS)
    coordinates = values[np.isfinite(values) & ~candidates]
    for number in np.unique(values[candidates]) if coordinates.size else ():
        if _is_clearly_outside(number, coordinates.min(), coordinates.max()):
            row = int(np.argmax(values == number))
            raise InputError(
                f"coordinate {name!r}, row {row}, is {number:g}, a sentinel for no value; the others "
                f"lie between {coordinates.min():g} and {coordinates.max():g}. Correct or remove the "
                "row; if it is a value, write `dialect=pgt.io.Dialect(missing=[])`."
            )


def check_absolute_zero(name: str, values: np.ndarray, unit: str | None) -> None:
    """Raise for temperatures below absolute zero."""
    kelvin = conversion(unit, "K") if unit else None
    if kelvin is None or not kelvin[1]:  # without an offset the unit may be one of differences
        return
    cold = values[np.isfinite(values) & (values * kelvin[0] + kelvin[1] < -1e-6)]
    if cold.size:
        raise InputError(
            f"field {name!r}: {cold[0]:g} {unit} is below absolute zero. Correct it; if it stands for "
            f"no reading, write `dialect=pgt.io.Dialect(missing=[{cold[0]:g}])`."
        )


def _is_clearly_outside(number: float, low: float, high: float) -> bool:
    """Whether a number is farther from the readings than their range and than half of its own size."""
    gap = max(low - number, number - high)
    return bool(gap > high - low and gap > 0.5 * abs(number))
