"""A grid is answered at once by sums of sines: the same as at its points, for anything that is asked."""

import numpy as np
import pytest

import pgt
from pgt.models.features import Features
from pgt.models.linearised import NullSpaceField
from pgt.nn import batched
from pgt.reconstruction import evaluation, grid_evaluation
from pgt.uncertainty.members import Members, PosteriorSamples

DOMAIN = pgt.Domain(x=(0, 1), y=(0, 2), t=(100, 101))
PDE = pgt.Equation("u_t + v*u_x = 0.1*u_xx + 0.1*u_yy", "v_t = 0.2*(v_xx + v_yy)")


@pytest.fixture(scope="module")
def fitted():
    random = np.random.default_rng(0)
    points = random.uniform((0, 0, 100), (1, 2, 101), (60, 3))
    x, y, t = points.T
    values = {"u": 400 + np.sin(3 * x + y) * (t - 99), "v": np.cos(2 * y) * np.exp(100 - t)}
    readings = pgt.Observations.from_arrays({"x": x, "y": y, "t": t}, values)
    model = Features(pgt.Scaling.fit(readings, DOMAIN), count=30, band=4.0)
    return pgt.reconstruct(
        readings, PDE, DOMAIN, model=model, error_bars=pgt.Posterior(4), progress=False
    )


def at_points(monkeypatch):
    monkeypatch.setattr(evaluation, "on_tensor_grid", lambda *arguments: None)


def assert_same(found, expected):
    assert list(found.data_vars) == list(expected.data_vars)
    for name in expected:
        assert found[name].dims == expected[name].dims
        size = float(np.abs(expected[name]).max())
        np.testing.assert_allclose(found[name], expected[name], rtol=0, atol=1e-12 * size)


AXES = {"x": 4, "y": [0.3, 1.1, 1.9], "t": 3}


@pytest.mark.parametrize("quantities", [None, ["u", "v_xy", "u_xxt", "speed", "vorticity"]])
@pytest.mark.parametrize("slab", [1, 1 << 20])
def test_values_derivatives_and_statistics_are_those_at_points(
    fitted, monkeypatch, quantities, slab
):
    monkeypatch.setattr(grid_evaluation, "SLAB", slab)
    found = fitted.grid(quantities, quantiles=0.05, **AXES)
    at_points(monkeypatch)
    assert_same(found, fitted.grid(quantities, quantiles=0.05, **AXES))


def test_residuals_are_those_at_points(fitted, monkeypatch):
    found = fitted.residual(**AXES)
    at_points(monkeypatch)
    assert_same(found, fitted.residual(**AXES))


def test_what_is_no_sum_of_sines_is_asked_at_points(fitted):
    network = pgt.PINN(fitted.model.scaling, width=4, layers=1)
    assert network.on_grid([np.zeros(2)] * 3) is None
    members, open_part = fitted.members, NullSpaceField(fitted.model, np.zeros((1, 3)), np.ones(3))
    assert members.on_grid([np.zeros(2)] * 3) is not None
    stacked = members.models, members.pdes, members.observations
    drawn = PosteriorSamples(stacked, {}).with_null_space(batched.repeat(open_part, 4))
    fading = Members.of(*drawn.stacked)
    assert fading.on_grid([np.zeros(2)] * 3) is None
