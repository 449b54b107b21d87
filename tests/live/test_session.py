"""Requests of the page and their answers."""

import base64
import json

import live_rigs
import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.live.rig import AbstractRig, RigAnswer
from pgt.live.session import Session, read_request
from pgt.live.stream import Stream

FEW = [[0.1, 0.2], [0.3, 0.7], [0.5, 0.4], [0.2, 0.9], [0.15, 0.5], [0.4, 0.1], [0.05, 0.33]]


class Told(AbstractRig):
    """Answers with what it is told to, and keeps what it was asked."""

    coefficients = ()

    def __init__(self, truth, axes, found=None):
        self.grid, self.axes, self.found = truth, axes, found
        self.fields, self.drawn = tuple("uvw"[: truth.shape[-1]]), 0

    def truth(self, coefficients, seed):
        self.drawn += 1
        return self.grid + seed

    def answer(self, points, values, coefficients, instant=None):
        self.points, self.values = points, values
        grid = self.grid if instant is None else self.grid[..., instant, :]
        found = grid if self.found is None else self.found
        return RigAnswer(found, found - 0.5, found + 0.5, [])


def told(fields=1, seed=0, found=None):
    axes = {"x": np.linspace(0, 1, 5), "y": np.linspace(0, 3, 4), "t": np.linspace(0, 2, 3)}
    truth = np.random.default_rng(seed).normal(size=(5, 4, 3, fields))
    return Told(truth, axes, found)


def asked(session, **given):
    return session.answer(read_request(json.dumps(given).encode(), session.rig))


def grid(found, name):
    return np.frombuffer(base64.b64decode(found[name]), "<f4").reshape(found["shape"])


def test_a_rod_is_reconstructed():
    rig = live_rigs.rod()
    found = asked(Session(rig), sensors=FEW, seed=2)
    truth = rig.truth({"diffusivity": 0.03}, 2)[..., 0]
    assert found["shape"] == [41, 31]  # x is up, t to the right
    assert np.allclose(grid(found, "truth"), truth, atol=1e-6)
    error = np.linalg.norm(grid(found, "values") - truth) / np.linalg.norm(truth)
    assert found["error"] == pytest.approx(error, rel=1e-4)
    assert found["error"] < 0.1
    assert 0 < found["stated"] < 1
    assert found["held"] > 0.9
    assert found["readings"] == 7
    assert found["range"] == pytest.approx([truth.min(), truth.max()])
    assert found["milliseconds"] > 0
    json.dumps(found, allow_nan=False)


def test_the_picture_of_a_plate_is_that_of_an_instant():
    rig = live_rigs.plate()
    found = asked(Session(rig), sensors=FEW, instant=4)
    truth = rig.truth({"diffusivity": 0.03}, 0)[:, :, 4, 0]
    assert found["shape"] == [21, 25]  # y is up
    assert np.allclose(grid(found, "truth"), truth.T, atol=1e-6)
    assert found["readings"] == 7 * 5  # the instant itself, and all before


def test_readings_are_the_truth_at_the_nodes_beside_the_sensors():
    rig = told(fields=2)
    asked(Session(rig), sensors=[[0.3, 1.9], [1.0, 0.0]], instant=1)
    assert np.array_equal(rig.points[:, 2], [0, 1, 0, 1])
    assert np.array_equal(rig.points[[0, 2], :2], [[0.25, 2], [1, 0]])
    assert np.array_equal(rig.values, rig.grid[[1, 1, 4, 4], [2, 2, 0, 0], [0, 1, 0, 1]])


def test_sensors_may_forget():
    rig = told()
    rig.recent = 2
    asked(Session(rig), sensors=[[0, 0]], instant=2)
    assert np.array_equal(rig.points[:, 2], [1, 2])
    asked(Session(rig), sensors=[[0, 0]], instant=0)
    assert np.array_equal(rig.points[:, 2], [0])


def test_noise_stays_with_its_sensor():
    session = Session(told())
    sensors = [[0, 0], [0.5, 1], [1, 3]]
    exact = asked(session, sensors=sensors) and session.rig.values
    noisy = asked(session, sensors=sensors, noise=0.5) and session.rig.values
    assert 0.01 < np.abs(noisy - exact).mean() < 2 * session.rig.grid.std()
    asked(session, sensors=sensors, noise=0.5, off=[1])
    assert np.array_equal(session.rig.values, np.delete(noisy, [3, 4, 5], axis=0))
    asked(session, sensors=sensors, noise=0.5, instant=1)
    assert np.array_equal(session.rig.values, noisy[[0, 1, 3, 4, 6, 7]])


def test_a_truth_is_drawn_once():
    session = Session(told())
    for _ in range(3):
        asked(session, sensors=[[0, 0]])
    assert session.rig.drawn == 1
    for seed in range(30):
        asked(session, sensors=[[0, 0]], seed=seed)
    assert len(session.truths) <= 8


def test_the_error_is_that_of_the_chosen_field():
    rig = told(fields=2)
    rig.found = rig.grid[:, :, 2] + [0.0, 2.0]
    session = Session(rig)
    right, wrong = (asked(session, sensors=[[0, 0]], field=name) for name in "uv")
    assert (right["error"], right["held"]) == (0, 1)
    size = np.linalg.norm(rig.grid[:, :, 2, 1])
    assert wrong["error"] == pytest.approx(2 * np.sqrt(20) / size)
    assert wrong["held"] == 0


def test_holes_count_for_nothing_and_failures_for_all():
    rig = told()
    rig.grid[0, 0] = np.nan
    session = Session(rig)
    assert asked(session, sensors=[[1, 3]])["error"] == 0
    with pytest.raises(InputError, match="no reading"):
        asked(session, sensors=[[0, 0]])
    rig.found = np.full((5, 4, 1), np.nan)
    broken = asked(session, sensors=[[1, 3]])
    assert (broken["error"], broken["stated"], broken["held"]) == (None, None, 0)
    json.dumps(broken, allow_nan=False)


def test_a_field_of_zeros_has_no_relative_error():
    rig = told()
    rig.grid = np.zeros_like(rig.grid)
    found = asked(Session(rig), sensors=[[0, 0]])
    assert (found["error"], found["stated"], found["range"]) == (None, None, [0, 0])


@pytest.mark.parametrize("given", [{}, {"sensors": [[0, 0]], "off": [0]}])
def test_without_sensors_there_is_nothing_to_answer(given):
    with pytest.raises(InputError, match="put at least one sensor"):
        asked(Session(live_rigs.rod()), **given)


def test_uneven_nodes_are_drawn_where_they_are():
    rig = told()
    rig.axes["x"] = np.array([0, 0.1, 0.2, 0.3, 1.0])
    found = grid(asked(Session(rig), sensors=[[0, 0]], instant=0), "truth")
    assert np.allclose(found, rig.grid[[0, 2, 3, 4, 4], :, 0, 0].T)


def test_the_set_up_is_plain():
    setup = Session(live_rigs.plate()).setup()
    assert setup["axes"] == [{"name": name, "low": 0, "high": 1} for name in "xy"]
    assert setup["instants"] == pytest.approx(np.linspace(0, 1, 11))
    assert setup["coefficients"][0]["name"] == "diffusivity"
    assert not setup["streams"]
    assert Session(live_rigs.rod()).setup()["instants"] is None
    json.dumps(setup, allow_nan=False)


def test_a_stream_is_answered_without_a_truth():
    rig = live_rigs.plate()
    stream = Stream(rig)
    session = Session(rig, stream)
    with pytest.raises(InputError, match="no reading"):
        asked(session)
    truth = rig.truth({"diffusivity": 0.03}, 0)
    stream.take(b"u,t,x,y\n")
    for row in range(0, 25, 4):
        x, y, t = rig.axes["x"][row], rig.axes["y"][row % 21], rig.axes["t"][3]
        stream.take(f"{truth[row, row % 21, 3, 0]},{t},{x},{y}\n".encode())
    found = asked(session, instant=3)
    assert "truth" not in found
    assert "error" not in found
    assert found["newest"] == 3
    assert found["sensors"][1] == pytest.approx([rig.axes["x"][4], rig.axes["y"][4]])
    assert found["readings"] == 7
    assert session.setup()["streams"]


def test_what_sensors_do_not_read_is_told_to_nobody():
    rig = told(fields=3)
    rig.reads = ("u", "w")
    Session(rig).answer(read_request(json.dumps({"sensors": FEW}).encode(), rig))
    assert np.isfinite(rig.values[:, [0, 2]]).all()
    assert np.isnan(rig.values[:, 1]).all()


def test_the_truth_says_which_coefficients_it_has():
    class Stored(live_rigs.SineRig):
        def nearest_coefficients(self, coefficients):
            return {"diffusivity": 0.05}

    rig = Stored({"x": 9, "t": 7}, modes=2)
    request = read_request(
        json.dumps({"sensors": FEW, "coefficients": {"diffusivity": 0.04}}).encode(), rig
    )
    found = Session(rig).answer(request)
    assert found["coefficients"] == {"diffusivity": 0.05}
    assert found["error"] < 0.05  # readings and answer are those of one system


ROD, PLATE = live_rigs.rod(), live_rigs.plate()


def request(rig=ROD, **given):
    return read_request(json.dumps(given).encode(), rig)


def test_what_is_left_out_has_a_default():
    found = request()
    assert found.sensors.shape == (0, 2)
    assert (found.noise, found.seed, found.instant, found.field) == (0.0, 0, None, "u")
    assert found.coefficients == {"diffusivity": 0.03}
    assert request(PLATE).instant == 10


def test_what_is_given_is_kept():
    given = {"sensors": [[0.5, 0.25], [1, 0]], "off": [1], "noise": 0.5, "seed": 4}
    found = request(PLATE, **given, instant=3, field="u", coefficients={"diffusivity": 0.1})
    assert np.array_equal(found.sensors, given["sensors"])
    assert (found.off, found.noise, found.seed, found.instant) == (frozenset([1]), 0.5, 4, 3)
    assert found.coefficients == {"diffusivity": 0.1}


def test_sensors_stay_on_the_picture():
    assert np.array_equal(request(sensors=[[-3, 0.5], [0.5, 7]]).sensors, [[0, 0.5], [0.5, 1]])


BAD = [
    (b"", "not JSON"),
    (b"\xff\xfe", "not JSON"),
    (b"[" * 100_000, "not JSON"),
    (b'{"seed": ' + b"9" * 10_000 + b"}", "not JSON"),
    (b"[1, 2]", "send an object"),
    (b"null", "send an object"),
    (b'{"sensor": []}', "no key 'sensor'"),
    (b'{"sensors": 3}', "a list of places (t and x)"),
    (b'{"sensors": [[0.5, NaN]]}', "number 0 is not a pair of finite numbers"),
    (b'{"sensors": [[0, 0], [0.5]]}', "number 1 is not a pair"),
    (b'{"sensors": [[0, 0, 0]]}', "number 0 is not a pair"),
    (b'{"sensors": [["0", true]]}', "number 0 is not a pair"),
    (b'{"sensors": [[1' + b"0" * 400 + b", 0]]}", "number 0 is not a pair"),
    (b'{"sensors": [' + b"[0,0]," * 1_000_000 + b"[0,0]]}", "1000001 are too many; 1000 at most"),
    (b'{"off": [0, 1]}', "numbers of silent sensors"),
    (b'{"sensors": [[0, 0]], "off": [1]}', "off: a whole number from 0 to 0"),
    (b'{"noise": -1}', "noise: a number from 0 to 1"),
    (b'{"noise": Infinity}', "noise: a number from 0 to 1"),
    (b'{"noise": "much"}', "noise: a number"),
    (b'{"coefficients": [1]}', "an object of names and numbers"),
    (b'{"coefficients": {"viscosity": 1}}', "no 'viscosity'; known: diffusivity"),
    (b'{"coefficients": {"diffusivity": 7}}', "diffusivity: a number from 0.01 to 0.1"),
    (b'{"coefficients": {"diffusivity": NaN}}', "diffusivity: a number from 0.01 to 0.1"),
    (b'{"seed": 1.5}', "seed: a whole number"),
    (b'{"seed": true}', "seed: a whole number"),
    (b'{"instant": 1}', "all times at once"),
    (b'{"field": "p"}', "field: one of u"),
    (b'{"field": ["u"]}', "field: one of u"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[message for _, message in BAD])
def test_mistakes_are_one_sentence(text, message):
    with pytest.raises(InputError) as caught:
        read_request(text, ROD)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("instant", [-1, 11, 1.0, "first", [0]])
def test_instants_are_those_of_the_axis(instant):
    with pytest.raises(InputError, match="instant: a whole number from 0 to 10"):
        request(PLATE, instant=instant)
