"""Numbers as an array, from whatever holds them. Apart from `numbers.py`, which the command line imports
without waiting for numpy and pandas."""

import numbers
from decimal import Decimal

import numpy as np
import pandas as pd

from pgt.core.errors import InputError


def as_numbers(where: str, data) -> np.ndarray:
    """A fresh float64 array; None, NA, blank text and masked entries become NaN."""
    if isinstance(data, np.ma.MaskedArray):
        data = np.ma.filled(data.astype(object), np.nan)
    try:
        array = np.asarray(data)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"`{where}` is not a rectangular array of numbers: {error}") from None
    if array.dtype.kind in "iuf":
        with np.errstate(over="ignore"):  # an overflow becomes inf and is reported by its row
            return np.array(array, dtype=np.float64)
    if array.dtype.kind in "OUT":
        cells = [_number(where, row, cell) for row, cell in np.ndenumerate(array)]
        return np.array(cells, dtype=np.float64).reshape(array.shape)
    raise InputError(
        f"`{where}` holds {array.dtype} values; convert them to plain numbers first (dates, for "
        "example, to seconds since the first reading)."
    )


def _number(where: str, row: tuple[int, ...], cell) -> float:
    if cell is None or cell is pd.NA or (isinstance(cell, str) and not cell.strip()):
        return np.nan
    try:
        if isinstance(cell, bool) or not isinstance(cell, (str, numbers.Real, Decimal)):
            raise TypeError
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        place = row[0] if row else 0
        raise InputError(
            f"`{where}`, row {place}: {str(cell)!r} is not a number. Correct it, or leave the cell "
            "empty to hide the reading."
        ) from None
