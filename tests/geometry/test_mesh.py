import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.geometry.mesh import shape_of_mesh


def grid(side: int) -> tuple[np.ndarray, np.ndarray]:
    """A square of squares, each two triangles."""
    axis = np.linspace(0, 1, side + 1)
    points = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    first = (np.arange(side)[:, None] * (side + 1) + np.arange(side)).ravel()
    quads = np.column_stack([first, first + side + 1, first + side + 2, first + 1])
    return points, quads


def test_the_outline_of_a_mesh_with_a_hole_has_two_rings():
    points, quads = grid(5)
    kept = np.delete(quads, 12, axis=0)  # the one in the middle
    shape = shape_of_mesh(points, {"quad": kept})
    assert shape.measure() == pytest.approx(24 / 25)
    assert shape.walls().weights.sum() == pytest.approx(4 + 0.8)


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


def test_a_mesh_without_cells_that_cover_something_is_refused():
    with pytest.raises(InputError, match="its cells are line"):
        shape_of_mesh(np.zeros((2, 2)), {"line": np.array([[0, 1]])})
    with pytest.raises(InputError, match="not finite"):
        shape_of_mesh(np.full((3, 2), np.nan), {"triangle": np.array([[0, 1, 2]])})


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
