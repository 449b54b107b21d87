import os
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from field_cases import at_points, field

from pgt.ground.errors import InputError
from pgt.io import write_field


def read_vtr(path):
    """Extent, and the arrays by name, of a file with raw appended data."""
    head, _, data = path.read_bytes().partition(b'<AppendedData encoding="raw">\n_')
    root = ElementTree.fromstring(head + b"</VTKFile>")
    assert (root.get("type"), root.get("header_type")) == ("RectilinearGrid", "UInt64")
    arrays = {}
    for array in root.iter("DataArray"):
        assert array.get("type") == "Float64"
        start = int(array.get("offset"))
        size = int(np.frombuffer(data, "<u8", 1, start)[0])
        arrays[array.get("Name")] = np.frombuffer(data, "<f8", size // 8, start + 8)
    return root.find(".//Piece").get("Extent"), arrays


def test_one_instant_is_one_file(tmp_path):
    before = field(("t", "y", "x")).isel(t=[1])
    assert write_field(before, tmp_path / "field.vtr") == tmp_path / "field.vtr"
    extent, arrays = read_vtr(tmp_path / "field.vtr")
    assert extent == "0 3 0 2 0 0"
    np.testing.assert_array_equal(arrays["x_coordinates"], before.x)
    np.testing.assert_array_equal(arrays["z_coordinates"], [0])
    np.testing.assert_array_equal(arrays["u"], before.u.to_numpy().ravel())  # x runs fastest
    assert os.listdir(tmp_path) == ["field.vtr"]


@pytest.mark.parametrize("axes", [("t", "x"), ("x", "z", "t"), ("t", "z", "y", "x")])
def test_several_instants_are_numbered(tmp_path, axes):
    before = field(axes)
    assert write_field(before, tmp_path / "f & g.vtr") == tmp_path / "f & g.pvd"
    listed = list(ElementTree.parse(tmp_path / "f & g.pvd").iter("DataSet"))
    assert [float(entry.get("timestep")) for entry in listed] == before.t.to_numpy().tolist()
    for index, entry in enumerate(listed):
        _, arrays = read_vtr(tmp_path / entry.get("file"))
        order = [axis for axis in "zyx" if axis in axes]
        snapshot = before.p.isel(t=index).transpose(*order)
        np.testing.assert_array_equal(arrays["p"], snapshot.to_numpy().ravel())
    assert len(os.listdir(tmp_path)) == 4


def test_capital_letters_in_the_ending(tmp_path):
    for name in ("a.NC", "b.CSV", "c.VTR"):
        assert write_field(field(("x",)), tmp_path / name).stat().st_size > 100
    assert len(read_vtr(tmp_path / "c.vtr")[1]["u"]) == 4


def test_scattered_points_are_no_grid(tmp_path):
    with pytest.raises(InputError, match=r"dimension 'point'.*\.csv"):
        write_field(at_points(), tmp_path / "values.vtr")
