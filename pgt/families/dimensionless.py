"""Numbers without units that say which system of a family one has before one."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.nn.scaling import Scaling

Number = float | Float[Array | np.ndarray, "..."]


def centred(number: Number, low: float, high: float) -> Float[Array, "..."]:
    """The logarithm of a number, -1 at `low` and 1 at `high`; where these are one, 0 there.

    >>> centred(0.1, 0.01, 1.0).round(6).item(), centred(1.0, 1.0, 1.0).item()
    (0.0, 0.0)
    """
    middle, half = np.log(low * high) / 2, np.log(high / low) / 2
    return (jnp.log(number) - middle) / (half or 1.0)


def extents(scaling: Scaling) -> Float[Array, " d"]:
    """The lengths of the axes, the time last where there is one."""
    return 2 * jnp.asarray(scaling.half_extent)


def sizes(scaling: Scaling, usual: float, unit: Number = 1.0) -> list[Float[Array, ""]]:
    """How large the first field is and about which mean it varies, for an equation that is not linear.

    Both are counted in `unit`, such as L / T for a velocity; `usual` is the spread within the family.
    """
    spread, mean = jnp.asarray(scaling.spread)[0], jnp.asarray(scaling.mean)[0]
    return [jnp.log(spread / unit / usual), mean / unit / usual]
