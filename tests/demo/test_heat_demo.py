"""The demonstration of the heat equation: interpolation, and ours beside the others."""

import pytest

import pgt
from pgt.demo import interpolation_errors
from pgt.demo.heat_demo import PAPER, process_errors, table, transformer_errors


@pytest.mark.parametrize("seed", range(3))
def test_interpolation_is_better_with_boundary_and_initial_values(seed):
    truth = pgt.datasets.heat()
    found = interpolation_errors(pgt.sample(truth, 100, seed=seed), truth)
    assert found["with BC and IC"]["rel_l2"] < found["readings only"]["rel_l2"] < 0.1


def test_the_table_has_ours_first_then_the_papers_then_interpolation():
    found = {"method": "scipy RBF (cubic)", "rel_l2": 0.02, "seconds": 0.1}
    process = {"method": "Gaussian process", "sees": "alone", "rel_l2": 0.03, "seconds": 0.2}
    numbers = {
        "model": "Features", "rel_l2": 1e-4, "seconds": 30.0, "parameters": 7,
        "interpolation": {"alone": found, "gp": process},
    }  # fmt: skip
    ours, *paper, interpolated, gaussian = table(numbers)
    assert ours == ("this run (sum of sines)", 1e-4, 30.0, 7)
    assert paper == [(name, *row) for name, row in PAPER.items()]
    assert interpolated == ("scipy RBF (cubic), alone", 0.02, 0.1, None)
    assert gaussian == ("Gaussian process, alone", 0.03, 0.2, None)
    own = {"method": "PGT, 300 steps", "rel_l2": 1e-3, "seconds": 6.0, "parameters": 9}
    assert table(numbers | {"transformer": own})[1] == ("PGT, 300 steps", 1e-3, 6.0, 9)


@pytest.mark.slow
def test_a_transformer_stands_beside(monkeypatch):
    few = pgt.Training(steps=2, collocation=8, polish=False)
    monkeypatch.setattr("pgt.demo.heat_demo.BESIDE", few)
    truth = pgt.datasets.heat(x=11, t=11)
    found = transformer_errors(pgt.sample(truth, 20), truth, progress=False)
    assert found["method"] == "PGT, 2 steps, not polished"
    assert found["parameters"] > 1000
    assert 0 < found["rel_l2"] < 10


def test_a_gaussian_process_stands_beside():
    truth = pgt.datasets.heat()
    found = process_errors(pgt.sample(truth, 60), truth)["gaussian process"]
    assert found["rel_l2"] < 0.1
