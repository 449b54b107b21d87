"""Wishes: what is read from JSON, and one sentence for all that is not one."""

import json

import live_rigs
import numpy as np
import pytest

from pgt.ground.errors import InputError
from pgt.live.wish import read_wish

ROD, PLATE = live_rigs.rod(), live_rigs.plate()


def wish(rig=ROD, **given):
    return read_wish(json.dumps(given).encode(), rig)


def test_what_is_left_out_has_a_default():
    found = wish()
    assert found.sensors.shape == (0, 2)
    assert (found.noise, found.seed, found.instant, found.field) == (0.0, 0, None, "u")
    assert found.coefficients == {"diffusivity": 0.03}
    assert wish(PLATE).instant == 10


def test_what_is_given_is_kept():
    given = {"sensors": [[0.5, 0.25], [1, 0]], "off": [1], "noise": 0.5, "seed": 4}
    found = wish(PLATE, **given, instant=3, field="u", coefficients={"diffusivity": 0.1})
    assert np.array_equal(found.sensors, given["sensors"])
    assert (found.off, found.noise, found.seed, found.instant) == (frozenset([1]), 0.5, 4, 3)
    assert found.coefficients == {"diffusivity": 0.1}


def test_sensors_stay_on_the_picture():
    assert np.array_equal(wish(sensors=[[-3, 0.5], [0.5, 7]]).sensors, [[0, 0.5], [0.5, 1]])


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
        read_wish(text, ROD)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("instant", [-1, 11, 1.0, "first", [0]])
def test_instants_are_those_of_the_axis(instant):
    with pytest.raises(InputError, match="instant: a whole number from 0 to 10"):
        wish(PLATE, instant=instant)
