"""Every formula solves the equation that is stated with it."""

import pytest
from generated_truths import relative_residual

from pgt_bench.generator import draw_kind, planes


@pytest.mark.parametrize("kind", planes.KINDS)
def test_the_truth_solves_its_equation(kind):
    assert max(relative_residual(draw_kind(kind, seed)) for seed in range(2)) < 1e-12
