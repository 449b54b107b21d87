"""A second of deepxde on a small problem."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("deepxde")

from pgt_bench.zoo import judge
from pgt_bench.zoo.answers import Asked
from pgt_bench.zoo.catalogue import get
from pgt_bench.zoo.peers import with_deepxde


def test_it_learns_something_in_a_second():
    problem = get("layer")
    found = with_deepxde.answer(Asked(problem, problem.load(0), 2.0, 0))
    assert judge.errors(problem, found.fields)["measured"] < 10
    assert found.about["parameters"] > 1000
    assert all(steps > 0 for steps in found.about["steps"])
