"""A field beside a fitted one, to first order in what a second-order step tunes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from pgt.core.types import Point
from pgt.data.observations import Observations
from pgt.models.features import Features
from pgt.models.field_model import AbstractFieldModel
from pgt.nn.scaling import Scaling


class NullSpaceField(eqx.Module):
    """A sum of sines that fades out toward the places of the readings::

    a(z) = min(|z - nearest|² , 1) (u(z) - mean),     distances in units of `reach`
    """

    sines: Features
    places: Float[Array | np.ndarray, "n d"]
    reach: Float[Array | np.ndarray, " d"]

    def __call__(self, z: Point) -> Float[Array, " c"]:
        offsets = (jnp.asarray(z) - jnp.asarray(self.places)) / jnp.asarray(self.reach)
        nearest = jnp.min(jnp.sum(offsets**2, axis=-1))
        return jnp.minimum(nearest, 1.0) * (self.sines.decode((), z) - self.sines.scaling.mean)


class LinearisedModel(AbstractFieldModel):
    """The field of `base`, moved along `direction` in the space of its tunable numbers θ::

        u(z) = u_θ(z) + d/dε u_{θ + ε δ}(z)

    It is a sample of a Laplace posterior: δ is Gaussian, and so is u, with the mean u_θ. A
    direction that readings and equation do not determine may be long, where θ + δ itself would be
    another field. `null_space` is a difference that no θ can express, where nothing was measured.
    """

    base: AbstractFieldModel
    direction: PyTree[Float[Array | np.ndarray, "..."]]
    null_space: NullSpaceField | None = None

    def __init__(
        self,
        base: AbstractFieldModel,
        direction: PyTree[Float[Array | np.ndarray, "..."]],
        null_space: NullSpaceField | None = None,
    ):
        """`direction` has the structure of `base.tunable()`."""
        self.base, self.direction, self.null_space = base, direction, null_space

    @property
    def scaling(self) -> Scaling:
        """That of the base."""
        return self.base.scaling

    def encode(self, observations: Observations) -> PyTree[Array]:
        """What the base makes of the readings: nothing of it is tunable."""
        return self.base.encode(observations)

    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The base's field and its derivative along the direction."""

        def at(tuned):
            return eqx.tree_at(lambda m: m.tunable(), self.base, tuned).decode(context, z)

        value, change = jax.jvp(at, (self.base.tunable(),), (self.direction,))
        moved = value + change
        return moved if self.null_space is None else moved + self.null_space(z)

    def tunable(self) -> PyTree:
        """The base's."""
        return self.base.tunable()


def network_of(model: AbstractFieldModel) -> AbstractFieldModel:
    """The model itself, or the base of a linearized one."""
    return model.base if isinstance(model, LinearisedModel) else model
