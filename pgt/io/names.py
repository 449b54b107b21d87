"""What the arrays in a file are called, and what they are by that, without reading them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pgt.data.units import conversion
from pgt.io.called import AXES, is_called
from pgt.io.gridded import SUFFIXES, opened
from pgt.io.mat import read_arrays

LONGEST_HEADER = 10_000  # bytes of an array's header
Names = dict[str, str]


def _of_netcdf(path: Path) -> Names:
    with opened(path) as dataset:
        arrays = {str(n): array for n, array in dataset.variables.items()}
        edges = {str(array.attrs.get("bounds", "")) for array in arrays.values()}
        names = [n for n, a in arrays.items() if _is_read(n, a.dtype) and n not in edges]
        names = [name for name in names if not name.endswith(("_bnds", "_bounds"))]
        names = sorted(names, key=lambda name: -arrays[name].ndim)  # fields have the most axes
        return {name: _called(name, arrays[name].attrs) for name in names}


def _is_read(name: str, kind: np.dtype) -> bool:
    """Whether a variable is numbers, or times as text."""
    return kind.kind in "iuf" or (kind.kind in "OSU" and is_called(name, "t"))


def _called(name: str, attributes: Mapping[str, Any]) -> str:
    """What a variable is, where its attributes say so in the words of CF; else its name."""
    if any(is_called(name, axis) for axis in AXES):
        return name
    standard, axis = (str(attributes.get(key, "")) for key in ("standard_name", "axis"))
    if axis == "T" or standard == "time" or " since " in str(attributes.get("units", "")):
        return "time"
    if standard.endswith("temperature"):
        return "temperature"
    is_length = conversion(str(attributes.get("units", "")), "m") is not None
    return axis.lower() if axis in ("X", "Y", "Z") and is_length else name


def _of_npz(path: Path) -> Names:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return {name: name for name in names_in(archive)}


def names_in(archive: Any) -> list[str]:
    """The arrays of a NumPy archive; of one that has columns with names, each of them: "data.x"."""
    found = []
    for name in archive.files:
        columns = archive[name].dtype.names if is_structured(archive, name) else None
        found += [f"{name}.{column}" for column in columns] if columns else [name]
    return found


def is_structured(archive: Any, name: str) -> bool:
    """Whether an array has columns with names, as its header says; the array itself is not read."""
    with archive.zip.open(f"{name}.npy") as member:
        start = member.read(LONGEST_HEADER)
    return b"'descr': [" in start


def _of_mat(path: Path) -> Names:
    return {name: name for name in read_arrays(path.read_bytes(), ())}


NAMES: dict[str, Callable[[Path], Names]] = {
    **dict.fromkeys(SUFFIXES, _of_netcdf),
    ".npz": _of_npz,
    ".mat": _of_mat,
}
