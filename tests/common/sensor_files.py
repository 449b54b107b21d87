"""Three readings, and how the tests of readers write and read them."""

import numpy as np
import scipy.io

from pgt.io import read_observations

NAN = float("nan")
X, T = [0.5, 0.25, 0.75], [0.0, 1.0, 2.0]
U = [1.5, NAN, -3e-2]


def write(folder, content, name="sensors.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(path, coords=("x", "t"), fields=("u",), **options):
    return read_observations(path, coords=coords, fields=fields, **options)


def check(readings):
    """The three readings that every format of these tests holds."""
    assert (readings.coords, readings.fields) == (("x", "t"), ("u",))
    np.testing.assert_array_equal(readings.points, np.stack([X, T], axis=1))
    np.testing.assert_array_equal(readings.mask[:, 0], [True, False, True])
    np.testing.assert_array_equal(readings.values[:, 0], [1.5, 0, -3e-2])


VALID = b"x,t,u,note\n0.5,0.25,1.5,a\n0.125,1e-1,,b\n-3,2.5,NaN,\n7,8,9,d\n"


def write_npz(path):
    np.savez_compressed(path, x=X, t=T, u=np.array([U]), other=np.zeros((4, 4)))


def write_mat(path):
    scipy.io.savemat(path, {"x": X, "t": np.array([T]).T, "u": U, "note": "text"})
