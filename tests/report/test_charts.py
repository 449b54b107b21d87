"""Charts as SVG: positions by hand, and anything can be drawn."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from pgt.report.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    ChartFrame,
    agreement_chart,
    legend,
    line_chart,
)


def test_corners_of_the_frame_are_the_ends_of_both_axes():
    assert ChartFrame((2.0, 4.0), (-1.0, 1.0)).at(2.0, -1.0) == (LEFT, HEIGHT - BOTTOM)
    assert ChartFrame((2.0, 4.0), (-1.0, 1.0)).at(4.0, 1.0) == (WIDTH - RIGHT, TOP)
    across, up = ChartFrame((0.0, 1.0), (-4.0, 0.0), log=True).at(0.5, 1e-2)
    assert (across, up) == ((LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2)


def test_a_logarithmic_axis_leaves_out_what_has_no_logarithm():
    lines = {"good": ([0, 1, 2], [1.0, 0.1, 0.0]), "bad": ([0, 1, 2], [0.0, -1.0, np.nan])}
    chart = line_chart(lines, "step", "loss")
    assert chart.count('class="line') == 1
    assert "<title>loss over step: good</title>" in chart
    assert line_chart(lines, "step", "loss", log=False).count('class="line') == 2


def test_every_held_out_reading_is_a_dot_with_its_numbers():
    chart = agreement_chart(np.array([1.0, 2.0]), np.array([1.5, 2.0]), "u", "K")
    assert chart.count("<circle") == 2
    assert "<title>measured 1, predicted 1.5</title>" in chart
    assert "u measured [K]" in chart


def test_names_in_a_legend_stay_text_and_colours_come_round():
    shown = legend(["<b>", *"abcdefg", "ninth"])
    assert "&lt;b&gt;" in shown
    assert shown.count('class="swatch s0"') == 2


@given(st.lists(st.floats(width=32), max_size=8))
def test_any_history_can_be_drawn(losses):
    chart = line_chart({"loss": (np.arange(len(losses)), losses)}, "step", "loss")
    assert "nan" not in chart
    assert "inf" not in chart
