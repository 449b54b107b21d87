"""Unknown functions as interpolation of the readings has them, against the fields that were read."""

import numpy as np
from mesh_problems import LINE, scaling_of

import pgt
from pgt.inference.linear_algebra import beside_numpy
from pgt.methods.solver.collocation import posed
from pgt.methods.solver.first_guess import FirstGuess
from pgt.methods.solver.unknown_functions import Unknowns

PLACES, TIMES = np.linspace(0, 1, 15), np.linspace(0, 1, 11)


def guess(pde, readings, domain=LINE, conditions=()):
    with beside_numpy():
        scaling = scaling_of(pde, domain)
        bound = [condition.bind(domain, pde.fields) for condition in conditions]
        unknowns = Unknowns(posed(pde, domain, bound, scaling), scaling)
    return unknowns, FirstGuess(unknowns, readings)


def read(field, domain=LINE):
    x, t = (part.ravel() for part in np.meshgrid(PLACES, TIMES))
    return pgt.Observations.from_arrays({"x": x, "t": t}, {"u": field(x, t)})


def fitted(unknowns, first):
    rows, targets = first.rows()
    return np.linalg.lstsq(rows, targets, rcond=1e-9)[0]


def wave(x, t):
    return np.sin(2 * x + 3 * t)


def test_a_state_and_its_rate_are_those_of_the_interpolation():
    unknowns, first = guess(pgt.Wave(1.5), read(wave))
    found, x = fitted(unknowns, first), np.linspace(0, 1, 30)[:, None]
    expected = {"state_0": np.sin(2 * x[:, 0]), "state_1": 3 * np.cos(2 * x[:, 0])}
    compared = {part.kind: unknowns.functions(part, x) @ found for part in unknowns.parts}
    for kind, values in expected.items():
        np.testing.assert_allclose(compared[kind], values, atol=0.02)


def test_a_value_at_an_end_is_counted_from_the_start():
    unknowns, first = guess(pgt.Heat(0.1), read(wave))
    found, t = fitted(unknowns, first), np.linspace(0, 1, 30)[:, None]
    ends = [part for part in unknowns.parts if part.kind.startswith("ends")]
    assert [part.what.face.side for part in ends] == [0, 1]
    for part, x in zip(ends, (0.0, 1.0), strict=True):
        moved = wave(x, t[:, 0]) - wave(x, 0.0)
        np.testing.assert_allclose(unknowns.functions(part, t) @ found, moved, atol=0.02)


def test_lengths_are_the_shortest_of_any_field():
    t = np.linspace(0, 1, 60)
    values = {"a": np.sin(40 * t), "b": np.exp(-t)}
    readings = pgt.Observations.from_arrays({"t": t}, values)
    pde = pgt.Equation(["a_t = b", "b_t = -a"])
    _, first = guess(pde, readings, pgt.Domain(t=(0, 1)))
    assert first.lengths()["t"] < 0.2
    _, first = guess(pgt.Heat(0.1), read(wave))
    assert min(first.lengths().values()) > 0.8


def test_fields_that_nobody_read_are_left_to_the_prior():
    t = np.linspace(0, 1, 20)
    readings = pgt.Observations.from_arrays({"t": t}, {"a": np.cos(t)})
    pde = pgt.Equation(["a_t = b", "b_t = -a"])
    unknowns, first = guess(pde, readings.aligned(pde.fields), pgt.Domain(t=(0, 1)))
    rows, _ = first.rows()
    hidden = unknowns.parts[1]
    assert rows[:, unknowns.parts[0].columns].any()
    assert not rows[:, hidden.columns].any()
