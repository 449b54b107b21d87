"""Networks of the coordinate: their derivatives, their least depth, and a field by each."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
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
from scipy import stats

import pgt
from pgt.models.coordinate_networks import PINN, SIREN, WIRE
from pgt.nn.trees import cast, combine, count_parameters, partition

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


# ------------------------------------------------------------------------------- pinn


def test_pinn_formula():
    model = shaken(PINN(SCALING, width=10, layers=3))
    expected = dense(model.network.layers, np.tanh, POINTS)
    np.testing.assert_allclose(values(model, POINTS), expected, rtol=1e-5, atol=1e-5)


def test_glorot_start():
    network = PINN(SCALING, width=200, layers=3).network.layers
    assert np.std(network.first_weight) == pytest.approx(np.sqrt(2 / 202), rel=0.1)
    assert np.std(network.hidden_weight) == pytest.approx(np.sqrt(2 / 400), rel=0.02)
    assert not np.any(network.hidden_bias)


# ------------------------------------------------------------------------------- siren


def test_siren_formula():
    model = shaken(SIREN(SCALING, width=10, layers=3, frequency=8.0))
    expected = dense(model.network.layers, np.sin, POINTS)
    np.testing.assert_allclose(values(model, POINTS), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("frequency", [8.0, 30.0])
def test_siren_statistics(frequency):
    """Sitzmann et al. 2020, theorem 1.8: before each sine N(0, 1), behind it arcsine, at any depth."""
    model = SIREN(SCALING, width=512, layers=7, frequency=frequency)
    n = model.network.layers
    points = np.random.default_rng(0).uniform((0, 1), (2, 4), (200, 2))
    h = np.sin(unit(points) @ n.first_weight.T + n.first_bias)
    assert stats.kstest(h[::10].ravel(), stats.arcsine(-1, 2).cdf).statistic < 0.03
    for weight, bias in zip(n.hidden_weight, n.hidden_bias, strict=True):
        before = h @ weight.T + bias
        # The sine of N(0, 1) varies a little less than an arcsine: the deviation settles at 0.9.
        assert 0.85 < np.std(before) < 1.05
        assert stats.kstest(before.ravel(), stats.norm(0, np.std(before)).cdf).statistic < 0.02
        h = np.sin(before)
        assert stats.kstest(h.ravel(), stats.arcsine(-1, 2).cdf).statistic < 0.08
        # Crowded at ±1, where 20 % of an arcsine lies and 5 % of a uniform variable.
        assert 0.11 < np.mean(np.abs(h) > 0.95) < 0.23
    np.testing.assert_allclose(
        values(model, points)[:, 0], physical(h @ n.readout.T)[:, 0], rtol=1e-3
    )


def test_siren_frequency_is_the_start_of_the_first_layer():
    slow, fast = (SIREN(SCALING, frequency=f, seed=2).network.layers for f in (6.0, 30.0))
    np.testing.assert_allclose(5 * slow.first_weight, fast.first_weight, rtol=1e-5)
    np.testing.assert_array_equal(slow.hidden_weight, fast.hidden_weight)
    np.testing.assert_allclose(slow.readout, 5 * fast.readout, rtol=1e-5)


# ------------------------------------------------------------------------------- wire

CHIRP_DOMAIN = pgt.Domain(x=(-1, 1))


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


@eqx.filter_jit
@eqx.filter_value_and_grad
def total_and_gradient(model):
    # The sine, lest the sum of squares of large numbers be what overflows.
    return jnp.sum(jnp.sin(derivatives(model, ("u", "u_xx"), jnp.float32(POINTS))))


@pytest.mark.parametrize("scale", [1.0, 30.0, 1e3, 1e6])
def test_wavelets_never_overflow(scale):
    """exp(-ω₀ Im z) alone would, from a weight of a few units on."""
    model = shaken(WIRE(SCALING, width=8, layers=3, frequency=6.0, spread=1.0), scale)

    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(total_and_gradient(model)))


def chirp(x):
    """A local burst whose frequency rises from 5 to 35 radians per unit."""
    return np.exp(-4 * x**2) * np.sin(10 * (x + 1) ** 2)


def error_of_fit(model, x, steps=400, rate=5e-3):
    """Relative error after Adam at the readings, all of them in every step."""
    trained, fixed = partition(model)
    optimiser = optax.adam(rate)
    points, target = jnp.asarray(x[:, None], jnp.float32), jnp.asarray(chirp(x), jnp.float32)

    def loss(trained):
        return jnp.mean((values(combine(trained, fixed), points)[:, 0] - target) ** 2)

    @jax.jit
    def step(carry, _):
        trained, state = carry
        update, state = optimiser.update(jax.grad(loss)(trained), state)
        return (optax.apply_updates(trained, update), state), None

    start = (trained, optimiser.init(trained))
    (trained, _), _ = jax.jit(lambda c: jax.lax.scan(step, c, None, length=steps))(start)
    return np.sqrt(float(loss(trained)) / np.mean(chirp(x) ** 2))


@pytest.mark.parametrize("seed", [0, 1])
def test_wire_represents_a_chirp_better_than_tanh(seed):
    """Saragadam et al. 2023: wavelets represent local high frequencies that others smooth away."""
    x = np.linspace(-1, 1, 200)
    readings = pgt.Observations.from_arrays({"x": x}, {"u": chirp(x)})
    scaling = pgt.Scaling.fit(readings, CHIRP_DOMAIN)
    wire = WIRE(scaling, width=20, layers=2, frequency=20.0, spread=10.0, seed=seed)
    pinn = PINN(scaling, width=29, layers=2, seed=seed)
    assert abs(count_parameters(wire) - count_parameters(pinn)) < 0.05 * count_parameters(pinn)
    ours, theirs = error_of_fit(wire, x), error_of_fit(pinn, x)
    assert ours < 0.05
    assert ours < theirs / 5
