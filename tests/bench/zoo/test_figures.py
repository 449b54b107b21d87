"""Figures show what the records say."""

import made_zoo
import pytest

from pgt_bench.zoo.figures import profile, stated_and_true
from pgt_bench.zoo.methods import METHODS
from pgt_bench.zoo.summary import Found


def test_the_profile_counts_problems_within_a_factor():
    pairs = [("beam", 0.1, 0.3), ("layer", 0.5, 0.1), ("blob", 0.1, None)]
    found = Found(
        tuple(
            made_zoo.record(name, method, error)
            for name, *two in pairs
            for method, error in zip(("ours", "gp"), two, strict=True)
        )
    )
    figure = profile(found)
    assert figure is not None
    ours, gp = (line.get_xydata() for line in figure.axes[0].get_lines())
    assert ours[0].tolist() == pytest.approx([1, 2 / 3])
    assert ours[-1].tolist() == pytest.approx([1e4, 1])
    assert gp[-1].tolist() == pytest.approx([1e4, 2 / 3])
    assert gp[0].tolist() == pytest.approx([1, 1 / 3])


def test_a_method_is_judged_by_the_problems_that_it_was_run_on():
    runs = [
        ("beam", "ours", 0.1),
        ("beam", "gp", 0.1),
        ("hares", "ours", 0.5),
        ("hares", "rbf", 0.6),
    ]
    found = Found(tuple(made_zoo.record(*run) for run in runs))
    shown = profile(found)
    assert shown is not None
    lines = {line.get_label(): line.get_ydata() for line in shown.axes[0].get_lines()}
    assert lines[METHODS["gp"].label][0] == 1.0


def test_every_method_and_run_is_drawn():
    found = Found(tuple(made_zoo.whole_zoo()))
    shown, scatter = profile(found), stated_and_true(found)
    assert shown is not None
    assert scatter is not None
    assert len(shown.axes[0].get_lines()) == sum(m.competes for m in METHODS.values())
    labels = [text.get_text() for text in scatter.axes[0].get_legend().get_texts()]
    assert labels == ["tuned on", "held back", "added later"]


def test_nothing_is_drawn_of_nothing():
    assert profile(Found(())) is None
    assert stated_and_true(Found(())) is None
