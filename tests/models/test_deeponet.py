"""The deep operator network: its formula, and the whole in training."""

import dataclasses

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import xarray as xr

import pgt
from pgt.nn.scaling import Scaling

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 2))


def readings(n=30, fields=1):
    """exp(-π²t/10) sin(πx), which solves u_t = u_xx / 10, and its multiples."""
    points = np.random.default_rng(0).uniform((0, 0), (1, 2), (n, 2))
    one = np.exp(-(np.pi**2) * points[:, 1] / 10) * np.sin(np.pi * points[:, 0])
    values = {name: one * factor for factor, name in enumerate(("u", "v")[:fields], start=1)}
    return pgt.Observations.from_arrays(points, values, coords=("x", "t"))


def test_output_is_the_formula():
    observations = readings(fields=2)
    mask = observations.mask.copy()
    mask[3], mask[4, 1] = False, False
    observations = dataclasses.replace(observations, mask=mask)
    scaling = Scaling.fit(observations, DOMAIN)
    model = pgt.DeepONet(scaling, width=7, layers=3, basis=5)
    model = eqx.tree_at(lambda m: m.network.offset, model, jnp.asarray([0.5, -2.0]))

    def gelu(x):
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    def mlp(layers, x):
        hidden = gelu(x @ np.asarray(layers.first.weight).T + layers.first.bias)
        return hidden @ np.asarray(layers.second.weight).T + layers.second.bias

    network = model.network
    values = np.where(mask, (observations.values - scaling.mean) / scaling.spread, 0)
    places = (np.asarray(observations.points) - [0.5, 1]) * [2, 1]
    rows = np.concatenate([places, values, mask], axis=1)
    mean = mlp(network.each, rows[mask.any(1)]).mean(0)
    coefficients = mlp(network.together, mean).reshape(2, 5)
    z = np.array([0.3, 1.7], np.float32)
    basis = (z - [0.5, 1]) * [2, 1]
    for weight, bias in zip(network.trunk.weights, network.trunk.biases, strict=True):
        basis = np.tanh(weight @ basis + bias)
    expected = (coefficients @ basis + np.array([0.5, -2.0])) * scaling.spread + scaling.mean
    np.testing.assert_allclose(model.decode(model.encode(observations), z), expected, atol=1e-5)
    assert len(network.trunk.weights) == 3


# ---------------------------------------------------------------------------------------- the whole


def test_trains_saves_and_loads(tmp_path):
    observations = readings(60)
    model = pgt.DeepONet(Scaling.fit(observations, DOMAIN), width=16, layers=3, basis=8)
    training = pgt.Training(
        steps=100, optimiser="adam", collocation=64, check_every=20, polish=False
    )
    result = pgt.reconstruct(observations, pgt.Heat(0.1), DOMAIN, model=model, training=training)
    data = result.history.loss.sel(term="data")
    assert np.isfinite(data).all()
    assert data[-1] < data[0] / 2
    result.save(tmp_path)
    again = pgt.Reconstruction.load(tmp_path)
    assert isinstance(again.model, pgt.DeepONet)
    left, right = (r.grid(["u", "u_xx"], x=5, t=4) for r in (result, again))
    xr.testing.assert_equal(left, right)
