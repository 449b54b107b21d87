"""The wavelet network: its formula, its overflow, and a chirp."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from coordinate_networks import POINTS, SCALING, derivatives, physical, shaken, unit, values

import pgt
from pgt.models.pinn import PINN
from pgt.models.wire import WIRE
from pgt.nn.frozen import combine, count_parameters, partition

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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spread": -1.0}, "spread must be a number above 0"),
        ({"frequency": float("nan")}, "frequency must be a finite number above 0"),
        ({"frequency": 20.0}, "raise spread to at least 3.33"),
    ],
)
def test_mistakes_are_named(options, message):
    with pytest.raises(pgt.InputError, match=message):
        WIRE(SCALING, **options)
