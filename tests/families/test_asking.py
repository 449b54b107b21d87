"""Readings as a function of what is random about a system."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.families.asking import asked, grid_for, precisely
from pgt.families.assimilation import solving
from pgt.families.heat import HeatFamily
from pgt.families.stencil import Stencil

HEAT = HeatFamily(nodes=16, times=9)
NOISE, NU = np.random.default_rng(0).normal(size=8), 0.02


def exact(x, t, nu=NU):
    """The law of the family, as its page states it."""
    k = np.arange(1, 9)
    sizes = NOISE / (1 + (k / 3) ** 2)
    return (
        (sizes * np.sin(np.outer(x, k) * np.pi))
        * np.exp(-nu * np.outer(t, k**2) * np.pi**2)
        @ (np.ones(8))
    )


def read(readings, known, unknowns=NOISE):
    with precisely():
        asking, _, _ = asked(HEAT, readings.aligned(("u",)), known)
        return np.asarray(eqx.filter_jit(asking)(jnp.asarray(unknowns)))[: len(readings)], asking


def scattered(**more):
    x, t = np.random.default_rng(1).uniform(0, 1, (2, 11))
    return pgt.Observations.from_arrays({"x": x, "t": t}, {"u": np.ones(11)}, **more), x, t


def test_between_nodes_it_is_the_field_itself():
    readings, x, t = scattered()
    found, asking = read(readings, {"diffusivity": NU})
    np.testing.assert_allclose(found, exact(x, t), atol=1e-7)  # of a floor of 1e-4
    assert asking.size == 8


def test_boxes_are_averages():
    x, t = np.random.default_rng(1).uniform(0.1, 0.9, (2, 5))
    boxes = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": np.ones(5)}, width={"x": 0.1})
    across = np.linspace(-0.05, 0.05, 401)
    means = [np.trapezoid(exact(a + across, b + 0 * across), dx=1 / 400) for a, b in zip(x, t)]  # noqa: B905
    np.testing.assert_allclose(read(boxes, {"diffusivity": NU})[0], means, atol=1e-4)


def test_a_coefficient_that_is_not_known_is_one_more_normal():
    readings, x, t = scattered()
    found, asking = read(readings, {}, np.append(NOISE, 0.0))
    assert asking.size == 9
    middle = float(np.sqrt(np.prod(HEAT.ranges["diffusivity"])))
    np.testing.assert_allclose(found, exact(x, t, middle), atol=1e-7)


def test_nothing_read_and_too_much_are_refused(monkeypatch):
    readings, _, _ = scattered()
    with pytest.raises(pgt.InputError, match="empty"):
        read(readings.take(np.zeros(0, int)), {"diffusivity": NU})
    monkeypatch.setattr("pgt.families.asking.LARGEST_MATRIX", 80)
    with pytest.raises(pgt.InputError, match="give at most 10 readings"):
        read(readings, {"diffusivity": NU})


@pytest.mark.slow
@pytest.mark.parametrize("name", ["advection_diffusion", "burgers", "wave_2d"])
def test_twice_the_nodes_change_nothing_between_them(name):
    family = solving(pgt.families.get(name))
    rng = np.random.default_rng(0)
    points = rng.uniform(family.domain.lower, family.domain.upper, (200, len(family.axes)))
    hard = {n: low if name == "burgers" else high for n, (low, high) in family.ranges.items()}
    with precisely():
        fine, noise = grid_for(family, points), jnp.asarray(rng.normal(size=family.noise_shape))

        @eqx.filter_jit
        def at(grid, noise):
            drawn = {n: jnp.asarray(value) for n, value in hard.items()}
            return Stencil.of(points, grid.axes, grid.domain)(grid.solve(noise, drawn))

        once, twice = (np.asarray(at(grid, noise)) for grid in (fine, fine.finer(2, 2)))
    assert np.abs(once - twice).max() < 3e-5 * twice.std()  # measured: 1e-5
