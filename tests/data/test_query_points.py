"""Where a field is asked: rows, columns by axis, or positions along each axis."""

import numpy as np
import pytest

from pgt.core.errors import InputError
from pgt.data import Domain
from pgt.data.query_points import (
    as_axes,
    as_points,
    check_either,
    require_grid,
    require_points,
    with_fixed,
)

BOX = Domain(x=(-1, 1), t=(0, 2))


@pytest.mark.parametrize(
    ("points", "message"),
    [
        ({"x": [0.0]}, "points have x; give exactly x, t"),
        ({"x": [0.0], "t": [0.0], "y": [0.0]}, "give exactly x, t"),
        ({"x": [0.0, 1.0], "t": [0.0]}, r"same number of values; got x \(2,\), t \(1,\)"),
        (np.zeros(2), r"shape \(2,\); give \(n, 2\) with columns x, t"),
        ([[0.0, 1.0], [np.nan, 1.0]], "row 1 is not finite"),
    ],
)
def test_points_that_are_none(points, message):
    with pytest.raises(InputError, match=message):
        as_points(points, BOX)


def test_axes_are_counted_listed_or_left_out():
    axes = as_axes({"x": 5, "t": [0.5, 0.1]}, BOX)
    assert list(axes) == ["x", "t"]
    np.testing.assert_allclose(axes["x"], [-1, -0.5, 0, 0.5, 1])
    assert axes["t"].tolist() == [0.5, 0.1]
    assert len(as_axes({}, BOX)["t"]) == 50
    for two in (2, 2.0, np.int64(2), np.float32(2), np.array(2.0)):
        assert as_axes({"x": two}, BOX)["x"].tolist() == [-1.0, 1.0]


def test_more_points_than_memory_holds_are_refused_before_they_are_made(monkeypatch):
    monkeypatch.setattr("pgt.core.machine.available_memory", lambda: 16e9)
    require_grid({"x": 1000, "t": [0.5, 1.0]}, BOX, 10)
    require_points(10**6, "a million points")
    with pytest.raises(
        InputError, match=r"grid\(x=1000000000, t=1\): this needs 24 GB .*fewer points"
    ):
        require_grid({"x": 10**9, "t": [0.5]}, BOX)
    with pytest.raises(InputError, match=r"grid\(x=30000, t=30000\)"):
        require_grid({"x": 30_000, "t": 30_000}, BOX)
    require_grid({"x": "many", "t": -1}, BOX)  # which is refused where positions are made


def test_an_axis_is_held_at_one_position():
    assert with_fixed({"x": 5}, {"t": 1.0}, BOX) == {"x": 5, "t": [1.0]}
    assert with_fixed({"x": 5}, None, BOX) == {"x": 5}
    for axes, at, wrong in (
        ({}, {"y": 1.0}, "axes of the domain are x, t"),
        ({"x": 5}, {"x": 1.0}, "one of the two"),
        ({}, {"t": [1.0, 2.0]}, r"several are t=\[...\]"),
    ):
        with pytest.raises(InputError, match=wrong):
            with_fixed(axes, at, BOX)


def test_dates_are_counted_as_the_time_of_the_domain_is():
    domain = Domain(x=(0, 1), t=(0, 1800), units={"t": "seconds since 2024-03-12T10:00:00"})
    for dates in (["2024-03-12T10:10"], np.array(["2024-03-12T10:10"], "M8[s]")):
        assert as_axes({"t": dates}, domain)["t"].tolist() == [600.0]
        assert as_points({"x": 0.5, "t": dates}, domain).tolist() == [[0.5, 600.0]]
    hours = Domain(t=(0, 5), units={"t": "h since 2024-03-12"})
    assert as_axes({"t": "2024-03-12T01:30"}, hours)["t"].tolist() == [1.5]
    with pytest.raises(InputError, match="is in 's' and says no moment from which it counts"):
        as_axes({"t": ["2024-03-12"]}, Domain(t=(0, 5), units={"t": "s"}))


def test_points_and_a_grid_are_not_asked_for_at_once():
    check_either("band", None, {"x": 3})
    check_either("band", [[0.5]], {})
    with pytest.raises(InputError, match=r"band: write either points, or the axes"):
        check_either("band", [[0.5]], {"x": 3})


def test_an_axis_has_no_billion_positions():
    with pytest.raises(InputError, match="at most 100,000,000 positions"):
        as_axes({"x": 10**9}, BOX)
