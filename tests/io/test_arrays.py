import contextlib

import numpy as np
import pytest
import scipy.io
from sensor_files import T, U, X, read, write, write_mat, write_npz

from pgt.ground.errors import InputError


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


def test_matlab_oddities(tmp_path):
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"x": X, "t": 2.0, "u": U, "s": {"a": 1}})
    np.testing.assert_array_equal(read(path).points[:, 1], 2.0)  # one number holds for all
    with pytest.raises(InputError, match=r"no column 's'. Known: x, t, u, s\.a"):
        read(path, fields=("s",))
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    with pytest.raises(InputError, match=r"MATLAB 7.3"):
        read(write(tmp_path, header, "b.mat"))


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
