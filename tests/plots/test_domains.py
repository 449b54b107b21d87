import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.plots.domains import domain, draw_walls

CHANNEL = pgt.Domain(
    x=(-2, 4), y=(-2, 2), t=(0, 1), units={"x": "m"}, shape=-pgt.shapes.Disk(name="cylinder")
)


def test_walls_have_names_and_readings_outside_are_counted():
    axes = domain(CHANNEL, np.array([[0.0, 0, 0], [3, 1, 0]])).axes[0]
    assert [text.get_text() for text in axes.texts] == ["cylinder"]
    assert axes.get_title() == "1 outside"
    assert axes.get_xlabel() == "$x$ (m)"


def test_a_solid_is_drawn_in_space(tmp_path):
    vessel = pgt.Domain(x=(-1, 1), y=(-1, 1), z=(0, 1), shape=pgt.shapes.Cylinder(name="side"))
    assert pgt.plots.save(domain(vessel, vessel.even(5)), tmp_path / "a.png").stat().st_size > 0


def test_walls_are_drawn_over_a_field():
    grid = np.zeros((4, 4))
    import xarray as xr

    axis = np.linspace(-2, 2, 4)
    field = xr.Dataset({"u": (("y", "x"), grid)}, {"x": axis, "y": axis})
    square = pgt.Domain(x=(-2, 2), y=(-2, 2), shape=pgt.shapes.Disk())
    assert len(pgt.plots.field(field, domain=square).axes[0].lines) == 1
    assert len(pgt.plots.field(field).axes[0].lines) == 0
    assert draw_walls is not None


def test_a_box_has_no_shape_to_draw():
    with pytest.raises(InputError, match="no shape to draw"):
        domain(pgt.Domain(x=(0, 1), y=(0, 1)))


MOVING = pgt.Domain(
    x=(-2, 4), y=(-2, 2), t=(0, 1), shape=-pgt.shapes.Disk(name="cylinder").moving(x="2*t")
)


def test_a_shape_that_moves_is_drawn_at_some_instants():
    panels = domain(MOVING, np.array([[0.0, 0, 0], [2, 0, 0], [0, 0, 1]])).axes
    assert [axes.get_title() for axes in panels][::5] == ["$t$ = 0: 1 outside", "$t$ = 1"]
    assert [len(axes.collections[1].get_offsets()) for axes in panels] == [1, 0, 0, 0, 0, 1]


def test_walls_are_drawn_where_they_are_at_the_time_of_a_picture():
    import xarray as xr

    t, axis = np.array([0.0, 1.0]), np.linspace(-2, 2, 4)
    field = xr.Dataset(
        {"u": (("t", "y", "x"), np.zeros((2, 4, 4)))}, {"t": t, "x": axis, "y": axis}
    )
    panels = pgt.plots.field(field, at={"t": 1.0}, domain=MOVING).axes
    assert panels[0].lines[0].get_xdata().mean() == pytest.approx(2.0, abs=0.01)
