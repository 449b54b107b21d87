"""Numeric arrays of MATLAB files, versions 5 to 7.

Read here and not by SciPy, whose compiled reader looks up the type of the numbers without asking
whether there is such a type: one wrong byte takes the whole process down (tests/io/test_mat.py shows
one). A file is a header of 128 bytes and then elements: type, size, content. An array is an element of
elements: flags (its class), dimensions, name, numbers.
"""

import itertools
import math
import struct
import zlib
from collections.abc import Container, Iterator

import numpy as np

from pgt.ground.errors import InputError

MOST_NUMBERS = 20_000_000  # of all arrays that are packed; beyond this they no longer fit in memory
HEAD = 4096  # bytes in which the name of an array stands
MATRIX, COMPRESSED = 14, 15
STRUCTURE, DEEPEST = 2, 5  # the class of structures, and how deep they may stand in each other
NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
NUMERIC_CLASSES = range(6, 16)  # double, single, and the integers
COMPLEX = 0x800


def read_arrays(data: bytes, wanted: Container[str] | None = None) -> dict[str, np.ndarray | None]:
    """Every variable by name; None in place of text, complex and sparse arrays. The parts of a structure
    are called "name.part".

    Only those that are `wanted` are unpacked, all where nothing is said; None stands for the others,
    too. Whatever is wrong with the file, the error is an `InputError`.
    """
    try:
        return _arrays(data, wanted)
    except InputError:
        raise
    except Exception as error:  # damaged bytes: anything from struct.error to UnicodeDecodeError
        raise InputError(
            f"could not be read as MAT ({str(error) or type(error).__name__}). The file may be cut "
            "short, or not be what its name says; write it anew."
        ) from None


def _arrays(data: bytes, wanted: Container[str] | None) -> dict[str, np.ndarray | None]:
    if data[124:128] in (b"\x00\x02IM", b"\x02\x00MI"):
        raise InputError(
            "this is a MATLAB 7.3 file; save it with save(..., '-v7') or convert it to NetCDF."
        )
    if data[124:128] not in (b"\x00\x01IM", b"\x01\x00MI"):
        raise InputError("this is not a MATLAB file of version 5 to 7; save it with '-v7'.")
    order = "<" if data[126:128] == b"IM" else ">"
    arrays, room = {}, 8 * MOST_NUMBERS + HEAD
    for kind, content in _elements(data[128:], order):
        name, array = _packed_name(content, order) if kind == COMPRESSED else None, None
        if wanted is None or name is None or name in wanted or _is_structure(content, kind, order):
            if kind == COMPRESSED:
                unpacked = _unpacked(content, room)
                room -= len(unpacked)
                ((kind, content),) = _elements(unpacked, order)
            if kind != MATRIX:
                raise InputError("could not be read as MAT: there is something between the arrays.")
            name, array = _matrix(content, order)
        if name in arrays:
            raise InputError(f"two variables are named {name!r}; save the file anew.")
        arrays |= array if isinstance(array, dict) else {name: array}
    return arrays


def _elements(data: bytes, order: str) -> Iterator[tuple[int, bytes]]:
    """Type and content of each element; a short one has both in its first four bytes."""
    start = 0
    while start < len(data):
        kind, size = struct.unpack_from(order + "II", data, start)
        begin, step = start + 8, 8 + size
        if kind >> 16:
            kind, size, begin, step = kind & 0xFFFF, kind >> 16, start + 4, 8
        if begin + size > len(data) or (step == 8 and size > 4):
            raise InputError("could not be read as MAT: the file is cut short or damaged.")
        yield kind, data[begin : begin + size]
        start += step if kind == COMPRESSED else step + -step % 8  # padded to eight bytes


def _unpacked(content: bytes, room: int) -> bytes:
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(content, max(room, 1))
    if not unpacker.eof:
        raise InputError(
            "an array is cut short, or the arrays together are larger than what is read at once "
            f"({MOST_NUMBERS:,} numbers). Save a part."
        )
    return data


def _packed_name(content: bytes, order: str) -> str | None:
    """The name of an array, without unpacking the whole; None where it does not show."""
    head = zlib.decompressobj().decompress(content, HEAD)
    try:
        _, _, (_, name) = itertools.islice(_elements(head[8:], order), 3)
        return name.decode("ascii")
    except (InputError, ValueError, struct.error):
        return None


def _is_structure(content: bytes, kind: int, order: str) -> bool:
    """Whether an array is a structure: its parts have names that only its content tells."""
    head = zlib.decompressobj().decompress(content, HEAD)[8:] if kind == COMPRESSED else content
    (_, flags), *_ = itertools.islice(_elements(head[:24], order), 1)
    return int(np.frombuffer(flags, order + "u4")[0]) & 0xFF == STRUCTURE


def _structure(
    name: str, shape: tuple[int, ...], parts: Iterator[tuple[int, bytes]], order: str, depth: int
):
    """The arrays of a structure by "name.part"; None: it is a row of structures, or too deep."""
    if math.prod(shape) != 1 or depth > DEEPEST:
        return None
    length = int(np.frombuffer(next(parts)[1], order + "i4")[0])
    names = next(parts)[1]
    keys = [
        names[at : at + length].split(b"\0")[0].decode("ascii")
        for at in range(0, len(names), length)
    ]
    found: dict[str, np.ndarray | None] = {}
    for key, (_, content) in zip(keys, parts, strict=True):
        array = _matrix(content, order, depth + 1, f"{name}.{key}")[1] if content else None
        found |= array if isinstance(array, dict) else {f"{name}.{key}": array}
    return found


def _matrix(
    content: bytes, order: str, depth: int = 0, called: str = ""
) -> tuple[str, np.ndarray | dict[str, np.ndarray | None] | None]:
    parts = _elements(content, order)
    flags = np.frombuffer(next(parts)[1], order + "u4")[0]
    shape = tuple(np.frombuffer(next(parts)[1], order + "i4").tolist())
    name = called or next(parts)[1].decode("ascii")
    if called:
        next(parts)  # inside a structure the names stand beside
    if int(flags) & 0xFF == STRUCTURE:
        return name, _structure(name, shape, parts, order, depth)
    if int(flags) & 0xFF not in NUMERIC_CLASSES or int(flags) & COMPLEX:
        return name, None
    kind, numbers = next(parts)
    array = np.frombuffer(numbers, order + NUMBERS[kind])
    if min(shape) < 0 or math.prod(shape) != array.size:
        raise InputError(f"{name!r} holds {array.size} numbers, but says it has the shape {shape}.")
    if array.size > MOST_NUMBERS:
        raise InputError(
            f"{name!r} holds {array.size:,} numbers; at most {MOST_NUMBERS:,} are read. Save a part."
        )
    return name, array.reshape(shape, order="F")
