"""Named arrays: NPZ archives and MATLAB files of version 5 to 7.

Three layouts are understood: columns of one length; arrays of one shape (a full mesh); and a grid,
where each coordinate is a vector and the fields have one axis per coordinate, recognised by its
length. A single number holds for every row.

MATLAB files are read here and not by SciPy, whose compiled reader does not check the type of numbers:
one wrong byte ends the whole process (tests/io/test_arrays.py has an example). A file is a header of
128 bytes, then elements: type, size, content. An array is an element of elements: flags (its class),
dimensions, name, numbers.
"""

import itertools
import math
import struct
import zlib
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.io.columns import ArrayNames, Columns, as_numbers_or_dates, check_present, check_row_count
from pgt.io.file_access import wrap_library_errors


@register(".npz", kind="reader")
def read_npz(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """Arrays of a NumPy archive; pickled objects are never loaded."""
    wanted = coords + others
    with (
        wrap_library_errors("NPZ"),
        path.open("rb") as file,
        np.load(file, allow_pickle=False) as archive,
    ):
        for name in archive.files:  # a small archive may unpack to more than the memory holds
            if name in wanted or _is_structured(archive, name):
                check_row_count(archive.zip.getinfo(f"{name}.npy").file_size // 8)
        check_present(wanted, _npz_names(archive))
        arrays = {name: _npz_array(archive, name) for name in wanted}
    return Columns(flatten(arrays, coords, others))


def _npz_array(archive, name: str) -> np.ndarray:
    whole, _, column = name.partition(".")
    return archive[name] if name in archive.files else archive[whole][column]


@register(".mat", kind="reader")
def read_mat(path: Path, coords: tuple[str, ...], others: tuple[str, ...]) -> Columns:
    """Numeric arrays of a MATLAB file of version 5 to 7."""
    wanted = coords + others
    arrays = read_mat_arrays(path.read_bytes(), wanted)
    check_present(wanted, arrays)
    numeric: dict[str, np.ndarray] = {}
    for name in wanted:
        if (array := arrays[name]) is None:
            raise InputError(f"{name!r} is not an array of real numbers; save it as one.")
        numeric[name] = array
    return Columns(flatten(numeric, coords, others))


def flatten(
    arrays: dict[str, np.ndarray], coords: tuple[str, ...], others: tuple[str, ...]
) -> dict[str, np.ndarray]:
    """One row per reading, from columns, a mesh or a grid.

    >>> grid = {"x": np.arange(3), "t": np.arange(2), "u": np.arange(6).reshape(3, 2)}
    >>> flatten(grid, ("x", "t"), ("u",))["x"].tolist()
    [0.0, 0.0, 1.0, 1.0, 2.0, 2.0]
    """
    arrays = {name: as_numbers_or_dates(name, np.squeeze(array)) for name, array in arrays.items()}
    shapes = {array.shape for array in arrays.values() if array.ndim}
    if len(shapes) > 1:
        arrays = _align_axes(arrays, coords, others)
    shape = np.broadcast_shapes(*(array.shape for array in arrays.values()))
    check_row_count(math.prod(shape))
    return {n: np.array(np.broadcast_to(array, shape)).ravel() for n, array in arrays.items()}


def _align_axes(arrays, coords: tuple[str, ...], others: tuple[str, ...]):
    """The coordinates of a grid, shaped to broadcast against the fields."""
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


MAX_MAT_NUMBERS = 20_000_000  # in all packed arrays; more do not fit into memory
_NAME_BYTES = 4096  # the first bytes of an array, which hold its name
_MATRIX, _COMPRESSED = 14, 15
_STRUCTURE_CLASS = 2
_MAX_STRUCTURE_DEPTH = 5
_NUMBER_TYPES = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
_NUMERIC_CLASSES = range(6, 16)  # double, single and the integers
_COMPLEX_FLAG = 0x800


def read_mat_arrays(
    data: bytes, wanted: Container[str] | None = None
) -> dict[str, np.ndarray | None]:
    """Every variable by name, parts of structures as "name.part"; None for text, complex and sparse ones.

    Only those that are `wanted` are unpacked, or all where it is None; the value of the others is None.
    Whatever is wrong with the file, the error is an `InputError`.
    """
    try:
        return _parse_mat(data, wanted)
    except InputError:
        raise
    except Exception as error:  # damaged bytes: anything from struct.error to UnicodeDecodeError
        raise InputError(
            f"could not be read as MAT ({str(error) or type(error).__name__}). The file may be cut "
            "short, or not be what its name says; write it anew."
        ) from None


def _parse_mat(data: bytes, wanted: Container[str] | None) -> dict[str, np.ndarray | None]:
    if data[124:128] in (b"\x00\x02IM", b"\x02\x00MI"):
        raise InputError(
            "this is a MATLAB 7.3 file; save it with save(..., '-v7') or convert it to NetCDF."
        )
    if data[124:128] not in (b"\x00\x01IM", b"\x01\x00MI"):
        raise InputError("this is not a MATLAB file of version 5 to 7; save it with '-v7'.")
    order = "<" if data[126:128] == b"IM" else ">"
    arrays, room = {}, 8 * MAX_MAT_NUMBERS + _NAME_BYTES
    for kind, content in _iterate_elements(data[128:], order):
        name, array = _peek_name(content, order) if kind == _COMPRESSED else None, None
        if (
            wanted is None
            or name is None
            or name in wanted
            or _is_mat_structure(content, kind, order)
        ):
            if kind == _COMPRESSED:
                unpacked = _unpack_element(content, room)
                room -= len(unpacked)
                ((kind, content),) = _iterate_elements(unpacked, order)
            if kind != _MATRIX:
                raise InputError(
                    "could not be read as MAT: there are other elements between the arrays."
                )
            name, array = _parse_matrix(content, order)
        if name in arrays:
            raise InputError(f"two variables are named {name!r}; save the file anew.")
        arrays |= array if isinstance(array, dict) else {name: array}
    return arrays


def _iterate_elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """The type and content of each element; a short one has both in its first four bytes."""
    start = 0
    while start < len(data):
        kind, size = struct.unpack_from(order + "II", data, start)
        begin, step = start + 8, 8 + size
        if kind >> 16:
            kind, size, begin, step = kind & 0xFFFF, kind >> 16, start + 4, 8
        if begin + size > len(data) or (step == 8 and size > 4):
            raise InputError("could not be read as MAT: the file is cut short or damaged.")
        yield kind, data[begin : begin + size]
        start += step if kind == _COMPRESSED else step + -step % 8  # padded to eight bytes


def _unpack_element(content: bytes, room: int) -> bytes:
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(content, max(room, 1))
    if not unpacker.eof:
        raise InputError(
            "an array is cut short, or the arrays together are larger than what is read at once "
            f"({MAX_MAT_NUMBERS:,} numbers). Save a part."
        )
    return data


def _peek_name(content: bytes, order: str) -> str | None:
    """The name of an array, without unpacking the whole; None where it does not show."""
    head = zlib.decompressobj().decompress(content, _NAME_BYTES)
    try:
        _, _, (_, name) = itertools.islice(_iterate_elements(head[8:], order), 3)
        return name.decode("ascii")
    except (InputError, ValueError, struct.error):
        return None


def _is_mat_structure(content: bytes, kind: int, order: str) -> bool:
    """Whether an array is a structure, whose parts have names of their own."""
    head = (
        zlib.decompressobj().decompress(content, _NAME_BYTES)[8:]
        if kind == _COMPRESSED
        else content
    )
    (_, flags), *_ = itertools.islice(_iterate_elements(head[:24], order), 1)
    return int(np.frombuffer(flags, order + "u4")[0]) & 0xFF == _STRUCTURE_CLASS


def _parse_structure(
    name: str, shape: tuple[int, ...], parts: Iterator[tuple[int, bytes]], order: str, depth: int
):
    """The arrays of a structure by "name.part"; None for a row of structures, or too deep ones."""
    if math.prod(shape) != 1 or depth > _MAX_STRUCTURE_DEPTH:
        return None
    length = int(np.frombuffer(next(parts)[1], order + "i4")[0])
    names = next(parts)[1]
    keys = [
        names[at : at + length].split(b"\0")[0].decode("ascii")
        for at in range(0, len(names), length)
    ]
    found: dict[str, np.ndarray | None] = {}
    for key, (_, content) in zip(keys, parts, strict=True):
        array = _parse_matrix(content, order, depth + 1, f"{name}.{key}")[1] if content else None
        found |= array if isinstance(array, dict) else {f"{name}.{key}": array}
    return found


def _parse_matrix(
    content: bytes, order: str, depth: int = 0, called: str = ""
) -> tuple[str, np.ndarray | dict[str, np.ndarray | None] | None]:
    parts = _iterate_elements(content, order)
    flags = np.frombuffer(next(parts)[1], order + "u4")[0]
    shape = tuple(np.frombuffer(next(parts)[1], order + "i4").tolist())
    name = called or next(parts)[1].decode("ascii")
    if called:
        next(parts)  # the names of parts are stored in the structure
    if int(flags) & 0xFF == _STRUCTURE_CLASS:
        return name, _parse_structure(name, shape, parts, order, depth)
    if int(flags) & 0xFF not in _NUMERIC_CLASSES or int(flags) & _COMPLEX_FLAG:
        return name, None
    kind, numbers = next(parts)
    array = np.frombuffer(numbers, order + _NUMBER_TYPES[kind])
    if min(shape) < 0 or math.prod(shape) != array.size:
        raise InputError(f"{name!r} holds {array.size} numbers, but says it has the shape {shape}.")
    if array.size > MAX_MAT_NUMBERS:
        raise InputError(
            f"{name!r} holds {array.size:,} numbers; at most {MAX_MAT_NUMBERS:,} are read. Save a part."
        )
    return name, array.reshape(shape, order="F")


_MAX_NPY_HEADER_BYTES = 10_000


def list_npz_names(path: Path) -> ArrayNames:
    """The names of arrays in a NumPy archive."""
    with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
        return {name: name for name in _npz_names(archive)}


def _npz_names(archive: Any) -> list[str]:
    """The arrays of a NumPy archive; of a structured array each column: "data.x"."""
    found = []
    for name in archive.files:
        columns = archive[name].dtype.names if _is_structured(archive, name) else None
        found += [f"{name}.{column}" for column in columns] if columns else [name]
    return found


def _is_structured(archive: Any, name: str) -> bool:
    """Whether an array has named columns; only its header is read."""
    with archive.zip.open(f"{name}.npy") as member:
        start = member.read(_MAX_NPY_HEADER_BYTES)
    return b"'descr': [" in start


def list_mat_names(path: Path) -> ArrayNames:
    """The names of arrays in a MATLAB file."""
    return {name: name for name in read_mat_arrays(path.read_bytes(), ())}
