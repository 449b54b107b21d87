"""Two modes of heat in a rod: readings at random places, and the exact field."""

import jax
import numpy as np

from pgt.data.observations import Observations

MODES = {1: 1.0, 2: 0.5}
DIFFUSIVITY = 0.05


def field(model, points):
    with jax.enable_x64(True):
        return np.asarray(jax.vmap(lambda z: model.decode((), z))(np.asarray(points, float)))


def heat_at(points):
    x, t = points.T
    return sum(
        a * np.exp(-DIFFUSIVITY * (n * np.pi) ** 2 * t) * np.sin(n * np.pi * x)
        for n, a in MODES.items()
    )


def heat_readings(n, noise=0.0, seed=0):
    random = np.random.default_rng(seed)
    points = random.uniform(size=(n, 2))
    values = heat_at(points) + noise * random.normal(size=n)
    return Observations.from_arrays(points, values[:, None], coords=("x", "t"), fields=("u",))
