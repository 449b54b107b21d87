"""Nine readings of two fields, one of them hidden once, and the field that a model makes of them."""

import dataclasses

import equinox as eqx
import jax
import numpy as np

from pgt.data.domain import Domain
from pgt.data.observations import Observations

DOMAINS = {
    "open": Domain(x=(0, 2), t=(0, 3)),
    "periodic": Domain(x=(0, 2), t=(0, 3), periodic=("x",)),
}
POINTS = np.random.default_rng(1).uniform((0, 0), (2, 3), (5, 2)).astype(np.float32)


def readings(n=9, seed=0, fields=2):
    random = np.random.default_rng(seed)
    values = random.normal(3.0, 2.0, (n, fields))
    values[1, 0] = np.nan
    points = random.uniform((0, 0), (2, 3), (n, 2))
    names = ("u", "v")[:fields]
    return Observations.from_arrays(points, values, coords=("x", "t"), fields=names)


def changed(observations, **fields):
    return dataclasses.replace(observations, **fields)


@eqx.filter_jit
def field(model, observations, points):
    context = model.encode(observations)
    return jax.vmap(lambda z: model.decode(context, z))(points)
