"""Fields between nodes."""

import numpy as np

from pgt.data.domain import Domain
from pgt.families.family import nodes_of
from pgt.families.stencil import Stencil, on_nodes

SQUARE = Domain(x=(0, 1), t=(0, 2))
AXES = nodes_of(SQUARE, x=12, t=9)
MESH = np.meshgrid(*AXES.values(), indexing="ij")
POINTS = np.random.default_rng(0).uniform((0, 0), (1, 2), (40, 2))


def polynomial(x, t):
    return np.stack([x**7 - 3 * x**2 * t**5, t**7 + x], axis=-1)


def test_polynomials_of_degree_seven_are_met_up_to_the_edge():
    points = np.concatenate([POINTS, [[0.0, 0.01], [1.0, 2.0], [0.999, 0.0]]])
    found = Stencil.of(points, AXES, SQUARE)(polynomial(*MESH))
    np.testing.assert_allclose(found, polynomial(*points.T), atol=2e-3)  # in single precision
    assert np.abs(polynomial(*points.T)).max() > 50


def test_nodes_may_lie_unevenly():
    x = np.sort(np.random.default_rng(2).uniform(0, 1, 30))
    axes = {"x": np.concatenate([[0.0], x, [1.0]])}
    at = np.linspace(0.02, 0.98, 50)[:, None]
    line = Domain(x=(0, 1))
    found = Stencil.of(at, axes, line)((axes["x"] ** 5)[:, None])
    np.testing.assert_allclose(found, at**5, atol=1e-5)
    assert on_nodes(axes["x"][[3, 8], None], axes)
    even = (axes["x"][0] + 5 * (axes["x"][1] - axes["x"][0])).reshape(1, 1)
    assert not on_nodes(even, axes)


def test_a_node_has_its_value_and_no_other():
    points = np.stack([m.ravel() for m in MESH], axis=-1)[::7]
    stencil = Stencil.of(points, AXES, SQUARE)
    assert on_nodes(points, AXES)
    assert not on_nodes(POINTS, AXES)
    assert stencil.nodes[0].shape[1] == 1
    values = np.random.default_rng(1).normal(size=(12, 9, 1)).astype(np.float32)
    np.testing.assert_array_equal(stencil(values)[:, 0], values.reshape(-1)[::7])


def test_a_period_is_closed():
    ring = Domain(x=(0, 1), periodic=("x",))
    axes = nodes_of(ring, x=64)
    x = np.linspace(0, 1, 101)[:, None]
    wave = np.cos(2 * np.pi * (3 * axes["x"] + 0.1))[:, None]
    found = np.asarray(Stencil.of(x, axes, ring)(wave))
    np.testing.assert_allclose(found, np.cos(2 * np.pi * (3 * x + 0.1)), atol=2e-6)
