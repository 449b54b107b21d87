"""Networks of the coordinate: their derivatives, their least depth, and a field by each."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xarray as xr
from coordinate_networks import (
    DOMAIN,
    POINTS,
    SCALING,
    derivatives,
    heat_readings,
    shaken,
    values,
)

import pgt
from pgt.models.pinn import PINN
from pgt.models.siren import SIREN
from pgt.models.wire import WIRE
from pgt.nn.precision import cast

MODELS = {
    "pinn": PINN(SCALING, width=10, layers=3),
    "siren": SIREN(SCALING, width=10, layers=3, frequency=8.0),
    "wire": WIRE(SCALING, width=8, layers=3),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS.keys())


@every_model
def test_second_derivatives_are_finite_differences(model):
    names, step = ("u_x", "u_xx", "u_xt", "u_tt"), 1e-4
    with jax.enable_x64(True):
        model = cast(shaken(model, 0.1), jnp.float64)
        found = derivatives(model, names, jnp.asarray(POINTS))

        def at(i, j):
            return np.asarray(values(model, POINTS + step * np.array([i, j]))[:, 0])

        middle = at(0, 0)
        expected = [
            (at(1, 0) - at(-1, 0)) / (2 * step),
            (at(1, 0) - 2 * middle + at(-1, 0)) / step**2,
            (at(1, 1) - at(1, -1) - at(-1, 1) + at(-1, -1)) / (4 * step**2),
            (at(0, 1) - 2 * middle + at(0, -1)) / step**2,
        ]
        np.testing.assert_allclose(found.T, expected, rtol=1e-4, atol=1e-5)


@every_model
def test_trains_and_comes_back_from_a_file(model, tmp_path):
    training = pgt.Training(
        steps=300, check_every=100, collocation=64, polish=False, hold_out=0.0, optimiser="adam"
    )
    result = pgt.reconstruct(
        heat_readings(), pgt.Heat(0.1), DOMAIN, model=model, training=training, progress=False
    )
    history = result.history
    # Both at once: at the start the field is nearly constant, which alone solves the equation.
    total = history.loss.sel(term=["data", "heat"]).sum("term")
    assert total[-1] < 0.5 * total[0]
    result.save(tmp_path / "run")
    again = pgt.Reconstruction.load(tmp_path / "run")
    assert eqx.tree_equal(again.model, result.model)
    xr.testing.assert_identical(again.grid(x=5, t=4), result.grid(x=5, t=4))


def test_one_hidden_layer_is_enough():
    for kind in (PINN, SIREN, WIRE):
        assert np.isfinite(values(kind(SCALING, width=5, layers=1), jnp.float32(POINTS))).all()
