"""Tasks that are trained at once: each as it would be by itself, on readings of its own."""

from contextlib import contextmanager

import numpy as np
import pytest

import pgt
from pgt.problem.assembly import assemble
from pgt.reconstruction.candidates import fit_task
from pgt_bench.batched_seeds import solve_batched

SQUARE = pgt.Domain(x=(0, 1), t=(0, 1))
TRAINING = pgt.Training(optimiser="adam", steps=3, collocation=8, hold_out=0.2, polish=False)


def task(seed: int):
    readings = pgt.sample(pgt.datasets.heat(), 12, seed=seed)
    network = pgt.PINN(pgt.Scaling.fit(readings, SQUARE), width=4, layers=2, seed=seed)
    return assemble(
        readings, pgt.Heat(0.01), SQUARE, model=network, training=TRAINING, seed=seed
    )  # fmt: skip


@pytest.fixture(scope="module")
def solved():
    passed = []

    @contextmanager
    def gate():
        passed.append("in")
        yield
        passed.append("out")

    return solve_batched([task(seed) for seed in (0, 1)], gate, compile_first=False), passed


def test_each_is_what_it_would_be_by_itself(solved):
    points = np.array([[0.3, 0.2], [0.7, 0.9]])
    for seed, result in enumerate(solved[0]):
        fit = fit_task(task(seed), progress=False).fit
        context = fit.model.encode(result.observations)
        alone = np.stack([fit.model.decode(context, point) for point in points])
        np.testing.assert_allclose(result.at(points).u, alone[:, 0], rtol=1e-4)
        assert result.history.step.to_numpy().tolist() == fit.history.step
