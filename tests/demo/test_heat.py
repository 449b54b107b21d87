"""The demonstration of the heat equation: interpolation, and ours beside the others."""

import pytest

import pgt
from pgt.demo import interpolation_errors
from pgt.demo.heat import PAPER, table


@pytest.mark.parametrize("seed", range(3))
def test_interpolation_is_better_with_boundary_and_initial_values(seed):
    truth = pgt.datasets.heat()
    found = interpolation_errors(pgt.sample(truth, 100, seed=seed), truth)
    assert found["with BC and IC"]["rel_l2"] < found["readings only"]["rel_l2"] < 0.1


def test_the_table_has_ours_first_then_the_papers_then_interpolation():
    found = {"kernel": "cubic", "rel_l2": 0.02, "seconds": 0.1}
    numbers = {"rel_l2": 1e-4, "seconds": 30.0, "parameters": 7, "interpolation": {"alone": found}}
    ours, *paper, interpolated = table(numbers)
    assert ours == ("this run", 1e-4, 30.0, 7)
    assert paper == [(name, *row) for name, row in PAPER.items()]
    assert interpolated == ("scipy RBF, alone (cubic)", 0.02, 0.1, None)
