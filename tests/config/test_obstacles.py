"""Obstacles in the domain of a run file that `pgt init` writes."""

import tomllib

import pytest

from pgt import InputError
from pgt.config.obstacles import obstacle
from pgt.physics.pde import About

WIDE = About("lap(u) = 0", box={"x": (0, 4), "y": (1, 3)})


def test_an_obstacle_is_scaled_into_the_box():
    shape = tomllib.loads(obstacle(WIDE, "disk"))["domain"]["shape"]
    assert shape["kind"] == "outside"
    disk = {"kind": "disk", "centre": [2, 2], "radius": 0.3, "name": "obstacle"}
    assert shape["shape"] == disk
    corners = tomllib.loads(obstacle(WIDE, "polygon"))["domain"]["shape"]["shape"]["corners"]
    assert corners == [[1.8, 1.8], [2.2, 1.8], [2, 2.2]]


def test_one_that_nobody_asked_for_is_switched_off():
    assert tomllib.loads(obstacle(WIDE, None)) == {}
    assert '#shape = {kind = "disk"' in obstacle(WIDE, None)
    assert obstacle(About("u_t = u_xx", box={"x": (0, 1), "t": (0, 1)}), None) == ""


def test_one_that_does_not_fit_is_refused():
    with pytest.raises(InputError, match="no shape called 'dsk'; did you mean 'disk'"):
        obstacle(WIDE, "dsk")
    with pytest.raises(InputError, match="a ball does not fit the axes x, y"):
        obstacle(WIDE, "ball")
