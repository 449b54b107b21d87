"""MATLAB files: read as SciPy reads them, and refused in words where SciPy's reader dies."""

import contextlib
import io
import struct
import tracemalloc
import zlib

import fresh_python
import numpy as np
import pytest
import scipy.io
from sensor_files import T, X, read, write, write_mat, write_npz

from pgt.core.errors import InputError
from pgt.io import arrays
from pgt.io.arrays import read_mat_arrays


def test_pickles_are_never_loaded(tmp_path):
    path = tmp_path / "table.npz"
    np.savez(path, x=X, t=T, u=np.array([{}, 1, 2], dtype=object))
    with pytest.raises(InputError, match="could not be read as NPZ"):
        read(path)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": X, "t": T, "u": [1.0, 2.0]}, r"do not fit together: x \(3,\)"),
        ({"x": X, "t": T, "u": np.zeros((3, 3))}, "same length .*meshgrid"),
        ({"x": X, "t": T[:2], "u": np.zeros((3, 4))}, "do not fit together"),
        ({"x": X, "t": T, "u": [1j, 2, 3]}, "complex"),
        ({"x": X, "t": T, "u": ["a", "b", "c"]}, "'a' is not a number"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(InputError, match=message):
        read(tmp_path / "a.npz")


@pytest.mark.parametrize("suffix", [".npz", ".mat"])
def test_damaged_archives(tmp_path, suffix):
    path, rng = tmp_path / f"a{suffix}", np.random.default_rng(0)
    {".npz": write_npz, ".mat": write_mat}[suffix](path)
    whole = path.read_bytes()
    for _ in range(300):
        data = bytearray(whole)
        for place in rng.integers(len(data), size=2):
            data[place] = rng.integers(256)
        with contextlib.suppress(InputError):
            assert len(read(write(tmp_path, bytes(data), path.name)))


HEADER = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"
# x = [1, 2] as SciPy writes it; the byte after the name, 9, says that the numbers are doubles.
SOUND = bytes.fromhex(
    "0e00000040000000 0600000008000000 0600000000000000 0500000008000000 0100000002000000"
    "0100010078000000 0900000010000000 000000000000f03f 0000000000000040"
)
TYPE_OF_NUMBERS = 48
LOAD = "import io, sys, scipy.io; scipy.io.loadmat(io.BytesIO(bytes.fromhex(sys.argv[1])))"


def with_type(kind):
    return HEADER + SOUND[:TYPE_OF_NUMBERS] + bytes([kind]) + SOUND[TYPE_OF_NUMBERS + 1 :]


def element(kind, content, order="<"):
    return struct.pack(order + "II", kind, len(content)) + content + b"\x00" * (-len(content) % 8)


def array(shape, numbers, flags=6, name=b"x", kind=9):
    parts = (
        element(6, struct.pack("<II", flags, 0)),
        element(5, struct.pack(f"<{len(shape)}i", *shape)),
        element(1, name),
        element(kind, numbers),
    )
    return element(arrays._MATRIX, b"".join(parts))


# --- sound files --------------------------------------------------------------


@pytest.mark.parametrize(
    "kind", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", ">f8"]
)
@pytest.mark.parametrize("packed", [True, False])
def test_arrays_are_read_as_scipy_reads_them(tmp_path, kind, packed):
    path = tmp_path / "a.mat"
    arrays = {"a_long_name": np.arange(24).reshape(2, 3, 4), "b": [[1, 2], [3, 4]], "c": 5}
    arrays = {name: np.asarray(array).astype(kind) for name, array in arrays.items()}
    others = {"text": "abc", "cell": np.array([1, "a"], object), "none": np.zeros((0, 3))}
    scipy.io.savemat(path, arrays | others | {"z": [1j]}, do_compression=packed)
    ours, theirs = read_mat_arrays(path.read_bytes()), scipy.io.loadmat(path)
    assert list(ours) == [name for name in theirs if name[0] != "_"]
    for name in [*arrays, "none"]:
        np.testing.assert_array_equal(ours[name], theirs[name])
    assert [ours[name] for name in ("text", "cell", "z")] == [None] * 3


def test_both_byte_orders_are_read():
    swapped = (
        HEADER[:124]
        + b"\x01\x00MI"
        + b"".join(
            (
                struct.pack(">II", arrays._MATRIX, 64),
                element(6, struct.pack(">II", 6, 0), ">"),
                element(5, struct.pack(">ii", 1, 2), ">"),
                struct.pack(">I", 1 << 16 | 1) + b"x\x00\x00\x00",
                element(9, struct.pack(">dd", 1.0, 2.0), ">"),
            )
        )
    )
    for data in (swapped, HEADER + SOUND):
        np.testing.assert_array_equal(read_mat_arrays(data)["x"], [[1.0, 2.0]])


# --- why it is ours -----------------------------------------------------------


@pytest.mark.parametrize("kind", [0, 14, 255])
def test_a_type_that_does_not_exist_is_refused_where_scipy_dies(kind):
    damaged = with_type(kind)
    with pytest.raises(InputError, match="could not be read as MAT"):
        read_mat_arrays(damaged)
    assert scipy.io.loadmat(io.BytesIO(with_type(9)))["x"].tolist() == [[1.0, 2.0]]
    outcome = fresh_python.run("-c", LOAD, damaged.hex())
    if outcome.returncode >= 0:
        pytest.skip(f"SciPy {scipy.__version__} survives this file: its reader may serve again")
    assert outcome.returncode < 0  # a signal, and no exception to catch


# --- damaged files ------------------------------------------------------------


def test_any_wrong_byte_is_read_or_refused():
    refused = 0
    for byte in range(len(SOUND)):
        for wrong in (0x00, 0x01, 0x0F, 0x7F, 0xFF):
            data = bytearray(HEADER + SOUND)
            data[len(HEADER) + byte] = wrong
            try:
                assert len(read_mat_arrays(bytes(data))) == 1
            except InputError:
                refused += 1
    assert 100 < refused < 300


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a MATLAB file"),
        (HEADER[:124] + b"\x00\x02IM", "MATLAB 7.3"),
        ((HEADER + SOUND)[:-4], "cut short"),
        (HEADER + element(arrays._COMPRESSED, zlib.compress(SOUND)[:-6]), "cut short"),
        (HEADER + element(1, b"abcd"), "between the arrays"),
        (HEADER + 2 * SOUND, "two variables are named 'x'"),
        (HEADER + array((3, 1), bytes(16)), r"'x' holds 2 numbers, but says it has .*\(3, 1\)"),
        (HEADER + array((-1, -2), bytes(16)), "'x' holds 2 numbers"),
    ],
)
def test_what_is_wrong_is_said(data, message):
    with pytest.raises(InputError, match=message):
        read_mat_arrays(data)


def test_memory_is_bounded(monkeypatch):
    monkeypatch.setattr(arrays, "MAX_MAT_NUMBERS", 1000)
    with pytest.raises(InputError, match="'x' holds 1,001 numbers; at most 1,000"):
        read_mat_arrays(HEADER + array((1, 1001), bytes(8008)))
    bomb = element(arrays._COMPRESSED, zlib.compress(array((1, 10**6), bytes(8 * 10**6))))
    tracemalloc.start()
    with pytest.raises(InputError, match="larger than what is read at once"):
        read_mat_arrays(HEADER + bomb)
    assert tracemalloc.get_traced_memory()[1] < 10**6
    tracemalloc.stop()


def test_structures_are_opened():
    made = io.BytesIO()
    inner = {"raw": np.arange(3.0), "note": "text"}
    scipy.io.savemat(made, {"rod": {"x": [1.0, 2.0], "T": inner}, "y": 5.0}, do_compression=True)
    arrays = read_mat_arrays(made.getvalue(), ("rod.T.raw",))
    assert set(arrays) == {"rod.x", "rod.T.raw", "rod.T.note", "y"}
    np.testing.assert_array_equal(arrays["rod.T.raw"], [[0.0, 1.0, 2.0]])
    assert arrays["rod.T.note"] is None
