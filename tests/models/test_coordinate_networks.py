"""Networks of the coordinate: their formulas and derivatives."""

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
    dense,
    derivatives,
    heat_readings,
    physical,
    shaken,
    unit,
    values,
)

import pgt
from pgt.models.coordinate_networks import PINN, SIREN, WIRE
from pgt.nn.trees import cast

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


# ------------------------------------------------------------------------------- pinn


def test_pinn_formula():
    model = shaken(PINN(SCALING, width=10, layers=3))
    expected = dense(model.network.layers, np.tanh, POINTS)
    np.testing.assert_allclose(values(model, POINTS), expected, rtol=1e-5, atol=1e-5)


# ------------------------------------------------------------------------------- siren


def test_siren_formula():
    model = shaken(SIREN(SCALING, width=10, layers=3, frequency=8.0))
    expected = dense(model.network.layers, np.sin, POINTS)
    np.testing.assert_allclose(values(model, POINTS), expected, rtol=1e-5, atol=1e-5)


# ------------------------------------------------------------------------------- wire


def joined(pair):
    return np.asarray(pair.real, np.float64) + 1j * np.asarray(pair.imaginary, np.float64)


def test_wire_formula():
    """With numpy's complex numbers, from the definition of the wavelet."""
    model = shaken(WIRE(SCALING, width=8, layers=3, frequency=3.0, spread=1.2), 0.2)
    n = model.network.layers

    def wavelet(z):
        return np.exp(1j * 3.0 * z) * np.exp(-(np.abs(1.2 * z) ** 2))

    h = wavelet(unit(POINTS) @ n.first_weight.T + n.first_bias)
    for weight, bias in zip(joined(n.hidden_weight), joined(n.hidden_bias), strict=True):
        h = wavelet(h @ weight.T + bias)
    expected = physical((h @ joined(n.readout).T).real + n.offset)
    assert np.abs(h.imag).max() > 0.1
    np.testing.assert_allclose(values(model, POINTS), expected, rtol=1e-5, atol=1e-5)
