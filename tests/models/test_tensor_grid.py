"""Sums of sines on a grid are those at its points, derivatives and functions of shapes included."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.features import Multipoles, Sines
from pgt.models.singular_functions import SingularFunctions

POSITIONS = [np.linspace(-1, 1, 7), np.array([0.3]), np.linspace(-0.9, 0.8, 5)]


def at_points(sines, weights, axes, along):
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    with jax.enable_x64(True):
        values = np.asarray(sines(jnp.asarray(grid), along))
    return np.moveaxis(values @ weights.T, -1, 0)


def agree(sines, axes, along):
    weights = np.random.default_rng(0).normal(size=(2, sines.count))
    expected = at_points(sines, weights, axes, along)
    with jax.enable_x64(True):
        found = sines.on_grid(weights, axes, along)
    assert found.shape == (2, *(len(z) for z in axes))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("along", [(), (1,), (0, 0), (0, 2), (1, 1, 2, 2)])
@pytest.mark.parametrize("dimension", [2, 3])
def test_several_coordinates(dimension, along):
    if max(along, default=0) < dimension:
        sines = Sines.draw(40, (9.0, 4.0, 20.0)[:dimension], (False, True, False)[:dimension])
        agree(sines, POSITIONS[:dimension], along)


@pytest.mark.parametrize("along", [(), (0, 1), (2,), (0, 2, 2)])
def test_functions_around_a_hole_and_at_corners(along):
    shape = pgt.shapes.Rectangle((-0.5, 0.2), (-0.5, 0.1)) | pgt.shapes.Disk((0.6, 0.5), 0.2)
    domain = pgt.Domain(x=(-1, 1), y=(-1, 1), t=(0, 1), shape=-shape)
    sines = Sines.draw(10, (4.0, 4.0, 4.0), (False,) * 3, local=SingularFunctions.of(domain))
    agree(sines, [np.linspace(-0.95, 0.95, 6), np.array([0.9, -0.8]), np.linspace(-1, 1, 3)], along)


@pytest.mark.parametrize("along", [(), (0, 1)])
def test_functions_around_a_hole_in_space(along):
    domain = pgt.Domain(x=(-1, 1), y=(-1, 1), z=(-1, 1), shape=-pgt.shapes.Ball(radius=0.2))
    sines = Sines.draw(10, (4.0, 4.0, 4.0), (False,) * 3, local=Multipoles.of(domain))
    agree(sines, [np.linspace(-0.9, 0.9, 4), np.array([0.8]), np.array([0.5, 0.7])], along)
