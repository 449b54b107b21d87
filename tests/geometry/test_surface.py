import time

import numpy as np
import pytest
import trimesh

import pgt
from pgt.core.errors import InputError
from pgt.geometry import Surface

CORNERS = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
FACES = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])


@pytest.fixture(scope="module")
def torus():
    mesh = trimesh.creation.torus(2, 0.7, major_sections=100, minor_sections=50)
    return mesh, Surface(mesh.vertices, mesh.faces, name="torus")


def test_ten_thousand_triangles_and_a_million_points_take_seconds(torus):
    _, surface = torus
    places = np.random.default_rng(0).uniform(-3, 3, (10**6, 3))
    began = time.process_time()
    inside = surface.inside(places)
    assert time.process_time() - began < 10
    ring = np.hypot(np.hypot(places[:, 0], places[:, 1]) - 2, places[:, 2]) < 0.7
    assert (inside != ring).mean() < 1e-3  # a torus of flat triangles


def test_volume_and_area_are_those_of_trimesh(torus):
    mesh, surface = torus
    assert surface.measure() == pytest.approx(mesh.volume, rel=1e-9)
    assert surface.walls().weights.sum() == pytest.approx(mesh.area, rel=1e-9)


def test_distance_is_that_from_the_torus(torus):
    places = np.random.default_rng(1).uniform(-3, 3, (300, 3))
    known = np.hypot(np.hypot(places[:, 0], places[:, 1]) - 2, places[:, 2]) - 0.7
    assert torus[1].distance(places) == pytest.approx(known, abs=0.01)


def test_points_in_line_with_corners_and_edges_are_told_apart():
    cube = trimesh.creation.box((2, 2, 2))
    surface = Surface(cube.vertices, cube.faces)
    line = np.array([[0.0, 0.0, z] for z in (-2, -0.5, 0, 0.5, 2)])
    assert surface.inside(line).tolist() == [False, True, True, True, False]


@pytest.mark.parametrize(
    ("corners", "faces", "words"),
    [
        (CORNERS, FACES[:3], "it is open: 3 edges"),
        (CORNERS, FACES[:, ::-1], "all normals point inwards"),
        (CORNERS, np.vstack([FACES[:3], FACES[3:, ::-1]]), "some triangles are seen clockwise"),
        (CORNERS, np.vstack([FACES, FACES[:1]]), "more than two triangles"),
        (CORNERS, FACES + 1, "names a corner that is not there"),
        (CORNERS * np.nan, FACES, "corner 0 is not finite"),
        (CORNERS, np.zeros((0, 3), int), "0 triangles are no surface"),
        (CORNERS[:, :2], FACES, "are no surface"),
        (CORNERS, FACES.astype(float), "whole numbers"),
        ("corners", FACES, "as arrays"),
    ],
)
def test_what_is_no_closed_surface_is_refused(corners, faces, words):
    with pytest.raises(InputError, match=words):
        Surface(corners, faces)


def test_parts_of_a_surface_may_overlap():
    ball = trimesh.creation.icosphere(3)
    other = ball.copy().apply_translation((0.8, 0, 0))
    both = trimesh.util.concatenate([ball, other])
    shape = Surface(both.vertices, both.faces, name="balls")
    assert shape.inside(np.array([[0.4, 0, 0], [-0.9, 0, 0], [1.7, 0, 0], [3, 0, 0]])).tolist() == [
        True, True, True, False,
    ]  # fmt: skip
    domain = pgt.Domain(x=(-2, 3), y=(-2, 2), z=(-2, 2), shape=shape)
    lens = np.pi * (4 + 0.8) * (2 - 0.8) ** 2 / 12
    assert domain.volume == pytest.approx(8 / 3 * np.pi - lens, rel=0.01)
