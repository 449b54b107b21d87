"""A result made by hand, of members that are known functions: nothing is trained."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import pgt
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.scaling import Scaling
from pgt.uncertainty.members import Members


class Wavy(AbstractFieldModel):
    """u = (1 + a) sin x + b t, v of half the size, p = a; nothing to learn or to encode."""

    scaling: Scaling
    a: jax.Array
    b: jax.Array
    variance: bool | None = eqx.field(static=True, default=None)

    def encode(self, observations):
        return jnp.zeros(())

    def decode(self, context, z):
        u = (1 + self.a) * jnp.sin(z[0]) + self.b * z[1]
        return jnp.stack([u, u / 2, self.a + context])

    def tunable(self):
        return self.a, self.b

    @property
    def predicts_variance(self):
        return self.variance is not None

    def log_variance(self, context, z):
        return 2 * jnp.log(jnp.stack([0.1 + z[1], 0.2 + context, 1 + context]))


BOX = pgt.Domain(x=(0, 3), t=(0, 1))
PDE = pgt.Equation("u_t = v_x + p_x", "v_t = u_x", "p_t = v_x", coords=("x", "t"))


def points(count, seed):
    return BOX.lower + BOX.extent * np.random.default_rng(seed).uniform(size=(count, 2))


def measured(count, seed, sigma=0.3):
    """Noisy readings of sin x and half of it; p is hidden."""
    z, random = points(count, seed), np.random.default_rng(100 + seed)
    u, v = (f * np.sin(z[:, 0]) + sigma * random.normal(size=count) for f in (1.0, 0.5))
    columns = {"x": z[:, 0], "t": z[:, 1]}
    return pgt.Observations.from_arrays(columns, {"u": u, "v": v}).aligned(PDE.fields)


def result_with(members=6, variance=None):
    fitted, held_out = measured(300, 0), measured(200, 1)
    scaling = pgt.Scaling.fit(fitted, BOX)
    random = np.random.default_rng(2)
    slopes = [jnp.asarray(0.05 * random.normal(size=members), jnp.float32) for _ in range(2)]
    models = [Wavy(scaling, a, b, variance) for a, b in zip(*slopes, strict=True)]
    stack = [
        jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves]), *parts)
        for parts in (models, [PDE] * members, [fitted] * members)
    ]
    record = {"history": {}, "seed": 0}
    return pgt.Reconstruction(models[0], PDE, fitted, held_out, record, BOX, Members.of(*stack))
