"""Readings that contradict the law."""

from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.families import AbstractSolved, assimilate
from pgt.families.fast_map import compare_at, estimate_many, estimate_one
from pgt.families.law_check import LawComparison, smooth_fields
from pgt.families.laws import AdvectionDiffusionFamily, HeatFamily
from pgt.families.observation_operator import FAST_NODES, double_precision, problem_of
from pgt.families.sensing import SensorBatch

HEAT = HeatFamily(nodes=16, times=9)
MESH = np.meshgrid(*HEAT.axes.values(), indexing="ij")
NODES = np.stack([m.ravel() for m in MESH], axis=-1)
RIGHT, WRONG = {"diffusivity": 0.02}, {"diffusivity": 0.025}


def drawn(seed, coefficients=RIGHT):
    return HEAT.dataset(HEAT.draw(jax.random.key(seed), coefficients))


def read(truth, noise: float, seed=0):
    return pgt.sample(truth, n=40, noise=noise, seed=seed)


def answered(truth, known, noise: float, seed=0):
    """Doubts, the error, the error that is stated, and the share of the field in a band of 90 %."""
    found = assimilate(HEAT, read(truth, noise, seed), known, fast=True)
    assert found.is_lawful
    mean, spread = (a[:, 0] for a in found.mean_and_spread(NODES))
    misses, size = np.abs(mean - truth.u.values.ravel()), float(truth.u.std())
    error, stated = (float(np.sqrt(np.mean(a**2))) / size for a in (misses, spread))
    return found.outside, error, stated, np.mean(misses <= 1.645 * spread + 1e-6 * size)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_a_coefficient_that_is_wrong_is_doubted_and_counted(noise):
    for seed in range(4):
        doubts, error, stated, inside = answered(drawn(seed), WRONG, noise, seed)
        assert doubts[0].startswith(
            "diffusivity is given as 0.025, the readings speak for about 0.0"
        )
        value = float(doubts[0].split("about ")[1].split(" ")[0])
        assert abs(value - 0.02) < 0.002
        assert 0.6 * error < stated < 1.7 * error
        assert inside > 0.8


def test_the_right_law_is_not_doubted_and_no_wider_for_it():
    for seed in range(8):
        for noise in (0.0, 1e-5, 0.02, 0.1):
            assert answered(drawn(seed), RIGHT, noise, seed)[0] == ()
    with double_precision():
        problem = problem_of(HEAT, read(drawn(1), 0.02), RIGHT, FAST_NODES)
        comparison = jax.tree.map(np.asarray, estimate_one(problem, HEAT).comparison)
    assert comparison is not None
    assert comparison.shift < 0.3 * comparison.spread


def test_of_two_coefficients_the_wrong_one_is_named():
    family = AdvectionDiffusionFamily(nodes=16, times=9)
    known = {"velocity": 0.6, "diffusivity": 0.01}
    truth = family.dataset(family.draw(jax.random.key(0), known))
    taken = pgt.sample(truth, n=60, noise=0.01, seed=0)
    for name in known:
        found = assimilate(family, taken, known | {name: 1.1 * known[name]}, fast=True)
        assert found.outside[0].startswith(f"{name} is given as {1.1 * known[name]:g}")
        assert ";" not in found.outside[0]


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_something_smooth_that_the_law_does_not_have_is_doubted_and_counted(noise):
    truth = drawn(2)
    truth["u"] = truth.u + 0.3 * truth.u.std() * (1 - truth.x)  # an end that is not cold
    doubts, error, stated, inside = answered(truth, RIGHT, noise)
    assert "something smooth that no system of the family has" in doubts[0]
    assert 0.5 * error < stated < 2 * error
    assert inside > 0.8


def test_many_systems_are_doubted_as_one_by_one():
    taken = [read(drawn(seed), 0.0, seed) for seed in range(3)]
    points, values = (
        np.stack([np.asarray(getattr(r, of), float) for r in taken]) for of in ("points", "values")
    )
    given = {"diffusivity": np.array([0.02, 0.025, 0.02])}
    doubts = estimate_many(HEAT, SensorBatch.of(HEAT, points, values, given, NODES)).doubts
    assert [len(said) for said in doubts] == [0, 1, 0]
    assert tuple(doubts[1]) == assimilate(HEAT, taken[1], WRONG, fast=True).outside


def test_what_was_assimilated_is_doubted_and_wider_too():
    truth = drawn(3)
    right, wrong = (assimilate(HEAT, read(truth, 0.01), known) for known in (RIGHT, WRONG))
    assert right.outside == ()
    assert "diffusivity is given as 0.025" in wrong.outside[-1]
    for found in (right, wrong):
        field = found.grid()
        assert ((field.u_low <= truth.u) & (truth.u <= field.u_high))[1:-1].mean() > 0.75


class Still(AbstractSolved):
    """Sines that stay as they are: there is no coefficient to be wrong."""

    name: ClassVar[str] = "still"
    fields: ClassVar[tuple[str, ...]] = ("u",)
    noise_shape: ClassVar[tuple[int, ...]] = (3,)

    @property
    def domain(self):
        return pgt.Domain(x=(0, 1))

    @property
    def axes(self):
        return {"x": np.linspace(0, 1, 33)}

    @property
    def ranges(self):
        return {}

    def solve(self, noise, coefficients):
        return (jnp.sin(np.pi * np.outer(self.axes["x"], np.arange(1, 4))) @ noise)[:, None]

    def equation(self, **coefficients):
        return pgt.Poisson(0.0)

    def numbers(self, coefficients, scaling):
        return jnp.zeros(0)


def test_a_law_without_coefficients_is_compared_with_what_is_smooth_alone():
    truth = Still().dataset(Still().draw(jax.random.key(0)))
    found = assimilate(Still(), pgt.sample(truth, n=20, noise=0.01), {}, fast=True)
    assert found.outside == ()
    truth["u"] = truth.u + 0.3 * (1 - truth.x)
    other = assimilate(Still(), pgt.sample(truth, n=20, noise=0.01), {}, fast=True)
    assert "something smooth" in other.outside[0]


@pytest.mark.parametrize(("shift", "left", "said"), [(0.1, 0.01, True), (1e-4, 1e-5, False),
                                                     (0.1, 1.0, False)])  # fmt: skip
def test_what_hardly_moves_the_field_is_not_said(shift, left, said):
    parts = np.array([0.0, 1.0, 0.0]), np.array([-0.1]), np.array([0.01]), np.array([0.1])
    found = LawComparison(*parts, np.asarray(shift), np.asarray(left))
    assert bool(found.doubts({"speed": 2.0})) is said


def test_of_several_coefficients_those_that_move_the_field_are_named():
    rest = np.array([0.01, 0.01]), np.array([0.01, 0.1]), np.asarray(0.1), np.asarray(0.01)
    (said,) = LawComparison(np.array([0.0, 1, 0]), np.array([0.01, -0.2]), *rest).doubts(
        {"b": 2.0, "a": 1.0}
    )
    assert "b is given as 2, the readings speak for about 1.64 (" in said
    assert "a is given" not in said


def test_smooth_fields_go_round_where_an_axis_does():
    domain = pgt.Domain(x=(0, 1), t=(0, 2), periodic=("x",))
    waves = smooth_fields(domain, {"x": np.array([0.0, 1.0]), "t": np.array([0.0, 2.0])})
    np.testing.assert_allclose(waves[:, 0], waves[:, 1], atol=1e-12)
    assert np.abs(waves[:, 0, 0] - waves[:, 0, 1]).max() == pytest.approx(2.0)


def test_laws_are_compared_one_after_the_other():
    """Parallel decompositions of many matrices wait for each other's threads."""
    taken = read(drawn(1), 0.0)
    with double_precision():
        problem = problem_of(HEAT, taken, RIGHT, FAST_NODES)
        program = str(jax.make_jaxpr(lambda z: compare_at(problem, HEAT, z))(jnp.zeros(8)))
    # One is in the Gauss-Newton step, one in the loop over all laws.
    assert program.count("= eigh[") == 2
