"""Optimisers by name and as Optax transformations."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import pgt
from pgt.core.errors import InputError
from pgt.core.registry import parts
from pgt.training.optimisers import (
    _cholesky_orthonormal,
    direction,
    scale_by_soap,
)

SETTINGS = {"b1": 0.9, "b2": 0.8, "eps": 1e-8, "refresh_every": 3, "max_dimension": 6}


def compiled(*settings, **named) -> optax.GradientTransformation:
    """SOAP, its start and a step one program each: operation by operation each of them is compiled."""
    soap = scale_by_soap(*settings, **named)
    return optax.GradientTransformation(jax.jit(soap.init), jax.jit(soap.update))


class ReferenceMatrix:
    """The algorithm of the paper for one matrix, in numpy, one line per line."""

    def __init__(self, shape, b1, b2, eps, refresh_every, max_dimension):
        self.b1, self.b2, self.eps, self.refresh_every = b1, b2, eps, refresh_every
        self.rotated = [d <= max_dimension for d in shape]
        self.mean, self.square = np.zeros(shape), np.zeros(shape)
        self.factors = [np.zeros((d, d)) for d in shape]
        self.bases = [np.eye(d) for d in shape]
        self.step = -1

    def update(self, gradient):
        self.step += 1
        if self.step == 0:
            self.learn_factors(gradient)
            for side in range(2):
                if self.rotated[side]:
                    self.bases[side] = np.linalg.eigh(self.factors[side])[1][:, ::-1]
            return np.zeros_like(gradient)
        left, right = self.bases
        self.mean = self.b1 * self.mean + (1 - self.b1) * gradient
        projected = left.T @ gradient @ right
        self.square = self.b2 * self.square + (1 - self.b2) * projected**2
        mean = left.T @ self.mean @ right / (1 - self.b1**self.step)
        square = self.square / (1 - self.b2**self.step)
        direction = left @ (mean / (np.sqrt(square) + self.eps)) @ right.T
        self.learn_factors(gradient)
        if self.step % self.refresh_every == 0:
            self.refresh()
        return direction

    def learn_factors(self, gradient):
        for side, product in enumerate((gradient @ gradient.T, gradient.T @ gradient)):
            self.factors[side] = self.b2 * self.factors[side] + (1 - self.b2) * product

    def refresh(self):
        for side in range(2):
            if self.rotated[side]:
                factor, basis = self.factors[side], self.bases[side]
                order = np.argsort(-np.diag(basis.T @ factor @ basis))
                self.square = np.take(self.square, order, axis=side)
                self.bases[side] = np.linalg.qr(factor @ basis[:, order])[0]


def random_trees(like, steps, seed=0):
    """Gradients whose statistics differ by direction, so that the order of eigenvalues changes."""
    generator = np.random.default_rng(seed)
    for step in range(steps):
        yield jax.tree.map(
            lambda p, s=step: jnp.asarray(
                generator.normal(size=p.shape) * (1 + np.sin(s)), p.dtype
            ),
            like,
        )


@pytest.mark.slow
@pytest.mark.usefixtures("optimised")  # rounding decides the basis of a null space
def test_every_leaf_follows_the_definition():
    shapes = [(4, 4), (4, 6), (6, 4), (2, 9), (9, 8), (4, 4), (1, 5), (3, 4, 6), (2, 2, 3, 3)]
    with jax.enable_x64(True):
        params = {str(k): jnp.zeros(shape) for k, shape in enumerate(shapes)}
        transformation = compiled(**SETTINGS)
        state, update = transformation.init(params), transformation.update
        references = {
            key: [ReferenceMatrix(p.shape[-2:], **SETTINGS) for _ in range(p[..., 0, 0].size)]
            for key, p in params.items()
        }
        for gradient in random_trees(params, steps=20):
            direction, state = update(gradient, state)
            for key, value in gradient.items():
                matrices = np.asarray(value).reshape(-1, *value.shape[-2:])
                expected = [r.update(g) for r, g in zip(references[key], matrices, strict=True)]
                expected = np.reshape(expected, value.shape)
                np.testing.assert_allclose(direction[key], expected, rtol=1e-8, atol=1e-9)


def test_a_stack_equals_its_matrices():
    with jax.enable_x64(True):
        stacked = {"w": jnp.zeros((3, 4, 5))}
        separate = {"w": [jnp.zeros((4, 5))] * 3}
        transformation = compiled(refresh_every=2)
        update = transformation.update
        states = transformation.init(stacked), transformation.init(separate)
        for gradient in random_trees(stacked, steps=7):
            a, first = update(gradient, states[0])
            b, second = update({"w": list(gradient["w"])}, states[1])
            states = first, second
            np.testing.assert_allclose(a["w"], jnp.stack(b["w"]), rtol=1e-12)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_dtype_follows_the_parameters_in_a_scan(dtype):
    with jax.enable_x64(True):
        params = {"w": jnp.ones((3, 2), dtype), "b": jnp.ones(2, dtype)}
        transformation = compiled(refresh_every=2)

        def step(state, _):
            updates, state = transformation.update(params, state)
            return state, updates

        state, updates = jax.lax.scan(step, transformation.init(params), None, length=5)
        arrays = jax.tree.leaves((updates, state[1:]))
        assert {a.dtype for a in arrays} == {jnp.dtype(dtype)}
        assert state.step == 5


def test_zero_and_tiny_gradients_stay_finite():
    params = {"w": jnp.zeros((4, 3)), "b": jnp.zeros(2)}
    transformation = compiled(refresh_every=1)
    update = transformation.update
    for size in (0.0, 1e-30):
        state = transformation.init(params)
        for _ in range(4):
            gradient = jax.tree.map(lambda p, s=size: p + s, params)
            updates, state = update(gradient, state)
        assert all(jnp.isfinite(a).all() for a in jax.tree.leaves((updates, state)))


@pytest.mark.parametrize(
    "settings",
    [{"b1": 1.0}, {"b2": -0.1}, {"eps": 0.0}, {"refresh_every": 0}, {"max_dimension": 0}],
)
def test_bad_settings_are_named(settings):
    (name,) = settings
    with pytest.raises(InputError, match=name):
        scale_by_soap(**settings)


@pytest.mark.parametrize("double", [False, True])
def test_cholesky_qr_is_the_q_of_a_qr(double):
    """What replaces QR on a GPU: the same columns up to sign, however unlike their lengths."""
    random = np.random.default_rng(0)
    basis = np.linalg.qr(random.normal(size=(3, 12, 12)))[0]
    power = (basis * 10.0 ** np.linspace(0, -6, 12)) @ np.linalg.qr(random.normal(size=(12, 12)))[0]
    power = power + 1e-3 * random.normal(size=power.shape)
    with jax.enable_x64(double):
        dtype = np.float64 if double else np.float32
        found = np.asarray(_cholesky_orthonormal(jnp.asarray(power, dtype)))
    expected = np.linalg.qr(power)[0]
    signs = np.sign(np.sum(found * expected, axis=-2, keepdims=True))
    tolerance = 1e-9 if double else 2e-2
    np.testing.assert_allclose(found, signs * expected, atol=tolerance)
    np.testing.assert_allclose(found.mT @ found, np.eye(12)[None].repeat(3, 0), atol=1e-5)


# ------------------------------------------------------------------------------- optimizers by name


@pytest.mark.parametrize("name", ["soap", "adam", "adamw", "lion"])
def test_every_named_optimiser_descends(name):
    trained = ({"weight": jnp.ones((3, 2))}, {"coefficient": jnp.ones(())}, {"data": jnp.ones(())})
    transformation = direction(name)
    state = transformation.init(trained)
    for _ in range(3):  # the first step of SOAP only finds its bases
        update, state = transformation.update(trained, state, trained)
    assert float(jnp.sum(update[0]["weight"])) > 0.1  # along the gradient, which is one everywhere
    assert float(update[1]["coefficient"]) > 0.1


def test_only_network_weights_decay():
    trained = ({"weight": jnp.ones(2)}, {"coefficient": jnp.ones(2)}, {})
    still = ({"weight": jnp.zeros(2)}, {"coefficient": jnp.zeros(2)}, {})
    transformation = parts("optimiser")["adamw"](weight_decay=0.1)
    update, _ = transformation.update(still, transformation.init(trained), trained)
    assert update[0]["weight"].tolist() == pytest.approx([0.1, 0.1])
    assert update[1]["coefficient"].tolist() == [0.0, 0.0]


def test_a_complete_optimiser_is_refused():
    with pytest.raises(pgt.InputError, match=r"optax.scale_by_adam\(\) instead"):
        pgt.Training(optimiser=optax.adam(1e-3))
    with pytest.raises(pgt.InputError, match="'soap', 'adam', 'adamw', 'lion', or an Optax"):
        pgt.Training(optimiser="sgd")
