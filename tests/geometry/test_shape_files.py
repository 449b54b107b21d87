"""Shapes in files of every kind, against what shapely and trimesh say of them."""

import json

import meshio
import numpy as np
import pytest
import shapely
import trimesh

from pgt.core.errors import InputError
from pgt.geometry import read_shape
from pgt.geometry.shape_files import shape_of_mesh

LAKE = shapely.Point(0, 0).buffer(2, 64) - shapely.Point(0.5, 0).buffer(0.5, 64)
ISLANDS = shapely.MultiPolygon([LAKE, shapely.box(5, 5, 6, 7)])


def written(path, kind: str):
    """A file of each kind, and the measures of what is in it."""
    if kind == "wkt":
        path.write_text(ISLANDS.wkt)
    if kind == "geojson":
        geometry = json.loads(shapely.to_geojson(ISLANDS))
        feature = {"type": "Feature", "geometry": geometry, "properties": {}}
        path.write_text(json.dumps({"type": "FeatureCollection", "features": [feature]}))
    if kind in ("wkt", "geojson"):
        return ISLANDS.area, ISLANDS.length
    mesh = trimesh.creation.icosphere(3)
    if kind in ("stl", "ply", "obj"):
        mesh.export(path)
        return mesh.volume, mesh.area
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    rim = np.column_stack([np.cos(angle), np.sin(angle)])
    if kind == "vtu":  # a disk of triangles
        points = np.column_stack([np.vstack([[[0, 0]], rim]), np.zeros(61)])
        cells = np.column_stack(
            [np.zeros(60, int), np.arange(60) + 1, (np.arange(60) + 1) % 60 + 1]
        )
        meshio.write_points_cells(path, points, [("triangle", cells)])
        flat = shapely.Polygon(rim)
        return flat.area, flat.length
    # gmsh: a ball of tetrahedra from its middle
    points = np.vstack([np.zeros((1, 3)), mesh.vertices])
    cells = np.column_stack([np.zeros(len(mesh.faces), int), mesh.faces + 1])
    meshio.write_points_cells(path, points, [("tetra", cells)], file_format="gmsh22", binary=False)
    return mesh.volume, mesh.area


@pytest.mark.parametrize("kind", ["wkt", "geojson", "stl", "ply", "obj", "vtu", "msh"])
def test_measures_are_those_of_the_file(kind, tmp_path):
    path = tmp_path / f"shape.{kind}"
    measure, boundary = written(path, kind)
    shape = read_shape(path, name="wall")
    assert shape.measure() == pytest.approx(measure, rel=1e-3)
    assert shape.walls("wall").weights.sum() == pytest.approx(boundary, rel=1e-3)
    scaled = read_shape(path, factor=0.001)
    assert scaled.measure() == pytest.approx(measure * 0.001**shape.dimension, rel=1e-3)


OPEN = """solid s
facet normal 0 0 1
outer loop
vertex 0 0 0
vertex 1 0 0
vertex 0 1 0
endloop
endfacet
endsolid
"""
BROKEN = {
    "bow.wkt": ("POLYGON ((0 0, 1 1, 1 0, 0 1, 0 0))", "Self-intersection"),
    "line.wkt": ("LINESTRING (0 0, 1 1)", "a LineString; a shape is made of polygons"),
    "empty.wkt": ("POLYGON EMPTY", "empty"),
    "words.wkt": ("a lake", "not WKT that shapely can read"),
    "hole.wkt": ("POLYGON ((0 0, 1 0, 1 1, 0 0), (5 5, 6 5, 6 6, 5 5))", "not valid"),
    "half.geojson": ('{"type": "Feature"', "not GeoJSON"),
    "point.geojson": ('{"type": "Point", "coordinates": [0, 0]}', "made of polygons"),
    "none.geojson": ('{"type": "FeatureCollection", "features": []}', "empty"),
    "open.stl": (OPEN, "it is open: 3 edges"),
    "words.stl": ("no surface at all", "no triangles|no surface"),
    "empty.obj": ("# nothing\n", "surface|no triangles"),
    "mesh.xyz": ("1 2 3", "no mesh that meshio can read"),
    "words.msh": ("no mesh", "no mesh that meshio can read"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_by_name(name, tmp_path):
    text, words = BROKEN[name]
    path = tmp_path / name
    path.write_text(text)
    with pytest.raises(InputError, match=words) as refused:
        read_shape(path)
    assert name in str(refused.value)
    assert "\n" not in str(refused.value)


def test_what_is_no_source_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_shape(tmp_path / "missing.stl")
    with pytest.raises(InputError, match="begins with POLYGON or MULTIPOLYGON"):
        read_shape("LINESTRING (0 0, 2 0, 2 1, 0 0)")
    with pytest.raises(InputError, match="give a path"):
        read_shape(3)


def test_the_surface_of_tetrahedra_is_closed_however_they_are_turned():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1]], float)
    cells = np.array([[0, 1, 2, 3], [1, 2, 4, 3]])
    shape = shape_of_mesh(corners, {"tetra": cells[:, [0, 2, 1, 3]]})
    assert shape.measure() == pytest.approx(1 / 6 + 1 / 3)


def test_solid_cells_of_all_kinds_make_one_surface():
    cube = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
    cube = cube[[0, 1, 3, 2, 4, 5, 7, 6]]
    points = np.vstack([cube, [[0.5, 0.5, 2], [2, 0.5, 0.5], [2, 0.5, 0]]])
    cells = {
        "hexahedron": np.arange(8)[None],
        "pyramid": np.array([[4, 5, 6, 7, 8]]),
        "wedge": np.array([[1, 2, 10, 5, 6, 9]]),
    }
    shape = shape_of_mesh(points, cells)
    points[9, 2] = 1.0
    assert shape_of_mesh(points, cells).measure() == pytest.approx(1 + 1 / 3 + 1 / 2)
    assert shape.inside(np.array([[0.5, 0.5, 1.0], [1.2, 0.5, 0.2], [1.5, 0.9, 0.5]])).tolist() == [
        True, True, False,
    ]  # fmt: skip
    second = np.concatenate([np.arange(4), np.zeros(6, int)])[None]
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
    assert shape_of_mesh(corners, {"tetra10": second}).measure() == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("points", "cells", "said"),
    [
        (np.zeros((0, 3)), {}, "no triangles"),
        (np.zeros((0, 3)), {"triangle": np.zeros((0, 3), int)}, "no triangles"),
        (np.zeros((0, 3)), {"triangle": np.array([[0, 1, 2]])}, "none of its points"),
        (np.zeros((4, 1)), {}, "2 or 3 coordinates"),
        (np.eye(3), {"triangle": np.array([[0, 1, -1]])}, "none of its points"),
    ],
)
def test_a_mesh_that_is_empty_or_points_nowhere_is_refused(points, cells, said):
    with pytest.raises(InputError, match=said):
        shape_of_mesh(points, cells, None)


def test_inverted_normals_are_named(tmp_path):
    mesh = trimesh.creation.icosphere(1)
    mesh.invert()
    mesh.export(tmp_path / "ball.stl")
    with pytest.raises(InputError, match="all normals point inwards"):
        read_shape(tmp_path / "ball.stl")


def test_a_mesh_without_cells_that_cover_something_is_refused():
    with pytest.raises(InputError, match="its cells are line"):
        shape_of_mesh(np.zeros((2, 2)), {"line": np.array([[0, 1]])})
    with pytest.raises(InputError, match="not finite"):
        shape_of_mesh(np.full((3, 2), np.nan), {"triangle": np.array([[0, 1, 2]])})
