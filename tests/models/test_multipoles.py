"""Functions around a hole in space: harmonic, or their Laplacian made of those before."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.models.multipoles import Multipoles

CUBE = {"x": (-1, 1), "y": (-1, 1), "z": (-1, 1)}
SHELL = pgt.shapes.Ball() - pgt.shapes.Ball((0.1, 0, 0), 0.3)


@pytest.fixture(scope="module")
def around():
    """The functions, and at some places their values and Laplacians."""
    domain = pgt.Domain(**CUBE, shape=SHELL)
    found = Multipoles.of(domain)
    assert found is not None
    with jax.enable_x64(True):
        ask = jax.jit(lambda z: (found(z), *(found(z, (k, k)) for k in range(3))))
        values, *second = map(np.asarray, ask(jnp.asarray(domain.even(60))))
    return found, values, sum(second)


def test_multipoles_are_harmonic_and_of_order_one(around):
    found, values, laplacian = around
    assert found.count == 16 + 9 + 4
    assert np.abs(values).max() < 10
    assert np.abs(laplacian[:, :16]).max() < 1e-9


def test_the_laplacian_of_further_ones_is_made_of_those_before(around):
    _, values, laplacian = around
    for rise, (one, before) in enumerate([((16, 25), (0, 9)), ((25, 29), (16, 20))], 1):
        own, earlier = laplacian[:, slice(*one)], values[:, slice(*before)]
        made = earlier @ np.linalg.lstsq(earlier, own, rcond=None)[0]
        assert np.abs(made - own).max() < 1e-9 * np.abs(own).max(), rise


def test_only_holes_in_space_have_them():
    assert Multipoles.of(pgt.Domain(**CUBE)) is None
    assert Multipoles.of(pgt.Domain(**CUBE, shape=pgt.shapes.Ball())) is None
    assert Multipoles.of(pgt.Domain(x=(-1, 1), y=(-1, 1), shape=pgt.shapes.Disk())) is None
    timed = Multipoles.of(pgt.Domain(**CUBE, t=(0, 1), shape=SHELL), fields=4)
    assert timed is not None
    assert timed.count == 20 * 7


@pytest.mark.slow
def test_heat_flows_through_a_shell():
    """1/r, of which thirty sines alone know nothing."""
    domain = pgt.Domain(
        **CUBE, shape=pgt.shapes.Ball(name="rim") - pgt.shapes.Ball(radius=0.3, name="hole")
    )
    places, asked = domain.even(20), domain.even(100, seed=3)

    def readings(points):
        return 0.3 / np.linalg.norm(points, axis=1)

    given = pgt.Observations.from_arrays(
        dict(zip("xyz", places.T, strict=True)), {"u": readings(places)}
    )
    scaling = pgt.Scaling.fit(given, domain)
    model = pgt.Features(scaling, count=60, band=2.0, domain=domain)
    result = pgt.reconstruct(given, pgt.Laplace(dimension=3), domain, model=model)
    np.testing.assert_allclose(result.at(asked).u, readings(asked), atol=1e-6)
