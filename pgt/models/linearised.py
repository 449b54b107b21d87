"""`LinearisedModel`: a posterior sample of a fitted model, to first order in its tunable weights.

The Laplace approximation draws a direction δ in the space of the tunable weights and evaluates the field
u_θ + (du_θ/dθ) δ, instead of refitting or evaluating u at θ + δ.
"""

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
    """A sum of sines that fades to zero at the positions of the readings::

    a(z) = min(|z - nearest|² , 1) (u(z) - mean),     distances in units of `reach`

    It represents the part of a posterior sample that readings and equation do not determine.
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

    It is a sample of a Laplace posterior: δ is Gaussian, so u is Gaussian with mean u_θ. Along directions
    that readings and equation do not determine δ may be so long that the field at θ + δ is no longer near
    its linearization. `null_space` is an additional field for differences that no θ can express.
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
        """The scaling of the base model."""
        return self.base.scaling

    def encode(self, observations: Observations) -> PyTree[Array]:
        """The context of the base model, which contains nothing tunable."""
        return self.base.encode(observations)

    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The field of the base model plus its derivative along the direction."""

        def field(tuned):
            return eqx.tree_at(lambda m: m.tunable(), self.base, tuned).decode(context, z)

        value, change = jax.jvp(field, (self.base.tunable(),), (self.direction,))
        moved = value + change
        return moved if self.null_space is None else moved + self.null_space(z)

    def tunable(self) -> PyTree:
        """The tunable part of the base model."""
        return self.base.tunable()


def network_of(model: AbstractFieldModel) -> AbstractFieldModel:
    """The base of a linearized model, or the model itself."""
    return model.base if isinstance(model, LinearisedModel) else model
