"""Families over one axis of space and time."""

import pytest

import pgt
from pgt.families.line import AbstractLine

LINES = {"heat": False, "wave": False, "advection_diffusion": True, "burgers": True}


@pytest.mark.parametrize("name", LINES)
def test_a_ring_has_one_node_where_a_line_has_two_ends(name):
    family = pgt.families.get(name, nodes=8, times=5)
    assert isinstance(family, AbstractLine)
    assert family.domain.periodic == (("x",) if LINES[name] else ())
    assert family.axes["x"][-1] == (0.875 if LINES[name] else 1.0)
    assert family.axes["t"].tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
