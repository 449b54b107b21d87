"""Dates on the time axis: the library computes with seconds since 1970 and shows dates to users.

A date is a `datetime64`, a `datetime`, or ISO text such as "2024-05-01T12:00". A date with a zone,
"…+02:00", is converted to UTC; one without a zone is used as it is. Coefficients are then in seconds.
"""

import datetime
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from jaxtyping import Float

from pgt.core.errors import InputError
from pgt.data.units import factor

UNIT = "seconds since 1970-01-01"  # as the CF conventions write it
ISO = re.compile(r"\s*\d{4}-\d{2}-\d{2}([T ].*)?\s*")


def is_date(value: Any) -> bool:
    """Whether one value is a date.

    >>> [is_date(v) for v in ("2024-05-01", np.datetime64("2024-05-01"), "0.5", 1.7e9)]
    [True, True, False, False]
    """
    if isinstance(value, str):
        return ISO.fullmatch(value) is not None
    return isinstance(value, np.datetime64 | datetime.date)


def are_dates(data: Any) -> bool:
    """Whether a column, or one value, holds dates, judged by its first cell that is not empty."""
    try:
        array = np.asarray(data)
    except (TypeError, ValueError):  # neither a column nor a value; later checks say so
        return False
    if array.dtype.kind in "MOUT":
        cells = (cell for cell in array.ravel().tolist() if not pd.isna(cell))
        return array.dtype.kind == "M" or is_date(next(cells, None))
    return False


def seconds(where: str, data: Any) -> Float[np.ndarray, "..."]:
    """Dates as seconds since 1970.

    >>> seconds("t", ["1970-01-01T00:01", "1970-01-01T01:02+01:00"]).tolist()
    [60.0, 120.0]
    """
    array = np.asarray(data)
    try:
        found = pd.to_datetime(pd.Series(array.ravel()), utc=True, format=_format(array))
    except (ValueError, TypeError) as error:
        raise InputError(
            f"`{where}` holds dates and something else ({str(error).splitlines()[0]}); write every "
            "date as 2024-05-01T12:00:00."
        ) from None
    moments = found.to_numpy(dtype="datetime64[ns]")
    whole, rest = np.divmod(moments.astype(np.int64), 10**9)
    return np.where(np.isnat(moments), np.nan, whole + rest / 1e9).reshape(array.shape)


def as_seconds(where: str, data: Any, unit: str | None) -> Float[np.ndarray, "..."]:
    """Dates as numbers of a time axis with any unit and any origin, "minutes since 2024-03-12".

    >>> as_seconds("t", ["2024-03-12T10:30"], "minutes since 2024-03-12T10:00").tolist()
    [30.0]
    """
    found = seconds(where, data)
    if unit is None or unit == UNIT:
        return found
    plain, _, origin = unit.partition(" since ")
    scale = factor(plain, "s")
    if not is_date(origin) or scale is None:
        raise InputError(
            f"`{where}` holds dates, but the time of this field is in {unit!r} and says no moment from "
            "which it counts; give numbers."
        )
    return np.asarray((found - seconds(where, origin.strip())) / scale)


def _format(array: np.ndarray) -> str | None:
    return "ISO8601" if array.dtype.kind in "OUT" else None


def dates(since: Float[np.ndarray, "..."]) -> np.ndarray:
    """Seconds since 1970 as `datetime64`, to the microsecond.

    >>> dates(np.array([60.0]))[0]
    np.datetime64('1970-01-01T00:01:00.000000000')
    """
    return (
        np.round(np.asarray(since, float) * 1e6).astype("datetime64[us]").astype("datetime64[ns]")
    )


def text(since: float) -> str:
    """One date as text; milliseconds are left out if they are zero.

    >>> text(1714564800.0), text(1714564800.25)
    ('2024-05-01T12:00:00', '2024-05-01T12:00:00.250')
    """
    written = str(dates(np.asarray([since]))[0].astype("datetime64[ms]"))
    return written.removesuffix(".000")


def are_counted(units: Mapping[str, str]) -> bool:
    """Whether time in these units is shown as dates."""
    return units.get("t") == UNIT


def without_dates(points: Any, units: Mapping[str, str] | None, where: str = "points") -> tuple:
    """The columns by axis with dates replaced by seconds, and the units with that of time."""
    columns = {str(name): points[name] for name in points} if _has_columns(points) else {}
    if "t" not in columns or not are_dates(columns["t"]):
        return points, units
    given = (units or {}).get("t", UNIT)
    if given not in (UNIT, "s", "seconds"):
        raise InputError(
            f"`{where}` has dates as t, which are counted in seconds; leave out units['t'] = {given!r}."
        )
    return columns | {"t": seconds("t", columns["t"])}, dict(units or {}) | {"t": UNIT}


def _has_columns(points: Any) -> bool:
    return isinstance(points, Mapping | pd.DataFrame)


def start_of(dataset: xr.Dataset) -> float | None:
    """The first date of a dataset in seconds since 1970; None where it has none."""
    if "t" not in dataset.coords or dataset["t"].dtype.kind != "M":
        return None
    return float(seconds("t", dataset["t"].to_numpy()).min())


def counted_from(dataset: xr.Dataset, start: float | None) -> xr.Dataset:
    """The dataset with time in seconds after `start`; unchanged where either has no date."""
    if start is None or start_of(dataset) is None:
        return dataset
    time = dataset["t"].copy(data=seconds("t", dataset["t"].to_numpy()) - start)
    unit = UNIT if start == 0 else f"s since {text(start)}"
    return dataset.assign_coords(t=time.assign_attrs(units=unit))
