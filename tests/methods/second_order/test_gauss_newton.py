"""A second-order fit: its cost, the coefficient that it finds, and which weights it changes."""

import itertools

import jax
import numpy as np
import pytest

import pgt
from pgt.methods.second_order.gauss_newton import (
    polish,
)
from pgt.nn import trees
from pgt.nn.scaling import Scaling
from pgt.physics import Heat, Initial
from pgt.problem.losses import Problem
from pgt.training.settings import Polish

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


@pytest.fixture(scope="module")
def polished():
    random = np.random.default_rng(0)
    points = random.uniform(0, 1, (30, 2))
    u = np.sin(np.pi * points[:, 0]) * np.exp(-0.1 * np.pi**2 * points[:, 1])
    readings = pgt.Observations.from_arrays(points, u[:, None], coords=("x", "t"), fields=("u",))
    pde = Heat(pgt.Unknown(0.3, positive=True))
    scaling = Scaling.fit(readings, DOMAIN)
    model = pgt.PGT(
        scaling, pde.kernel(), width=8, blocks=1, heads=2, decoder_width=10, decoder_layers=1,
        frequency=4.0,
    )  # fmt: skip
    problem = Problem.build(readings, pde, (Initial(u="sin(pi*x)"),), DOMAIN, scaling)
    seen = []
    settings = Polish(iterations=25, points=100, weights="decoder")
    result = polish(
        model,
        pde,
        problem,
        settings,
        readings.take(np.zeros(0, int)),
        lambda i, c: seen.append((i, c)),
    )
    return model, result, seen


def test_cost_never_rises_and_falls_far(polished):
    _, (_, _, (stage,), _), seen = polished
    costs = stage.costs
    assert all(b <= a for a, b in itertools.pairwise(costs))
    assert costs[-1] < 1e-3 * costs[0]
    assert [i for i, _ in seen] == list(range(1, len(costs)))
    assert [c for _, c in seen] == list(costs[1:])


def test_an_unknown_coefficient_is_found(polished):
    _, (_, pde, *_), _ = polished
    with jax.enable_x64(True):
        assert float(pde.diffusivity.value) == pytest.approx(0.1, rel=0.1)


def test_only_the_decoder_changes(polished):
    before, (after, *_), _ = polished

    def fixed(model):
        network = model.network
        parts = network.blocks, network.embed_value, network.query, network.keys, model.scaling
        return jax.tree.leaves(parts)

    for old, new in zip(fixed(before), fixed(after), strict=True):
        np.testing.assert_allclose(np.asarray(new), np.asarray(old), atol=0)
    old, new = (jax.tree.leaves(m.tunable())[0] for m in (before, after))
    assert np.abs(np.asarray(old) - np.asarray(new)).max() > 1e-3
    assert all(leaf.dtype == np.float64 for leaf in jax.tree.leaves(after.tunable()))
    assert trees.count_parameters(after) == trees.count_parameters(before)
