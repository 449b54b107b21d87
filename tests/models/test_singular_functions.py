"""Singular functions satisfy their Laplace equations, and their derivatives match finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import j0, y0

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


@pytest.mark.slow
def test_a_field_that_is_singular_at_a_corner_is_found(local):
    def singular(points):
        x, y = points.T
        angle = np.arctan2(y, x) % (2 * np.pi)
        return np.hypot(x, y) ** (2 / 3) * np.sin(2 * angle / 3)

    room = pgt.Domain(
        x=(-1, 1), y=(-1, 1), shape=SQUARE - pgt.shapes.Rectangle((0, 1), (-1, 0), name="corner")
    )
    places, asked = room.even(40), room.even(200, seed=3)
    readings = pgt.Observations.from_arrays(
        {"x": places[:, 0], "y": places[:, 1]}, {"u": singular(places)}
    )
    model = pgt.Features(pgt.Scaling.fit(readings, room), count=100, band=4.0, domain=room)
    held = [pgt.Dirichlet(wall="corner", u=0.0)]
    result = pgt.reconstruct(readings, pgt.Laplace(), room, held, model=model)
    found = result.at({"x": asked[:, 0], "y": asked[:, 1]}).u
    assert np.abs(found.to_numpy() - singular(asked)).max() < 1e-4


@pytest.mark.slow
def test_heat_that_spreads_in_a_ring_is_found():
    """A Bessel function of r: with harmonic functions alone the error is 2e-3."""

    def field(points):
        x, y, t = points.T
        r = 4.4123947 * np.hypot(x, y)  # the slowest mode of walls at 0.3 and 1 that are held at 0
        inner = 4.4123947 * 0.3
        return (j0(r) * y0(inner) - y0(r) * j0(inner)) * np.exp(-0.05 * 4.4123947**2 * t)

    shape = pgt.shapes.Disk(name="rim") - pgt.shapes.Disk(radius=0.3, name="hole")
    ring = pgt.Domain(x=(-1, 1), y=(-1, 1), t=(0, 1), shape=shape)
    places, asked = ring.even(100, seed=1), ring.even(500, seed=2)
    readings = pgt.Observations.from_arrays(
        dict(zip("xyt", places.T, strict=True)), {"u": field(places)}
    )
    scaling = pgt.Scaling.fit(readings, ring)
    model = pgt.Features(scaling, count=300, band=(6.0, 6.0, 3.0), domain=ring)
    held = [pgt.Dirichlet(wall="rim", u=0.0), pgt.Dirichlet(wall="hole", u=0.0)]
    result = pgt.reconstruct(readings, pgt.Heat(0.05, dimension=2), ring, held, model=model)
    gap = result.at(asked).u.to_numpy() - field(asked)
    assert np.linalg.norm(gap) < 2e-4 * np.linalg.norm(field(asked))


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
