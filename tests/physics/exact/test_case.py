"""The boxes of exact cases."""

from pgt.physics.exact.case import box


def test_axes_are_unit_intervals_unless_said_otherwise():
    assert box("y", "t", x=(-1.0, 1.0)) == {"y": (0, 1), "t": (0, 1), "x": (-1, 1)}
