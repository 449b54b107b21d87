import numpy as np

import pgt
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
