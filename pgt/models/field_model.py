"""What a model is: it maps readings to a field that can be evaluated at any point.

`AbstractFieldModel` is the contract of a model in physical units. `AbstractNetwork` is the contract of a
network in unit coordinates and standardised values; `AbstractTwoStageNetwork` splits its decoder for
faster second-order steps. `AbstractFrame` turns a network into a model: it holds the scaling and the
kernel and does all conversion of units.
"""

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
    """`decode` in two steps, decode(context, z) = answer(look(context, z), z).

    Only the second step uses the tunable arrays.
    """

    look: Callable[[PyTree[Array], Point], Float[Array, "..."]]
    answer: Callable[[Float[Array, "..."], Point], Float[Array, " c"]]


class AbstractFieldModel(eqx.Module):
    """A model: `encode` reads the readings once, `decode` evaluates the fields, in physical units.

    Both functions are pure. `decode` is smooth in `z`, the order of the readings does not matter, and a
    hidden value is never read. `encode` works under `vmap` over many observation sets. Most models are a
    network in a frame, which converts the units.

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
    # Whether the weights are trained, with readings held out; otherwise they are solved for.
    is_trained: ClassVar[bool] = True
    scaling: eqx.AbstractVar[Scaling]

    @abc.abstractmethod
    def encode(self, observations: Observations) -> PyTree[Array]:
        """The context: the readings in the form that `decode` needs."""

    @abc.abstractmethod
    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The fields at one point, in physical units."""

    @abc.abstractmethod
    def tunable(self) -> PyTree[Array]:
        """The few thousand numbers that second-order steps may tune; `encode` must not use them."""

    def halves(self) -> Halves | None:
        """`decode` in two steps, for faster second-order steps; None if it cannot be split."""
        return None

    def on_grid(
        self,
        axes: Sequence[Float[np.ndarray, " _"]],
        along: Sequence[int] = (),
        tuned: Float[Array | np.ndarray, "k ..."] | None = None,
    ) -> Float[np.ndarray, "k c *shape"] | None:
        """All fields on the grid of these positions, or their derivative along the listed axes.

        There is one result for each of the k values `tuned` of the tunable arrays; by default for the
        model's own value. None if the model has no faster way than point by point, or is not linear in
        its tunable arrays.
        """
        return None

    @property
    def predicts_variance(self) -> bool:
        """Whether the model predicts a `log_variance`."""
        return False

    def log_variance(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The logarithm of the aleatoric variance at one point, in units of the fields' spread."""
        raise InputError(
            f"{type(self).__name__} predicts no variance; PGT(..., variance_head=True) does."
        )


# ------------------------------------------------------------------------------- network

# A network maps numbers of order one to numbers of order one; it knows no units and no physics.


class UnitReadings(eqx.Module):
    """The readings that a network receives: unit coordinates in [-1, 1] and standardised values.

    `gamma(receivers, sources)` is Γ between two sets of points in unit coordinates, with one matrix per
    attention head or one for all. Γ is all that the network knows of the physics, except for `numbers`:
    the dimensionless coefficients of the system, for networks that serve many systems (families/).

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
        """Whether a reading has any value; a reading without values is padding."""
        return jnp.any(self.mask, axis=-1)

    def guided(
        self,
        receivers: Float[Array, "receivers d"],
        sources: Float[Array, "sources d"],
        visible: Bool[Array, " sources"],
        tokens: int = 1,
    ) -> Float[Array, "#h all_receivers all_sources"]:
        """Γ with additional rows and columns for global `tokens`.

        The tokens have no bias and are always visible, so that no row is empty. Padding is never visible.
        """
        bias = jnp.pad(self.gamma(receivers, sources), ((0, 0), (tokens, 0), (tokens, 0)))
        seen = jnp.concatenate([jnp.ones(tokens, bool), visible])
        return jnp.where(seen, bias, -jnp.inf)


class AbstractNetwork(eqx.Module):
    """A network: `encode` reads the readings once, `decode` evaluates the standardised field at a point.

    Both functions are pure, `decode` is smooth in `z`, the order of the readings does not matter, and
    `encode` works under `vmap`. A frame turns a network into a model of physical quantities; several
    frames may share one network.

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
        """The context: the readings in the form that `decode` needs."""

    @abc.abstractmethod
    def decode(self, context: PyTree[Array], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The standardised fields at one point in unit coordinates."""

    @abc.abstractmethod
    def tunable(self) -> PyTree[Array]:
        """The few thousand numbers that second-order steps may tune; `encode` must not use them."""

    @property
    def predicts_variance(self) -> bool:
        """Whether the model predicts a `log_variance`."""
        return False

    def log_variance(self, context: PyTree[Array], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The logarithm of the aleatoric variance of the standardised fields at one point."""
        raise InputError(
            f"{type(self).__name__} predicts no variance; PGT(..., variance_head=True) does."
        )


class AbstractTwoStageNetwork(AbstractNetwork):
    """A network whose `decode` consists of `look`, which uses the context, and `answer`.

    All tunable arrays are in the second stage, so that a second-order step calls `look` once per point
    and then only `answer`, which is faster.

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
        """What `answer` needs of the context at one point; it uses nothing tunable."""

    @abc.abstractmethod
    def answer(self, seen: Float[Array, "..."], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The standardised fields at one point, from the result of `look` there."""

    def decode(self, context: PyTree[Array], z: Float[Array, " d"]) -> Float[Array, " c"]:
        """The standardised fields at one point: `answer` of `look`."""
        return self.answer(self.look(context, z), z)


# ------------------------------------------------------------------------------- frame

#     readings, points ──► unit coordinates, standardised values, Γ ──► network ──► values ──► fields
#
# A frame makes a network a model of one system. It holds `scaling`, the extent of the domain and the size
# of the fields, and `kernel`, which says how influence spreads. All conversion of units happens here. The
# same weights serve in the frame of another system, in other units, and under `vmap` in many frames.
#
# Γ depends only on differences of points. It is computed from unit coordinates times half extents, which
# count from the middle of the domain, so that a large offset of the coordinates costs no digits.


class Gamma(eqx.Module):
    """Γ between points in unit coordinates: the log-influence of sources on receivers.

    A Green's function has units and an attention logit has none. Γ is therefore relative to the influence
    of a point on itself when nothing smaller than the domain is resolved.
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
        point = jnp.zeros_like(size)
        reference = self.kernel.log_influence(point, point, 2 * size)
        return bias - jnp.where(reference > -jnp.inf, reference, 0.0)[:, None, None]


class AbstractFrame(AbstractFieldModel):
    """A model in physical units that consists of a network, a scaling and a kernel."""

    kernel: eqx.AbstractVar[AbstractKernel]
    network: eqx.AbstractVar[AbstractNetwork]

    def unit_readings(self, observations: Observations) -> UnitReadings:
        """The readings in unit coordinates and standardised values."""
        scaling, mask = self.scaling, jnp.asarray(observations.mask)
        # Hidden values are selected away instead of multiplied by zero, because they may be NaN.
        values = jnp.where(mask, scaling.standardise(observations.values), 0.0)
        dtype = scaling.middle.dtype
        points = jnp.asarray(scaling.to_unit(observations.points), dtype)
        return UnitReadings(points, values.astype(dtype), mask, Gamma(self.kernel, scaling))

    def encode(self, observations: Observations) -> PyTree[Array]:
        """The context that the network encodes from the readings."""
        return self.network.encode(self.unit_readings(observations))

    def decode(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The fields at one point, in physical units."""
        return self._physical(self.network.decode(context, self._unit(z)))

    def tunable(self) -> PyTree:  # of arrays, or of what `eqx.tree_at` puts in their place
        """The tunable arrays of the network."""
        return self.network.tunable()

    def halves(self) -> Halves | None:
        """The two stages of the network, or None if it has only one."""
        network = self.network
        if not isinstance(network, AbstractTwoStageNetwork):
            return None
        return Halves(
            lambda context, z: network.look(context, self._unit(z)),
            lambda seen, z: self._physical(network.answer(seen, self._unit(z))),
        )

    @property
    def predicts_variance(self) -> bool:
        """Whether the network predicts a `log_variance`."""
        return self.network.predicts_variance

    def log_variance(self, context: PyTree[Array], z: Point) -> Float[Array, " c"]:
        """The logarithm of the variance; the network gives it in units of the fields' spread."""
        return self.network.log_variance(context, self._unit(z))

    def _unit(self, z: Point) -> Float[Array, " d"]:
        return jnp.asarray(self.scaling.to_unit(z))

    def _physical(self, values: Float[Array, " c"]) -> Float[Array, " c"]:
        return jnp.asarray(self.scaling.to_physical(values))


@checked
class Frame(AbstractFrame):
    """A model made of any network: one of your own, or one that was trained in another frame.

    Parameters
    ----------
    scaling
        Scales of the problem, `Scaling.fit(observations, domain)`.
    network
        An `AbstractNetwork` for as many coordinates and fields, and for the same periodic axes.
    kernel
        Γ, the physics in the attention of networks that use it.

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
