"""A scaling for networks of the coordinate, and what such a network gives at points."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import pgt
from pgt.nn.trees import combine, partition
from pgt.physics.derivatives import differentiate

DOMAIN = pgt.Domain(x=(0, 2), t=(1, 4))
POINTS = np.random.default_rng(1).uniform((0, 1), (2, 4), (6, 2))


def heat(points, diffusivity=0.1):
    x, t = points.T
    return np.exp(-diffusivity * np.pi**2 * t) * np.sin(np.pi * x) + 2.0


def heat_readings(count=40):
    points = np.random.default_rng(0).uniform((0, 1), (2, 4), (count, 2))
    return pgt.Observations.from_arrays(
        points, heat(points)[:, None], coords=("x", "t"), fields=("u",)
    )


SCALING = pgt.Scaling.fit(heat_readings(), DOMAIN)


@eqx.filter_jit
def values(model, points):
    return jax.vmap(lambda z: model.decode((), z))(jnp.asarray(points))


@eqx.filter_jit
def derivatives(model, names, points):
    def one(z):
        table = differentiate(lambda y: model.decode((), y), names, ("x", "t"), ("u",))(z)
        return jnp.stack([table(name) for name in names])

    return jax.vmap(one)(points)


def shaken(model, scale=0.5):
    """No bias is zero, so that a formula without it would be found out."""
    random = np.random.default_rng(5)
    trained, fixed = partition(model)
    moved = jax.tree.map(lambda a: a + np.float32(random.normal(0, scale, a.shape)), trained)
    return combine(moved, fixed)


def unit(points):
    return (points - [1.0, 2.5]) / [1.0, 1.5]


def physical(standard):
    return standard * SCALING.spread + SCALING.mean


def dense(layers, function, points):
    """A dense network from its definition, in numpy."""
    h = function(unit(points) @ layers.first_weight.T + layers.first_bias)
    for weight, bias in zip(layers.hidden_weight, layers.hidden_bias, strict=True):
        h = function(h @ weight.T + bias)
    return physical(h @ layers.readout.T + layers.offset)
