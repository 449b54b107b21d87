import meshio
import numpy as np
import pytest
import xarray as xr

from pgt.ground.errors import InputError
from pgt.io.meshes import mesh_points, read_mesh, write_mesh

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
MESH = meshio.Mesh(CORNERS, [("triangle", np.array([[0, 1, 2]]))])


def test_values_go_to_the_mesh_and_back(tmp_path):
    points = mesh_points(MESH, ("x", "y", "t"), t=0.5)
    assert points["t"].tolist() == [0.5] * 3
    values = xr.Dataset({"u": ("point", points["x"] + 2), "u_x": ("point", np.ones(3))})
    again = read_mesh(write_mesh(tmp_path / "field.vtu", MESH, values))
    assert again.point_data["u"].tolist() == [2.0, 3.0, 2.0]
    assert again.point_data["u_x"].tolist() == [1.0, 1.0, 1.0]
    assert again.points.shape == (3, 3)


def test_what_does_not_fit_is_refused(tmp_path):
    with pytest.raises(InputError, match="write an instant"):
        mesh_points(MESH, ("x", "y", "t"))
    with pytest.raises(InputError, match="3 points"):
        write_mesh(tmp_path / "field.vtu", MESH, xr.Dataset({"u": ("point", np.ones(2))}))
    (tmp_path / "words.msh").write_text("no mesh")
    with pytest.raises(InputError, match="no mesh that meshio can read"):
        read_mesh(tmp_path / "words.msh")
