"""Charts as SVG: positions by hand, and anything can be drawn."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from pgt.report.charts import (
    agreement_chart,
    line_chart,
)


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
