import numpy as np
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.plots.domains import domain, draw_walls, outlines

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
