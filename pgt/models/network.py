"""What a network is: numbers of order one in, numbers of order one out, no units and no physics."""

import abc
from collections.abc import Callable

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, PyTree

from pgt.core.errors import InputError


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
