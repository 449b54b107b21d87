"""Walls as lines: closed, broken where the wall is, thinned with their ends kept."""

import numpy as np
import pytest

import pgt
from pgt.data.outline_lines import outlines


def test_a_ring_is_closed_and_a_thinned_one_keeps_its_ends():
    channel = pgt.Domain(x=(-2, 8), y=(-2, 2), shape=-pgt.shapes.Disk(radius=0.5, name="cylinder"))
    (line,) = outlines(channel, most=100)["cylinder"]
    assert 90 <= len(line) <= 120
    assert line[0] == pytest.approx(line[-1])
    assert np.hypot(*line.T) == pytest.approx(0.5)


def test_a_wall_that_leaves_the_box_is_drawn_in_pieces():
    cut = pgt.Domain(x=(-1, 1), y=(-0.5, 0.5), shape=pgt.shapes.Disk(name="rim"))
    found = outlines(cut)["rim"]
    assert len(found) in (2, 3)  # right, left, and where the counting begins
    assert all(np.abs(line[:, 1]).max() < 0.51 for line in found)


def test_what_lies_outside_the_box_or_in_space_has_no_lines():
    shape = pgt.shapes.Rectangle((-1, 1), (-1, 1)) - pgt.shapes.Disk((5, 5), 0.5, name="far")
    assert "far" not in outlines(pgt.Domain(x=(-1, 1), y=(-2, 2), shape=shape))
    ball = pgt.Domain(x=(-1, 1), y=(-1, 1), z=(-1, 1), shape=pgt.shapes.Ball())
    assert outlines(ball) == {}
    assert outlines(pgt.Domain(x=(0, 1), y=(0, 1))) == {}
