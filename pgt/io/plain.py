"""Columns of arrays as what they are: numbers, or dates, also where these are text."""

import numpy as np

from pgt.data._checks import as_numbers
from pgt.io.stamps import is_stamp, parse_stamps


def numbers_or_dates(name: str, array: np.ndarray) -> np.ndarray:
    """An array as numbers or datetime64, of the same shape.

    >>> numbers_or_dates("t", np.array(["2024-03-12 10:00:00"]))
    array(['2024-03-12T10:00:00.000000'], dtype='datetime64[us]')
    """
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    if array.dtype.kind in "USO" and (texts := _texts(array)) and all(map(is_stamp, texts)):
        cells = [_text(cell) for cell in array.ravel()]
        return parse_stamps(cells, np.arange(len(cells)), name, None).reshape(array.shape)
    return as_numbers(name, array)


def _texts(array: np.ndarray) -> list[str]:
    """The cells that are not empty, where all are text; none else."""
    cells = [cell for cell in array.ravel().tolist() if cell is not None]
    is_text = all(isinstance(cell, str | bytes) for cell in cells)
    return [text for cell in cells if (text := _text(cell))] if is_text else []


def _text(cell) -> str:
    if cell is None:
        return ""
    return cell.decode("utf-8", "replace") if isinstance(cell, bytes) else str(cell)
