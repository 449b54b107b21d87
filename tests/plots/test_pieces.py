"""What figures are made of, piece by piece."""

import numpy as np
import pytest
import xarray as xr
from matplotlib.figure import Figure

from pgt.plots import pieces

T = np.linspace(0, 2, 9)


def field(**attributes):
    grid = {"t": T, "y": [0.0, 1.0], "x": [0.0, 0.5, 1.0]}
    values = np.ones((9, 2, 3)) * T[:, None, None]
    return xr.DataArray(values, grid, tuple(grid), name="u", attrs=attributes)


def test_snapshots_are_first_middle_and_last_unless_asked_for():
    assert [float(panel.t) for panel in pieces.panels(field(), None)] == [0, 1, 2]
    assert [float(panel.t) for panel in pieces.panels(field(), {"t": [0.24, 1.9]})] == [0.25, 2]
    assert pieces.middle(field()) == {"t": 1.0}
    assert pieces.middle(field().isel(y=0)) == {}
    assert pieces.middle(field().isel(t=0)) == {}


def test_colours_are_centred_on_zero_only_where_both_signs_are_in_earnest():
    def colours_of(*values):
        return pieces.colour_range(xr.DataArray(np.array(values)))

    assert colours_of(-1.0, 2.0) == (-2, 2, "RdBu_r")
    assert colours_of(-0.1, 2.0) == (-0.1, 2, "viridis")
    assert colours_of(3.0, np.nan) == (3, 4, "viridis")


def test_names_of_curves_that_end_together_are_pushed_apart_and_stay_inside():
    axes = Figure().subplots()
    pieces.name_ends(axes, [(1.0, "a", "k"), (0.99, "b", "k"), (0.2, "c", "k")], gap=0.1)
    heights = {text.get_text(): text.xy[1] for text in axes.texts}
    assert heights["a"] == pytest.approx(1.0)
    assert heights["a"] - heights["b"] == pytest.approx(0.1)
    assert heights["b"] > heights["c"]


def test_labels_carry_names_and_units_but_none_without_a_dimension():
    assert pieces.label(field()) == "$u$"
    assert pieces.label(field(long_name="speed", units="m/s")) == "speed (m/s)"
    assert pieces.label(field(units="1").rename("u_std")) == "u std"
    assert pieces.pinned(field().isel(t=4, y=0)) == "$t$ = 1, $y$ = 0"


@pytest.mark.parametrize("unit", ["$", "$/kg", "k$ per $", r"\$", "$x_{$"])
def test_a_dollar_in_a_unit_is_no_mathematics(unit):
    figure = Figure()
    axes = figure.subplots()
    axes.set_xlabel(pieces.label(field(units=unit)))
    axes.set_title(pieces.pinned(field().isel(t=1).assign_coords(t=((), 0.25, {"units": unit}))))
    figure.draw_without_rendering()  # reads every text
    assert unit.replace("$", r"\$") in axes.get_xlabel()
