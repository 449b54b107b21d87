"""Readings as a function of the randomness of a system, and interpolation between nodes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.data.domain import Domain
from pgt.families.family import nodes_of
from pgt.families.laws import HeatFamily
from pgt.families.observation_operator import (
    Stencil,
    double_precision,
    problem_of,
    problem_of_batch,
)
from pgt.families.sensing import SensorBatch

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
    with double_precision():
        found = problem_of(HEAT, readings.aligned(("u",)), known).operator
        return np.asarray(eqx.filter_jit(found)(jnp.asarray(unknowns)))[: len(readings)], found


def scattered(**more):
    x, t = np.random.default_rng(1).uniform(0, 1, (2, 11))
    return pgt.Observations.from_arrays({"x": x, "t": t}, {"u": np.ones(11)}, **more), x, t


def test_between_nodes_it_is_the_field_itself():
    readings, x, t = scattered()
    found, operator = read(readings, {"diffusivity": NU})
    np.testing.assert_allclose(found, exact(x, t), atol=1e-7)  # of a floor of 1e-4
    assert operator.size == 8


def test_boxes_are_averages():
    x, t = np.random.default_rng(1).uniform(0.1, 0.9, (2, 5))
    boxes = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": np.ones(5)}, width={"x": 0.1})
    across = np.linspace(-0.05, 0.05, 401)
    means = [np.trapezoid(exact(a + across, b + 0 * across), dx=1 / 400) for a, b in zip(x, t)]  # noqa: B905
    np.testing.assert_allclose(read(boxes, {"diffusivity": NU})[0], means, atol=1e-4)


def test_nothing_read_and_too_much_are_refused(monkeypatch):
    readings, _, _ = scattered()
    with pytest.raises(pgt.InputError, match="empty"):
        read(readings.take(np.zeros(0, int)), {"diffusivity": NU})
    monkeypatch.setattr("pgt.families.observation_operator.LARGEST_MATRIX", 80)
    with pytest.raises(pgt.InputError, match="give at most 10 readings"):
        read(readings, {"diffusivity": NU})


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


def problem(**settings):
    truth = HEAT.dataset(HEAT.draw(jax.random.key(1), {"diffusivity": NU}))
    readings = pgt.sample(truth, n=11, seed=1, **settings)
    with double_precision():
        return problem_of(HEAT, readings, {"diffusivity": NU}), readings


def test_many_systems_have_the_problem_of_each():
    alone, one = problem()
    points, values = np.asarray(one.points, float)[None], np.asarray(one.values, float)[None]
    batch = SensorBatch.of(HEAT, points, values, {"diffusivity": np.array([NU])}, points[0])
    with double_precision():
        many = problem_of_batch(HEAT, batch)
    np.testing.assert_allclose(many.values[0], alone.values[alone.is_real])
    np.testing.assert_allclose(many.sigma[0], alone.sigma[alone.is_real], rtol=1e-6)
