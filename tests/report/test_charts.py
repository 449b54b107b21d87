"""Charts as SVG: positions by hand, and anything can be drawn."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from pgt.report.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    TOP,
    agreement_chart,
    line_chart,
    share_chart,
)


def test_shares_are_parts_of_the_sum_of_sizes():
    chart = share_chart(np.arange(2), {"a": np.ones(2), "b": -3 * np.ones(2)}, "step", "share")
    quarter = HEIGHT - BOTTOM - 0.25 * (HEIGHT - TOP - BOTTOM)
    assert f'<path class="band s0" d="M{LEFT}.0 {quarter:.1f}L' in chart
    assert f'<path class="band s1" d="M{LEFT}.0 {TOP}.0L' in chart
    assert share_chart(np.arange(2), {"a": np.array([0.0, 1.0])}, "step", "share") == ""


def test_every_held_out_reading_is_a_dot_with_its_numbers():
    chart = agreement_chart(np.array([1.0, 2.0]), np.array([1.5, 2.0]), "u", "K")
    assert chart.count("<circle") == 2
    assert "<title>measured 1, predicted 1.5</title>" in chart
    assert "u measured [K]" in chart


@given(st.lists(st.floats(width=32), max_size=8))
def test_any_history_can_be_drawn(losses):
    chart = line_chart({"loss": (np.arange(len(losses)), losses)}, "step", "loss")
    assert "nan" not in chart
    assert "inf" not in chart
