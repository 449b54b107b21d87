"""Named arrays: NPZ and MAT files.

Three layouts are understood: columns of one length; arrays of one shape (a full mesh); and a grid,
where each coordinate is a vector and the fields have one axis per coordinate, recognised by its
length. A single number holds for every row.
"""

import math
from pathlib import Path

import numpy as np

from pgt.ground.errors import InputError
from pgt.ground.registry import register
from pgt.io._files import understood
from pgt.io.columns import Columns, check_count, check_present
from pgt.io.mat import read_arrays
from pgt.io.names import is_structured, names_in
from pgt.io.plain import numbers_or_dates


@register(".npz", kind="reader")
def read_npz(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """Arrays of a NumPy archive; nothing that is pickled is ever loaded."""
    wanted = coords + others
    with understood("NPZ"), path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        for name in archive.files:  # a small archive may unpack to more than the memory holds
            if name in wanted or is_structured(archive, name):
                check_count(archive.zip.getinfo(f"{name}.npy").file_size // 8)
        check_present(wanted, names_in(archive))
        arrays = {name: _array(archive, name) for name in wanted}
    return Columns(flatten(arrays, coords, others))


def _array(archive, name: str) -> np.ndarray:
    whole, _, column = name.partition(".")
    return archive[name] if name in archive.files else archive[whole][column]


@register(".mat", kind="reader")
def read_mat(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """Numeric arrays of a MATLAB file of version 5 to 7."""
    wanted = coords + others
    arrays = read_arrays(path.read_bytes(), wanted)
    check_present(wanted, arrays)
    plain = {name: array for name in wanted if (array := arrays[name]) is not None}
    for name in wanted:
        if name not in plain:
            raise InputError(f"{name!r} is not an array of real numbers; save it as one.")
    return Columns(flatten(plain, coords, others))


def flatten(
    arrays: dict[str, np.ndarray], coords: tuple[str, ...], others: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """One row per reading, from columns, a mesh or a grid.

    >>> grid = {"x": np.arange(3), "t": np.arange(2), "u": np.arange(6).reshape(3, 2)}
    >>> flatten(grid, ("x", "t"), ("u",))["x"].tolist()
    [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
    """
    arrays = {name: numbers_or_dates(name, np.squeeze(array)) for name, array in arrays.items()}
    shapes = {array.shape for array in arrays.values() if array.ndim}
    if len(shapes) > 1:
        arrays = _along_the_axes(arrays, coords, others)
    shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    check_count(math.prod(shape))
    return {n: np.array(np.broadcast_to(array, shape)).ravel() for n, array in arrays.items()}


def _along_the_axes(arrays, coords: tuple[str, ...], others: tuple[str, ...]):
    """The coordinates of a grid turned so that they broadcast against the fields."""
    shapes = {arrays[name].shape for name in others if arrays[name].ndim}
    axes = {name: arrays[name].size for name in coords if arrays[name].ndim}
    listed = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    shape = next(iter(shapes)) if len(shapes) == 1 else None
    if shape is None or sorted(axes.values()) != sorted(shape):
        raise InputError(
            f"the arrays do not fit together: {listed}. Give all of them one length, or the fields "
            "one axis per coordinate."
        )
    if len(set(shape)) < len(shape):
        raise InputError(
            f"two axes of the grid have the same length ({listed}), so it is unclear which is "
            "which. Save the coordinates as full arrays of the fields' shape (numpy.meshgrid with "
            'indexing="ij", or ndgrid).'
        )
    turned = dict(arrays)
    for name, length in axes.items():
        turned[name] = arrays[name].reshape([length if size == length else 1 for size in shape])
    return turned
