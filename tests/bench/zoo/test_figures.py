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


def test_every_method_and_run_is_drawn():
    found = Found(tuple(made_zoo.whole_zoo()))
    shown, scatter = profile(found), stated_and_true(found)
    assert shown is not None
    assert scatter is not None
    assert len(shown.axes[0].get_lines()) == sum(m.competes for m in METHODS.values())
    labels = [text.get_text() for text in scatter.axes[0].get_legend().get_texts()]
    assert labels == ["tuned on", "held back", "added later"]
