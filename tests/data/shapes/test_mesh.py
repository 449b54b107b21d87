import numpy as np
import pytest

from pgt.data.shapes.mesh import shape_of_mesh
from pgt.ground.errors import InputError


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


def test_a_mesh_without_cells_that_cover_something_is_refused():
    with pytest.raises(InputError, match="its cells are line"):
        shape_of_mesh(np.zeros((2, 2)), {"line": np.array([[0, 1]])})
    with pytest.raises(InputError, match="not finite"):
        shape_of_mesh(np.full((3, 2), np.nan), {"triangle": np.array([[0, 1, 2]])})
