"""The trained parameters, the clock and the held-out error of a training step."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import pgt
from pgt.methods.first_order.training_step import BudgetClock, held_out_error, join, split
from pgt.problem.losses import Problem

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
READINGS = pgt.Observations.from_arrays(
    {"x": [0.0, 0.5, 1.0], "t": [0.0, 0.5, 1.0]}, {"u": [1.0, 2.0, 6.0]}
)
SCALING = pgt.Scaling.fit(READINGS, DOMAIN)


class Constant(pgt.models.field_model.AbstractFieldModel):
    """u = c everywhere."""

    scaling: pgt.Scaling
    c: jax.Array

    def encode(self, observations):
        return ()

    def decode(self, context, z):
        return jnp.full(1, self.c)

    def tunable(self):
        return self.c


def constant(c):
    return Constant(SCALING, jnp.asarray(c, jnp.float32))


def test_only_unknown_coefficients_of_an_equation_are_trained():
    pde = pgt.AdvectionDiffusion(2.0, pgt.Unknown(0.25))
    trained, fixed = split(constant(3.0), pde, {"weight": jnp.ones(())})
    assert len(jax.tree.leaves(trained[1])) == 1
    assert len(jax.tree.leaves(split(constant(3.0), pgt.Heat(0.1), None)[0][1])) == 0
    moved = eqx.tree_at(lambda t: t[0].c, trained, jnp.asarray(5.0))
    model, equation, learnt = join(moved, fixed)
    assert float(model.c) == 5.0
    assert eqx.tree_equal(equation, pde)
    assert learnt == {"weight": 1.0}


def test_scales_of_the_readings_are_not_trained():
    trained, _ = split(constant(3.0), pgt.Heat(0.1), None)
    assert [float(leaf) for leaf in jax.tree.leaves(trained)] == [3.0]


def test_the_clock_counts_overhead_and_steps():
    clock = BudgetClock(jnp.asarray(0.125), jnp.asarray(0.25))
    assert [float(clock.spent(jnp.asarray(n))) for n in (0, 1, 3)] == [0.125, 0.375, 0.875]


def test_the_held_out_error_is_in_units_of_the_spread():
    problem = Problem.build(READINGS, pgt.Heat(0.1), (), DOMAIN, SCALING)
    found = float(held_out_error(constant(2.0), problem, READINGS))
    expected = np.sqrt((1 + 0 + 16) / 3) / float(SCALING.spread[0])
    assert found == pytest.approx(expected, rel=1e-5)
