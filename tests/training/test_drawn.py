"""Draws beside the answer that they were drawn around."""

import jax
import jax.numpy as jnp
import numpy as np

import pgt
from pgt.models.linearised import LinearisedModel
from pgt.nn import batched
from pgt.nn.precision import cast
from pgt.training.assemble import assemble
from pgt.training.drawn import away_from_answer

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


def test_draws_are_as_far_from_the_answer_wherever_it_was_moved_to():
    readings = pgt.sample(pgt.datasets.heat({1: 1.0}), n=30)
    model = pgt.PINN(pgt.Scaling.fit(readings, DOMAIN), width=4, layers=2)
    task = assemble(readings, pgt.Heat(0.01), DOMAIN, model=model)
    points = np.asarray(readings.points, float)[:5]
    with jax.enable_x64(True):
        base = cast(model, jnp.float64)
        steps = [
            jax.tree.map(lambda leaf, k=k: (k - 2.5) * jnp.cos(leaf), base.tunable())
            for k in range(6)
        ]
        bases = batched.repeat(base, 6)

        def drawn(moved: float) -> LinearisedModel:
            shifted = [jax.tree.map(lambda leaf: leaf + moved, step) for step in steps]
            return LinearisedModel(bases, batched.stack(shifted))

        here, there = (away_from_answer(drawn(moved), task, points) for moved in (0.0, 3.0))
    assert here.shape == (6, 5, 1)
    np.testing.assert_allclose(here.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(there, here, atol=1e-9)
    assert np.abs(here).max() > 1e-3
