"""What a model is: readings in, a field that can be asked anywhere out."""

import abc
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.types import Point
from pgt.data.observations import Observations
from pgt.kernels.kernel import AbstractKernel, NoKernel
from pgt.nn.scaling import Scaling


class Halves(NamedTuple):
    """`decode` in two steps, decode(context, z) = answer(look(context, z), z); only the second uses
    what is tunable."""

    look: Callable[[PyTree[Array], Point], Float[Array, "..."]]
    answer: Callable[[Float[Array, "..."], Point], Float[Array, " c"]]


class AbstractFieldModel(eqx.Module):
    """`encode` looks at the readings once, `decode` answers at one point.

    Both are pure. Physical units outside; `decode` is smooth in `z`; the order of the readings does
    not matter; a hidden value is never read. `encode` works under `vmap` over many observation sets.
    Most models are a network in a frame (network.py, frame.py), which takes care of the units.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = pgt.PINN(scaling, width=8)
    >>> model.decode(model.encode(readings), readings.points[0]).shape  # one field at one point
    (1,)
    >>> isinstance(model, pgt.extend.AbstractFieldModel)
    True
    """

    part: ClassVar[str] = "model"
    # Whether its numbers are trained, with readings held out; others are solved for.
    is_trained: ClassVar[bool] = True
    scaling: eqx.AbstractVar[Scaling]

    @abc.abstractmethod
    def encode(self, observations: Observations) -> PyTree[Array]:
        """What the readings say, in whatever form `decode` wants it."""

    @abc.abstractmethod
    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The fields at one point, in physical units."""

    @abc.abstractmethod
    def tunable(self) -> PyTree[Array]:
        """The arrays a second-order step may tune, a few thousand numbers; `encode` must not use them."""

    def halves(self) -> Halves | None:
        """`decode` in two steps, for a faster second-order step; None where it is one."""
        return None

    def on_grid(
        self,
        axes: Sequence[Float[np.ndarray, " _"]],
        along: Sequence[int] = (),
        tuned: Float[Array | np.ndarray, "k ..."] | None = None,
    ) -> Float[np.ndarray, "k c *shape"] | None:
        """All fields on the grid of these positions along each coordinate, or their derivative along the
        axes listed, for each of the values `tuned` of what is tunable; default: its own, k = 1. None
        where the model has no faster way than point by point, or is not linear in what is tunable."""
        return None

    @property
    def predicts_variance(self) -> bool:
        """Whether there is a `log_variance`."""
        return False

    def log_variance(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """Logarithm of the aleatoric variance at one point, in units of the fields' spread."""
        raise InputError(
            f"{type(self).__name__} predicts no variance; PGT(..., variance_head=True) does."
        )


# ------------------------------------------------------------------------------- network

# What a network is: numbers of order one in, numbers of order one out, no units and no physics.


class UnitReadings(eqx.Module):
    """Readings as a network sees them: unit coordinates in [-1, 1], standardised values.

    `gamma(receivers, sources)` is Γ between two sets of points in unit coordinates, one matrix per
    attention head or one for all: all that a network ever learns of the physics, but for the `numbers`:
    the dimensionless coefficients of the system, told to networks that serve many (families/).

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> seen = pgt.PGT(scaling, pgt.kernels.HeatKernel(0.01)).unit_readings(readings)
    >>> seen.points.shape, seen.values.shape, seen.gamma(seen.points[:3], seen.points).shape
    ((20, 2), (20, 1), (1, 3, 20))
    """

    points: Float[Array, "n d"]
    values: Float[Array, "n c"]  # 0 where hidden
    mask: Bool[Array, "n c"]
    gamma: Callable[
        [Float[Array, "receivers d"], Float[Array, "sources d"]],
        Float[Array, "#h receivers sources"],
    ]
    numbers: Float[Array | np.ndarray, " k"] = eqx.field(default_factory=lambda: np.zeros(0))

    @property
    def visible(self) -> Bool[Array, " n"]:
        """Which of them say anything: a reading of nothing is padding."""
        return jnp.any(self.mask, axis=-1)

    def guided(
        self,
        receivers: Float[Array, "receivers d"],
        sources: Float[Array, "sources d"],
        visible: Bool[Array, " sources"],
        tokens: int = 1,
    ) -> Float[Array, "#h all_receivers all_sources"]:
        """Γ with rows and columns for global `tokens`: no bias, always visible, so that no row is ever
        empty. Padding is invisible to all."""
        bias = jnp.pad(self.gamma(receivers, sources), ((0, 0), (tokens, 0), (tokens, 0)))
        seen = jnp.concatenate([jnp.ones(tokens, bool), visible])
        return jnp.where(seen, bias, -jnp.inf)


class AbstractNetwork(eqx.Module):
    """`encode` looks at the readings once, `decode` answers at one point.

    Both are pure, `decode` is smooth in `z`, the order of the readings does not matter, and `encode`
    works under `vmap`. A frame (frame.py) turns a network into a model of physical quantities; the
    same network may stand in several.

    >>> class Mean(AbstractNetwork):
    ...     offset: Float[Array, " c"]
    ...
    ...     def encode(self, readings):
    ...         return jnp.sum(readings.values, axis=0) / jnp.sum(readings.mask, axis=0)
    ...
    ...     def decode(self, context, z):
    ...         return context + self.offset
    ...
    ...     def tunable(self):
    ...         return self.offset
    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(x=9, t=9), n=20)
    >>> scaling = pgt.Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> model = pgt.extend.Frame(scaling, Mean(jnp.zeros(1)))
    >>> everywhere = model.decode(model.encode(readings), readings.points[0])
    >>> bool(abs(everywhere - readings.values.mean())[0] < 1e-6)
    True
    """

    @abc.abstractmethod
    def encode(self, readings: UnitReadings) -> PyTree[Array]:
        """What the readings say, in whatever form `decode` wants it."""

    @abc.abstractmethod
    def decode(self, context: PyTree[Array], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The standardised fields at one point in unit coordinates."""

    @abc.abstractmethod
    def tunable(self) -> PyTree[Array]:
        """The arrays a second-order step may tune, a few thousand numbers; `encode` must not use them."""

    @property
    def predicts_variance(self) -> bool:
        """Whether there is a `log_variance`."""
        return False

    def log_variance(self, context: PyTree[Array], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """Logarithm of the aleatoric variance of the standardised fields at one point."""
        raise InputError(
            f"{type(self).__name__} predicts no variance; PGT(..., variance_head=True) does."
        )


class AbstractTwoStageNetwork(AbstractNetwork):
    """A network whose `decode` first looks at the context, then answers.

    Where all that is tunable lies in the second stage, a second-order step looks once and then only
    answers, which is faster.

    >>> class Tilted(AbstractTwoStageNetwork):
    ...     slope: Float[Array, "c d"]
    ...
    ...     def encode(self, readings):
    ...         return jnp.mean(readings.values, axis=0)
    ...
    ...     def look(self, context, z):
    ...         return context * jnp.cos(z[0])
    ...
    ...     def answer(self, seen, z):
    ...         return seen + self.slope @ z
    ...
    ...     def tunable(self):
    ...         return self.slope
    >>> Tilted(jnp.array([[2.0, 0.0]])).decode(jnp.ones(1), jnp.array([0.0, 0.5])).tolist()
    [1.0]
    """

    @abc.abstractmethod
    def look(self, context: PyTree[Array], z: Float[Array, " d"]) -> Float[Array, "..."]:
        """What the context says about one point: all that `answer` needs of it, nothing tunable."""

    @abc.abstractmethod
    def answer(self, seen: Float[Array, "..."], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The standardised fields at one point, from what `look` saw there."""

    def decode(self, context: PyTree[Array], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The answer to what is seen."""
        return self.answer(self.look(context, z), z)


# ------------------------------------------------------------------------------- frame

# The frame around a network: units and physics outside, numbers of order one inside.
#
#     readings, points ──► unit coordinates, standardised values, Γ ──► network ──► values ──► fields
#
# A network (network.py) knows neither metres nor diffusivities. What makes it a model of one system
# stands around it: `scaling`, which is the domain and the size of the fields, and `kernel`, which
# is how influence spreads there. All conversion happens here, so that a network cannot do it
# differently; the same weights serve in the frame of another system, in other units, and under
# `vmap` in many frames at once.
#
# Γ depends on differences of points alone. It is computed from unit coordinates times half extents,
# counted from the middle of the domain: a large offset of the coordinates costs no digits.


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
