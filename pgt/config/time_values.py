"""Dates among the bounds of a run file, counted as the time of its readings is."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pgt.config.run import RunFile
from pgt.core.errors import InputError
from pgt.data.dates import dates, seconds
from pgt.io.time_stamps import elapsed_since, split_origin


def bounds_of(run: RunFile, units: Callable[[], Mapping[str, str]]) -> dict[str, tuple[float, ...]]:
    """The bounds of every axis as numbers; `units` are only asked for where there are dates."""
    axes: dict[str, tuple[Any, ...]] = run.domain.axes
    if "t" not in axes or not isinstance(axes["t"][0], str):
        return axes
    with run.located("domain", "t"):
        return axes | {"t": _counted(axes["t"], units().get("t", ""))}


def _counted(pair: tuple[str, ...], unit: str) -> tuple[float, ...]:
    plain, origin = split_origin(unit)
    if origin is None:
        raise InputError(
            "the bounds are dates, but the time of the readings is a number; write numbers, or say from "
            'when they count: `units={"t": "s since 2024-03-01"}`.'
        )
    moments = dates(seconds("t", np.array(pair, object)))
    low, high = elapsed_since(moments, origin, plain or "s").tolist()
    if not low < high:
        raise InputError(f"{pair[0]} is not before {pair[1]}; write [first, last].")
    return low, high
