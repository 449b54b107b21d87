import json

import pytest

from pgt.core import serialise
from pgt.core.errors import InputError
from pgt.geometry import Ball, Box, Cylinder, Disk, Ellipse, Formula, Polygon, Rectangle, Surface
from pgt.geometry.shape_storage import shape_from_dict, shape_to_dict

TETRAHEDRON = Surface(
    [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
)
SHAPES = [
    Disk(name="rim") - Ellipse(),
    -Rectangle((0, 1), (0, 1)).rotated(20),
    Polygon([(0, 0), (3, 0), (0, 3)], [[(0.5, 0.5), (1, 0.5), (0.5, 1)]]) | Disk(),
    Formula("x + y", x=(0, 1)) & Disk(),
    Ball() - Cylinder() - Box((0, 1), (0, 1), (0, 1)),
    TETRAHEDRON.moved(1, 2, 3),
]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
def test_shapes_go_through_json_and_files(shape, tmp_path):
    assert shape_from_dict(json.loads(json.dumps(shape_to_dict(shape)))) == shape
    serialise.save(tmp_path, "shape", shape)
    assert serialise.load(tmp_path, "shape") == shape


@pytest.mark.parametrize("data", [{}, {"kind": "Star"}, {"kind": "Disk", "radius": 1.0}])
def test_what_was_not_written_so_is_refused(data):
    with pytest.raises(InputError, match="no shape is written"):
        shape_from_dict(data)
