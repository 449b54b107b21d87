"""`Scaling`: the map between physical units and numbers of order one.

Coordinates are mapped to [-1, 1] and values to zero mean and unit spread. No other module rescales.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.checked import checked
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.origin import HERE, Origin
from pgt.nn.trees import Frozen

# A spread below this share of the largest value counts as rounding error.
ROUNDING = 1e-13


class Scaling(Frozen):
    """The scales of a domain and of the fields in it.

    `resolution` is the smallest separation along each axis that the readings can resolve; kernels do not
    use smaller lags and distances. Coordinates and values count from `origin`, which is nonzero for
    quantities far from zero (data/origin.py).

    >>> readings = Observations.from_arrays({"x": [0.0, 10.0]}, {"u": [30.0, 40.0]})
    >>> scaling = Scaling.fit(readings, Domain(x=(0, 10)))
    >>> scaling.to_unit(np.array([10.0])).tolist(), scaling.to_physical(np.array([0.0])).tolist()
    ([1.0], [35.0])
    """

    middle: Float[Array | np.ndarray, " d"]
    half_extent: Float[Array | np.ndarray, " d"]
    mean: Float[Array | np.ndarray, " c"]
    spread: Float[Array | np.ndarray, " c"]
    resolution: Float[Array | np.ndarray, " d"]
    periodic: tuple[bool, ...] = eqx.field(static=True)
    origin: Origin = eqx.field(static=True, default=HERE)

    @staticmethod
    @checked
    def fit(observations: Observations, domain: Domain) -> "Scaling":
        """The scales of a domain and of the values measured in it.

        A hidden field keeps mean 0 and spread 1, until `reconstruct` finds its size by the equation.
        """
        origin = Origin.of(observations, domain)
        observations, domain = origin.readings(observations), origin.domain(domain)
        zeros = origin.along(observations.fields)
        moments = [
            _moments(observations.measured(name).values, float(zero))
            for name, zero in zip(observations.fields, zeros, strict=True)
        ]
        means, spreads = zip(*moments, strict=True)
        count = max(len(observations), 2)
        return Scaling(
            middle=((domain.lower + domain.upper) / 2).astype(np.float32),
            half_extent=(domain.extent / 2).astype(np.float32),
            mean=np.asarray(means, np.float32),
            spread=np.asarray(spreads, np.float32),
            resolution=(domain.extent / count ** (1 / domain.dimension)).astype(np.float32),
            periodic=tuple(axis in domain.periodic for axis in domain.axes),
            origin=origin,
        )

    def to_unit(self, z: Float[Array | np.ndarray, "*n d"]) -> Float[Array | np.ndarray, "*n d"]:
        """Unit coordinates in [-1, 1], from coordinates counted from the origin."""
        return (z - self.middle) / self.half_extent

    def from_unit(self, z: Float[Array | np.ndarray, "*n d"]) -> Float[Array | np.ndarray, "*n d"]:
        """Coordinates counted from the origin, from unit coordinates in [-1, 1]."""
        return z * self.half_extent + self.middle

    @property
    def period(self) -> Float[Array | np.ndarray, " d"]:
        """The period of each axis; infinite for an axis that is not periodic."""
        return jnp.where(jnp.asarray(self.periodic), 2 * self.half_extent, jnp.inf)

    def standardise(
        self, values: Float[Array | np.ndarray, "*n c"]
    ) -> Float[Array | np.ndarray, "*n c"]:
        """Standardised values, with zero mean and unit spread, from values counted from the origin."""
        return (values - self.mean) / self.spread

    def to_physical(
        self, values: Float[Array | np.ndarray, "*n c"]
    ) -> Float[Array | np.ndarray, "*n c"]:
        """Values in physical units, counted from the origin, from standardised values."""
        return values * self.spread + self.mean


def is_same(values: np.ndarray) -> bool:
    """Whether all readings of a field are equal up to rounding, so that there is no spread to divide by.

    >>> is_same(np.full(9, 300.1)), is_same(np.zeros(3)), is_same(np.array([300.1, 300.2]))
    (True, True, False)
    """
    return float(np.std(values)) <= ROUNDING * float(np.max(np.abs(values)))


def _moments(values: np.ndarray, zero: float) -> tuple[float, float]:
    """The mean and the spread of values that are counted from `zero`."""
    if values.size == 0:
        return 0.0, 1.0
    mean = float(values.mean())
    return mean, (abs(zero + mean) or 1.0) if is_same(zero + values) else float(values.std())
