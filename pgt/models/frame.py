"""The frame around a network: units and physics outside, numbers of order one inside.

    readings, points ──► unit coordinates, standardised values, Γ ──► network ──► values ──► fields

A network (network.py) knows neither metres nor diffusivities. What makes it a model of one system
stands around it: `scaling`, which is the domain and the size of the fields, and `kernel`, which is how
influence spreads there. All conversion happens here, so that a network cannot do it differently; the
same weights serve in the frame of another system, in other units, and under `vmap` in many frames at
once.

Γ depends on differences of points alone. It is computed from unit coordinates times half extents,
counted from the middle of the domain: a large offset of the coordinates costs no digits.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from pgt.core.checked import checked
from pgt.core.types import Point
from pgt.data.observations import Observations
from pgt.kernels.composition import NoKernel
from pgt.kernels.kernel import AbstractKernel
from pgt.models.field_model import AbstractFieldModel, Halves
from pgt.models.network import AbstractNetwork, AbstractTwoStageNetwork, UnitReadings
from pgt.nn.scaling import Scaling


class Gamma(eqx.Module):
    """Γ between points in unit coordinates: the log-influence of sources on receivers.

    A Green's function has units, an attention logit has none: Γ counts from the influence of a point
    on itself where nothing smaller than the domain is resolved.
    """

    kernel: AbstractKernel
    scaling: Scaling

    def __call__(
        self, receivers: Float[Array, "receivers d"], sources: Float[Array, "sources d"]
    ) -> Float[Array, "#h receivers sources"]:
        scaling, size = self.scaling, jnp.asarray(self.scaling.half_extent)
        bias = self.kernel.bias(
            receivers * size, sources * size, scaling.resolution, scaling.period
        )
        here = jnp.zeros_like(size)
        own = self.kernel.log_influence(here, here, 2 * size)
        return bias - jnp.where(own > -jnp.inf, own, 0.0)[:, None, None]


class AbstractFrame(AbstractFieldModel):
    """A network as a model in physical units."""

    kernel: eqx.AbstractVar[AbstractKernel]
    network: eqx.AbstractVar[AbstractNetwork]

    def unit_readings(self, observations: Observations) -> UnitReadings:
        """The readings as the network sees them."""
        scaling, mask = self.scaling, jnp.asarray(observations.mask)
        # Selected, not multiplied: a hidden value may be NaN.
        values = jnp.where(mask, scaling.standardise(observations.values), 0.0)
        dtype = scaling.middle.dtype
        points = jnp.asarray(scaling.to_unit(observations.points), dtype)
        return UnitReadings(points, values.astype(dtype), mask, Gamma(self.kernel, scaling))

    def encode(self, observations: Observations) -> PyTree[Array]:
        """What the network makes of the readings."""
        return self.network.encode(self.unit_readings(observations))

    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The network's answer at one point, in physical units."""
        return self._physical(self.network.decode(context, self._unit(z)))

    def tunable(self) -> PyTree:  # of arrays, or of what `eqx.tree_at` puts in their place
        """The network's."""
        return self.network.tunable()

    def halves(self) -> Halves | None:
        """The network's two stages, where it has them."""
        network = self.network
        if not isinstance(network, AbstractTwoStageNetwork):
            return None
        return Halves(
            lambda context, z: network.look(context, self._unit(z)),
            lambda seen, z: self._physical(network.answer(seen, self._unit(z))),
        )

    @property
    def predicts_variance(self) -> bool:
        """Whether the network does."""
        return self.network.predicts_variance

    def log_variance(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The network's: in units of the fields' spread it is the same number."""
        return self.network.log_variance(context, self._unit(z))

    def _unit(self, z: Point) -> Float[Array, " d"]:
        return jnp.asarray(self.scaling.to_unit(z))

    def _physical(self, values: Float[Array, " c"]) -> Float[Array, " c"]:
        return jnp.asarray(self.scaling.to_physical(values))


@checked
class Frame(AbstractFrame):
    """Any network as a model: one of your own, or one that was trained in another frame.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    network
        An `AbstractNetwork` for as many coordinates and fields, and for the same periodic axes.
    kernel
        Γ, the physics in the attention of networks that ask for it.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = pgt.PGT(scaling, pgt.kernels.HeatKernel(0.01), width=16, decoder_width=16)
    >>> other = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 2), t=(0, 5)))
    >>> moved = pgt.extend.Frame(other, model.network, pgt.kernels.HeatKernel(0.3))  # the same weights
    >>> moved.decode(moved.encode(readings), readings.points[0]).shape
    (1,)
    """

    scaling: Scaling
    network: AbstractNetwork
    kernel: AbstractKernel = NoKernel()
