"""Singular functions satisfy their Laplace equations, and their derivatives match finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.singular_functions import SingularFunctions

SQUARE = pgt.shapes.Rectangle((-1, 1), (-1, 1), name="outer")
ROOM = pgt.Domain(
    x=(-1, 1),
    y=(-1, 1),
    shape=SQUARE
    - pgt.shapes.Rectangle((0, 1), (-1, 0), name="corner")
    - pgt.shapes.Disk((-0.5, 0.5), 0.2),
)


@pytest.fixture(scope="module")
def local():
    found = SingularFunctions.of(ROOM)
    assert found is not None
    return found


def _found(domain, fields=1):
    found = SingularFunctions.of(domain, fields)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def inside(local):
    """Places, and there the functions and their second derivatives along x and y."""
    with jax.enable_x64(True):
        places = ROOM.even(300)
        both = jax.jit(lambda z: (local(z), local(z, (0, 0)), local(z, (1, 1))))
        return places, *map(np.asarray, both(jnp.asarray(places)))


def test_the_laplacian_of_every_further_function_is_made_of_those_before_and_of_smooth_ones(inside):
    places, values, along_x, along_y = inside
    x, y = places.T
    smooth = [x**i * y**j for i in range(8) for j in range(8 - i)]
    known, laplacian = np.column_stack([values, *smooth]), along_x + along_y
    made = known @ np.linalg.lstsq(known, laplacian, rcond=1e-13)[0]
    assert np.abs(made - laplacian).max() < 1e-6 * np.abs(laplacian).max()


def test_derivatives_are_those_of_differences(local):
    with jax.enable_x64(True):
        z, step = jnp.array([0.3, 0.4]), jnp.array([0.0, 1e-6])
        ask = jax.jit(lambda: (local(z + step), local(z - step), local(z, (1,))))
        above, below, slope = map(np.asarray, ask())
        assert slope == pytest.approx((above - below) / 2e-6, abs=1e-6)


def test_a_flow_around_an_ellipse_is_made_of_functions_about_several_centres():
    """Potential flow, by Joukowski: powers of 1/r about one centre do not converge at its broad sides."""
    a, b = 0.6, 0.2
    domain = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=-pgt.shapes.Ellipse(radii=(a, b)))
    local, places = _found(domain), domain.even(600)
    z, focus = places @ [1, 1j], np.sqrt(a**2 - b**2)
    mapped = (z + np.sqrt(z - focus) * np.sqrt(z + focus)) / 2
    flow = np.real(mapped + ((a + b) / 2) ** 2 / mapped)
    with jax.enable_x64(True):
        own = np.asarray(local(jnp.asarray(places)))
    x, y = places.T
    smooth = np.column_stack([x, y, np.ones(len(x)), x**2 - y**2, x * y])
    alone = own[:, : len(local.wound)]  # those of the first centre
    left = [
        np.linalg.norm(np.linalg.lstsq(basis, flow, rcond=1e-12)[0] @ basis.T - flow)
        for basis in (np.column_stack([part, smooth]) for part in (alone, own))
    ]
    assert left[1] < 1e-4 < 1e-2 < left[0]
