"""Where the only unknown coefficient of an equation begins."""

import numpy as np
import pytest

import pgt
from pgt.ground.unknown import named_unknowns
from pgt.models.features import Features
from pgt.training.assemble import assemble
from pgt.training.deadline import Deadline
from pgt.training.first_guess import begun

DOMAIN, SPEED, BAND = pgt.Domain(x=(0, 1), t=(0, 1)), 1.3, (16.0, 8.0)


def string() -> pgt.Observations:
    """Three modes of a string of which nothing is known, read by four sensors."""
    x, t = np.meshgrid(np.linspace(0.13, 0.9, 4), np.linspace(0, 1, 40))
    waves = [(1, 1.0), (2, 0.6), (3, -0.4)]
    u = sum(a * np.cos(n * np.pi * x) * np.cos(n * np.pi * SPEED * t) for n, a in waves)
    return pgt.Observations.from_arrays({"x": x.ravel(), "t": t.ravel()}, {"u": np.ravel(u)})


def found(pde, deadline=None, **training):
    model = Features(pgt.Scaling.fit(string(), DOMAIN))
    task = assemble(string(), pde, DOMAIN, model=model, training=pgt.Training(**training))
    begins = begun(task.model, task, deadline or Deadline(None), BAND)
    return task, begins


def equation(first: float):
    return pgt.Equation("u_tt = c*c*u_xx", c=pgt.Unknown(first, positive=True))


@pytest.mark.parametrize("first", [0.8, 2.0])
def test_a_guess_that_is_far_off_is_moved(first):
    begins = found(equation(first))[1]
    assert named_unknowns(begins.pde)[0][1].value == pytest.approx(SPEED, rel=0.07)


def test_one_that_is_right_is_kept():
    task, begins = found(equation(SPEED))
    assert begins is task


@pytest.mark.parametrize("case", ["two", "none", "outliers", "late"])
def test_where_there_is_more_to_it_nothing_is_moved(case):
    pde, training, deadline = equation(1.0), {}, None
    if case == "two":
        pde = pgt.Equation("u_tt = c*u_xx - k*u", c=pgt.Unknown(1.0), k=pgt.Unknown(0.1))
    elif case == "none":
        pde = pgt.Equation("u_tt = 1.69*u_xx")
    elif case == "outliers":
        training = {"likelihood": "student"}
    else:
        deadline = Deadline(0.0)
    task, begins = found(pde, deadline, **training)
    assert begins is task
