"""A condition that readings contradict is named; one that holds is not."""

import numpy as np
import pytest

import pgt
from pgt.training.assemble import assemble
from pgt.training.contradicted import contradicted
from pgt.training.feature_rows import with_weights
from pgt.training.one_band import NODES, solved_at_once

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))
BAND = (4.0, 2.0)


def truth(x, t):
    return np.exp(-0.05 * 9 * t) * np.sin(3 * x + 0.4) + 0.5 * x


def found(count, *, left=0.0, noise=0.02, sides=("lower", "upper"), seed=0):
    """What is found of readings with conditions at the walls, the left one off by so much."""
    random = np.random.default_rng(seed)
    x, t = random.uniform(size=(2, count))
    u = truth(x, t) + noise * random.normal(size=count)
    readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})
    times = np.linspace(0, 1, 101)
    walls = {
        "lower": pgt.Dirichlet("x", side="lower", u=(times, truth(0, times) + left)),
        "upper": pgt.Dirichlet("x", side="upper", u=(times, truth(1, times))),
    }
    task = assemble(readings, pgt.Heat(0.05), DOMAIN, [walls[side] for side in sides])
    model, pde, *_ = solved_at_once(task.model.with_sines(80, BAND), task)
    return contradicted(model, pde, task.problem, NODES)


def test_a_wrong_boundary_value_is_named_and_the_right_one_beside_it_is_not():
    worst, *others = found(12, left=0.5)
    assert worst.condition == "Dirichlet at the lower end of x"
    assert worst.sigmas > 3
    assert worst.changes[0] > 0.05
    assert all(other.evidence < worst.evidence for other in others)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("count", "noise"), [(6, 0.02), (40, 0.02), (40, 0.0)])
def test_conditions_that_hold_are_not_doubted(seed, count, noise):
    assert found(count, noise=noise, seed=seed) == []


def test_without_time_left_nothing_is_tried():
    task = assemble(
        pgt.sample(pgt.datasets.heat(), n=8), pgt.Heat(0.01), DOMAIN, [pgt.Dirichlet("x", u=0.0)]
    )
    model, pde = with_weights(task.model, task.pde, np.zeros(task.model.network.readout.size))
    assert contradicted(model, pde, task.problem, NODES, seconds=0.0) == []
