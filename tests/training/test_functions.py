"""Unknown functions between two linearisations: their prior, and when they rest."""

import numpy as np
import pytest

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.ground.unknown import Unknown
from pgt.models.features import Features
from pgt.nn.scaling import Scaling
from pgt.physics import Equation, Heat, UnknownFunction
from pgt.training.assemble import assemble
from pgt.training.functions import BENDS, RESTLESS, SMOOTH, Functions

SQUARE = Domain(x=(0, 1), t=(0, 1))


def functions(pde, count=12, band=(8.0, 2.0)):
    at = np.linspace(0.1, 0.9, 12)
    readings = Observations.from_arrays({"x": at, "t": at}, {"u": np.sin(at)})
    model = Features(Scaling.fit(readings.aligned(pde.fields), SQUARE), count=count, band=band)
    task = assemble(readings, pde, SQUARE, model=model)
    assert isinstance(task.model, Features)
    return Functions(task.model, task), task.model.network.sines


def test_short_waves_are_small_along_the_axes_of_the_function():
    k = UnknownFunction("x", positive=True)
    pde = Equation("u_t = c*div(k*grad(u))", k=k, c=Unknown(1.0, positive=True))
    found, sines = functions(pde)
    assert found.prior is not None
    waves = np.asarray(sines.frequencies)[:, 0] / 8.0
    expected = (1 + (BENDS * waves) ** 2) ** (-(SMOOTH + 0.5) / 2)
    np.testing.assert_allclose(found.prior, np.append(expected, 1.0))  # the last is c
    assert found.prior[0] == 1.0  # a constant is no wave


def test_an_equation_without_functions_has_no_such_prior():
    found, _ = functions(Heat(0.1))
    assert found.prior is None
    assert found.step(np.ones(12), np.ones(12)) == (1.0, False)


@pytest.mark.parametrize("positive", [True, False])
def test_steps_of_logarithms_are_cut_and_small_ones_are_the_last(positive):
    pde = Equation("u_t = k*u_xx", k=UnknownFunction("x", positive=positive))
    found, _ = functions(pde)
    weights, step = np.zeros(24), np.zeros(24)
    weights[12], step[12] = 5.0, 8.0 / found.units[0]
    share, restless = found.step(weights, step)
    assert share == pytest.approx(1 / 8 if positive else 1.0)
    assert restless
    step[12] = 0.5 * RESTLESS / found.units[0]
    assert found.step(weights, step) == (1.0, False)
