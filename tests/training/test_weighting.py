"""Weightings have their documented minima and balance."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.training.weighting import Fixed, GradientNorm, Uncertainty

NAMES = ("data", "pde")
LOSSES = {"data": jnp.asarray(0.04), "pde": jnp.asarray(9.0)}


def test_uncertainty_is_kendalls_total():
    weighting = Uncertainty()
    learnable = {"data": jnp.asarray(-0.7), "pde": jnp.asarray(0.4)}
    expected = sum(np.exp(-2 * s) * LOSSES[n] / 2 + s for n, s in learnable.items())
    assert weighting.total(learnable, {}, LOSSES, {}) == pytest.approx(float(expected), rel=1e-6)
    start, memory = weighting.init(NAMES)
    assert float(weighting.total(start, memory, LOSSES, {})) == pytest.approx(9.04 / 2)


@pytest.mark.parametrize("ramp", [1.0, 100.0])
def test_the_minimum_over_sigma_is_the_root_of_the_loss(ramp):
    weighting = Uncertainty(pde_ramp=ramp)
    best = {name: jnp.log(jnp.sqrt(loss)) for name, loss in LOSSES.items()}
    gradient = jax.grad(weighting.total)(best, {}, LOSSES, {}, 1.0)
    assert max(abs(float(g)) for g in gradient.values()) < 1e-4
    weights = weighting.weights(best, {}, {}, 1.0)
    assert float(weights["data"]) == pytest.approx(1 / (2 * 0.04), rel=1e-5)
    assert float(weights["pde"]) == pytest.approx(ramp / (2 * 9.0), rel=1e-5)


def test_sigma_gradient_matches_finite_differences():
    weighting, learnable = Uncertainty(pde_ramp=5.0), {"data": -1.0, "pde": -0.2}
    with jax.enable_x64(True):
        learnable = {n: jnp.asarray(v) for n, v in learnable.items()}
        losses = {n: jnp.asarray(float(v)) for n, v in LOSSES.items()}

        def total(shift):
            moved = learnable | {"pde": learnable["pde"] + shift}
            return weighting.total(moved, {}, losses, {}, 0.5)

        difference = (total(1e-5) - total(-1e-5)) / 2e-5
        assert float(jax.grad(total)(0.0)) == pytest.approx(float(difference), rel=1e-6)


def test_weights_are_the_gradient_of_the_total():
    weighting = Uncertainty(pde_ramp=10.0)
    learnable = {"data": jnp.asarray(-3.0), "pde": jnp.asarray(0.4)}
    floors = {"data": jnp.asarray(0.1)}
    by_loss = jax.grad(lambda losses: weighting.total(learnable, {}, losses, floors, 0.5))(LOSSES)
    weights = weighting.weights(learnable, {}, floors, 0.5)
    for name in NAMES:
        assert float(by_loss[name]) == pytest.approx(float(weights[name]), rel=1e-6)


@pytest.mark.parametrize("weighting", [Uncertainty(), Fixed(), GradientNorm()])
def test_wrong_names_are_listed(weighting):
    learnable, memory = weighting.init(NAMES)
    with pytest.raises(InputError, match=r"pde.*data, pde"):
        weighting.total(learnable, memory, {"data": 1.0}, {})
    with pytest.raises(InputError, match=r"bc.*data, pde"):
        weighting.total(learnable, memory, {"data": 1.0, "pde": 1.0, "bc": 1.0}, {})
    with pytest.raises(InputError, match=r"floors.*u.*data, pde"):
        weighting.total(learnable, memory, LOSSES, {"u": 0.1})
    for names in ((), "data"):
        with pytest.raises(InputError, match="names of the loss terms"):
            weighting.init(names)


def test_wrong_settings_are_named():
    with pytest.raises(InputError, match=r"momentum.*data, pde"):
        Fixed(momentum=2.0).init(NAMES)
    with pytest.raises(InputError, match=r"pde=-1"):
        Fixed(pde=-1.0)
    with pytest.raises(InputError, match="pde_ramp"):
        Uncertainty(pde_ramp=0.0)
    with pytest.raises(InputError, match="decay"):
        GradientNorm(decay=1.0)
    with pytest.raises(InputError, match="gradient norm of every term: data, pde"):
        GradientNorm().update(GradientNorm().init(NAMES)[1], None, LOSSES)
    with pytest.raises(InputError, match="gradient_norms"):
        GradientNorm().update(GradientNorm().init(NAMES)[1], {"data": 1.0}, LOSSES)


def test_weights_that_are_all_zero_are_refused():
    with pytest.raises(InputError, match="every term, data, heat, has the weight 0"):
        Fixed(data=0.0, heat=0.0).init(("data", "heat"))
    assert Fixed(data=0.0).init(("data", "heat"))[1]["heat"] == 1
