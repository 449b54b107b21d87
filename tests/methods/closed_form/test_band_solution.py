"""The fit in one band of an equation with unknown coefficients or functions."""

import numpy as np
import pytest

from pgt.core.unknown import Unknown, named_unknowns
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.methods.closed_form.band_solution import (
    FIRST_STIFFNESS,
    FUNCTION_AT_REST,
    FUNCTION_DERIVATIVES,
    FUNCTION_SLOWNESS,
    UnknownFunctions,
    solve_nonlinear,
)
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.physics import Dirichlet, Equation, UnknownFunction
from pgt.problem.assembly import assemble
from pgt.problem.budget import Deadline

SQUARE = Domain(x=(0, 1), t=(0, 1))


def functions(pde, count=12, band=(8.0, 2.0)):
    at = np.linspace(0.1, 0.9, 12)
    readings = Observations.from_arrays({"x": at, "t": at}, {"u": np.sin(at)})
    model = Features(Scaling.fit(readings.aligned(pde.fields), SQUARE), count=count, band=band)
    task = assemble(readings, pde, SQUARE, model=model)
    assert isinstance(task.model, Features)
    return UnknownFunctions(task.model, task), task.model.network.sines


def test_the_prior_of_a_function_is_that_of_a_matern_kernel_along_its_axes():
    k = UnknownFunction("x", positive=True)
    pde = Equation("u_t = c*div(k*grad(u))", k=k, c=Unknown(1.0, positive=True))
    found, sines = functions(pde)
    assert found.prior is not None
    waves = np.asarray(sines.frequencies)[:, 0] / 8.0
    expected = (1 + (FUNCTION_SLOWNESS * waves) ** 2) ** (-(FUNCTION_DERIVATIVES + 0.5) / 2)
    np.testing.assert_allclose(found.prior, np.append(expected, 1.0))  # the last is c
    assert found.prior[0] == 1.0  # a constant is no wave


@pytest.mark.parametrize("positive", [True, False])
def test_steps_of_logarithms_are_cut_and_small_ones_are_the_last(positive):
    pde = Equation("u_t = k*u_xx", k=UnknownFunction("x", positive=positive))
    found, _ = functions(pde)
    weights, step = np.zeros(24), np.zeros(24)
    weights[12], step[12] = 5.0, 8.0 / found.units[0]
    share, is_moving = found.step(weights, step)
    assert share == pytest.approx(1 / 8 if positive else 1.0)
    assert is_moving
    step[12] = 0.5 * FUNCTION_AT_REST / found.units[0]
    assert found.step(weights, step) == (1.0, False)


SPEED, DAMPING, LAST = 1.3, 0.3, 5.0
STRING = Domain(x=(0, 1), t=(0, LAST))
TEXT = "u_tt = c**2*u_xx - g*u_t"


def plucked(x, t):
    """A damped string that is held at its ends."""
    total = 0.0
    for mode, amount in ((1, 1.0), (2, 0.5), (3, 0.3)):
        rate = np.sqrt((SPEED * mode * np.pi) ** 2 - DAMPING**2 / 4)
        swing = np.cos(rate * t) + DAMPING / (2 * rate) * np.sin(rate * t)
        total = total + amount * np.sin(mode * np.pi * x) * np.exp(-DAMPING * t / 2) * swing
    return total


def string_task(count, band, noise=0.0):
    """Four sensors on a string whose speed and damping are not known."""
    x, t = (a.ravel() for a in np.meshgrid([0.13, 0.37, 0.61, 0.86], np.linspace(0, LAST, 60)))
    values = plucked(x, t)
    values = values + noise * np.random.default_rng(0).normal(size=values.shape)
    readings = Observations.from_arrays({"x": x, "t": t}, {"u": values})
    unknown = {"c": Unknown(1.0, positive=True), "g": Unknown(0.1, positive=True)}
    pde = Equation(TEXT, coords=("x", "t"), **unknown)
    model = Features(Scaling.fit(readings, STRING), count=count, band=band)
    return assemble(readings, pde, STRING, [Dirichlet(u=0.0)], model=model)


def solution(task):
    model = task.model.with_sines(task.model.count, task.model.band)
    return solve_nonlinear(model, task, Deadline(None))


def test_exact_readings_of_few_sensors_do_not_drop_the_equation():
    """To many digits each sensor is predicted by itself, and no equation is needed for that."""
    found = solution(string_task(200, (8.0, 32.0)))
    values = {name: float(node.value) for name, node in named_unknowns(found.pde)}
    assert values["c"] == pytest.approx(SPEED, rel=0.05)
    assert values["g"] == pytest.approx(DAMPING, rel=0.2)
    assert found.posterior.log_stiffness > FIRST_STIFFNESS
    assert found.floor_evidence is not None
    assert not any(known.unsettled for known in found.learnt.values())
