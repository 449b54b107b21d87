"""Whether an equation says something everywhere in a domain.

A table that ends before the domain does would go on as its last number, and a root of a negative
coordinate is no number at all: both are refused before anything is fitted.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool, Float

from pgt.core.errors import InputError
from pgt.core.unknown import resolve
from pgt.data.bounds import shown
from pgt.data.domain import Domain
from pgt.physics.binding import check_reach
from pgt.physics.derivatives import DerivativeTable, requested
from pgt.physics.interpolation_table import Table
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import bare

PLACES, DRAWS = 256, 8


def check_defined(pde: AbstractPDE, domain: Domain) -> None:
    """Raise where what the equation knows of the coordinates does not reach over the domain."""
    name = type(bare(pde)).__name__
    for table in jax.tree.leaves(pde, is_leaf=_is_table):
        if _is_table(table):
            check_reach(name, table, domain.box, domain.axes)
    if not set(requested(pde)) & set(pde.coords):
        return
    places = domain.even(PLACES)
    bad = np.flatnonzero(undefined(pde, places))
    if bad.size:
        pairs = zip(domain.axes, places[bad[0]], strict=True)
        where = ", ".join(f"{axis} = {shown(axis, at, domain.units)}" for axis, at in pairs)
        raise InputError(
            f"{name}: at {where} the equation gives no finite number, whatever the field is there: a "
            "root or logarithm of a negative number, or a division by zero. Write what holds there, or "
            "leave that part out of the domain."
        )


def undefined(pde: AbstractPDE, places: Float[np.ndarray, "n d"]) -> Bool[np.ndarray, " n"]:
    """The places at which no field fulfils an equation, of several that are fine elsewhere.

    >>> import pgt
    >>> undefined(pgt.Poisson("sqrt(x)", 1), np.array([[-1.0], [1.0]])).tolist()
    [True, False]
    """
    known = resolve(pde)
    names = [name for name in requested(pde) if name not in pde.coords]

    def is_finite(values, place):
        here = dict(zip(pde.coords, place, strict=True))
        rows = known.residual(DerivativeTable(dict(zip(names, values, strict=True)) | here))
        return jnp.all(jnp.isfinite(jnp.stack(list(rows.values()))))

    draws = jnp.asarray(np.random.default_rng(0).normal(size=(DRAWS, len(names))))
    each_place = jax.vmap(is_finite, (None, 0))
    finite = np.asarray(jax.vmap(each_place, (0, None))(draws, jnp.asarray(places)))
    telling = finite[finite.any(axis=1)]  # a field of which it is infinite everywhere tells nothing
    return ~np.asarray(telling.any(axis=0)) if len(telling) else np.zeros(len(places), bool)


def _is_table(node) -> bool:
    return isinstance(node, Table)
