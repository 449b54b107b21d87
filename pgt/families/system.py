"""One system that a family draws: its coefficients and its true field."""

import equinox as eqx
from jaxtyping import Array, Float


class System(eqx.Module):
    """Coefficients by the names that the equation gives them, and the fields at the nodes of the family.

    The last axis of `values` counts the fields, the others are those of the domain in its order. Drawn
    under `vmap`, every array has one more axis in front.

    >>> import jax
    >>> import pgt
    >>> system = pgt.families.get("heat").draw(jax.random.key(0))
    >>> system.values.shape, sorted(system.coefficients)
    ((64, 65, 1), ['diffusivity'])
    """

    coefficients: dict[str, Float[Array, "..."]]
    values: Float[Array, "*grid c"]
