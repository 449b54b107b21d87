"""Conditions as readings."""

import numpy as np
import pytest

import pgt
from pgt import InputError, Observations, datasets
from pgt.uncertainty.references.given_values import with_conditions

SQUARE = pgt.Domain(x=(0, 1), t=(0, 1))
SENSOR = Observations.from_arrays({"x": [0.5], "t": [0.5]}, {"u": [1.0]})


def test_given_values_become_readings():
    reading = Observations.from_arrays(
        {"x": [0.5, 0.0], "t": [0.5, 0.25]}, {"u": [3.0, 9.0], "v": [4.0, 5.0]}, noise=0.1
    )
    known = with_conditions(
        reading, [pgt.Initial(u="1 + x"), pgt.Dirichlet("x", u="2*t")], SQUARE, 5
    )
    assert len(known) == 5 + 4 + 4 + 2
    x, t = known.points.T
    start, wall = t == 0, (t > 0) & ((x == 0) | (x == 1))
    np.testing.assert_allclose(known.values[start, 0], 1 + x[start])
    measured = known.mask[:, 0]
    np.testing.assert_allclose(known.values[wall & measured, 0], 2 * t[wall & measured])
    # The sensor on the wall keeps only the field that no condition gives.
    assert known.mask[-2:].tolist() == [[True, True], [False, True]]
    assert known.values[-1].tolist() == [0.0, 5.0]
    assert not known.mask[:-2, 1].any()
    assert known.noise[-2:].tolist() == [[0.1, 0.1], [0.0, 0.1]]
    assert not known.noise[:-2].any()
    for column in (0, 1):
        places = known.points[known.mask[:, column]]
        assert len(np.unique(places, axis=0)) == len(places)


def test_faces_of_a_box_and_of_a_period():
    truth = datasets.taylor_green(x=5, y=5, t=3)
    box = pgt.Domain(x=(0, 2 * np.pi), y=(0, 2 * np.pi), t=(0, 1))
    readings = pgt.sample(truth, 4, fields=("u", "v"), seed=0).aligned(("u", "v", "p"))
    start = pgt.Initial(u="sin(x)*cos(y)", v="-cos(x)*sin(y)")
    known = with_conditions(readings, [start], box, count=25)
    on_face = known.points[:, 2] == 0
    assert on_face.sum() == 25
    x, y, _ = known.points[on_face].T
    expected = np.stack([np.sin(x) * np.cos(y), -np.cos(x) * np.sin(y), 0 * x], axis=1)
    np.testing.assert_allclose(known.values[on_face], expected, atol=1e-14)
    assert known.hidden_fields == ("p",)
    ring = pgt.Domain(x=(0, 1), t=(0, 1), periodic=("x",))
    reading = Observations.from_arrays({"x": [0.5], "t": [0.5]}, {"u": [1.0]}, width={"x": 0.2})
    closed = with_conditions(reading, [pgt.Initial(u=1.0)], ring, count=4)
    assert closed.points[:4, 0].tolist() == [0.0, 0.25, 0.5, 0.75]
    np.testing.assert_allclose(closed.half_width, [[0, 0]] * 4 + [[0.1, 0]])


@pytest.mark.parametrize(
    ("condition", "message"),
    [
        (pgt.Neumann("x", u=0.0), "Neumann"),
        (pgt.Periodic("x"), "Periodic"),
        (pgt.Initial(u=0.0, u_t=1.0), "u_t"),
        (pgt.Dirichlet("x", u=pgt.Unknown(1.0)), "u=..."),
        (pgt.Dirichlet("x", w=0.0), "aligned"),
    ],
)
def test_what_is_no_given_value_is_refused(condition, message):
    with pytest.raises(InputError, match=message):
        with_conditions(SENSOR, [condition], SQUARE)


def test_too_small_a_count_is_refused():
    with pytest.raises(InputError, match="count=1"):
        with_conditions(SENSOR, [pgt.Initial(u=0.0)], SQUARE, count=1)
