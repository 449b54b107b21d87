"""Points beyond a shape have no answer, and a residual limits what a coefficient may be."""

import dataclasses

import numpy as np
import pytest

import pgt
from pgt.uncertainty.field_error import domain_points


def test_points_beyond_a_shape_are_said_to_have_no_answer():
    ring = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=-pgt.shapes.Disk(radius=0.3, name="hole"))
    x, y = ring.even(12).T
    readings = pgt.Observations.from_arrays({"x": x, "y": y}, {"u": x + y})
    model = pgt.Features(pgt.Scaling.fit(readings, ring), count=20, band=2.0, domain=ring)
    result = pgt.reconstruct(readings, pgt.Laplace(), ring, model=model, progress=False)
    with pytest.warns(pgt.DoubtWarning, match="the answer is NaN"):
        answer = result.at(x=[0.5, 9.0], y=[0.5, 9.0])
    assert np.isnan(answer.u.to_numpy()).tolist() == [False, True]


@pytest.mark.slow
def test_a_residual_that_is_left_over_says_how_far_it_may_move_a_coefficient():
    """The field exp(-0.3 t) sin x obeys u_t = 0.3 u_xx: a coefficient of 0.2 is a half too small."""
    domain = pgt.Domain(x=(0, 3), t=(0, 1))
    x, t = np.random.default_rng(0).uniform((0, 0), (3, 1), (300, 2)).T
    readings = {"x": x, "t": t, "u": np.exp(-0.3 * t) * np.sin(x)}
    exact = pgt.reconstruct(readings, pgt.Heat(0.3), domain, progress=False)

    def moves(diffusivity):
        pde = pgt.Heat(pgt.Unknown(diffusivity, positive=True))
        return dataclasses.replace(exact.evaluation, pde=pde).coefficient_shifts(
            domain_points(domain)
        )

    assert moves(0.2)["diffusivity"] == pytest.approx(0.5, rel=0.05)
    assert moves(0.3)["diffusivity"] < 1e-4
