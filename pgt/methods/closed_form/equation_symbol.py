r"""The symbol P(κ) of a linear equation P(∂) u = 0, which gives the waves that satisfy it.

The coefficients of an equation that is linear in its fields follow from its residuals: those of one unit
of each derivative, one at a time, minus those of the zero field. Where the coefficients are the same at
several random places and there is no source, a wave v exp(κ·z) is a solution if and only if P(κ) v = 0
(models/exact_waves.py).
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.core.unknown import named_unknowns, resolve
from pgt.models.exact_waves import Symbol
from pgt.nn.scaling import Scaling
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import Bordered, functions_of

# The number of random places at which coefficients are compared.
PLACES = 5
# A coefficient is constant, or zero, if it varies by less than this share of the largest one.
ROUNDING_SHARE = 1e-12


def symbol_of(pde: AbstractPDE, scaling: Scaling) -> Symbol | None:
    """The symbol P(κ) of a linear equation P(∂) u = 0 in unit coordinates. None where coefficients are
    unknown or vary, where there is a source, or where there are not as many equations as fields.

    >>> import pgt
    >>> readings = pgt.sample(pgt.datasets.heat(), n=20)
    >>> scaling = Scaling.fit(readings, pgt.Domain(x=(0, 1), t=(0, 1)))
    >>> [symbol_of(pde, scaling) is None for pde in (pgt.Heat(0.1), pgt.Equation("u_t = x*u_xx"))]
    [False, True]
    """
    if isinstance(pde, Bordered) or functions_of(pde) or named_unknowns(pde):
        return None
    resolved, names = resolve(pde), [n for n in requested(pde) if n not in pde.coords]
    with jax.enable_x64(True):
        samples = [_coefficients(resolved, names, scaling, seed) for seed in range(PLACES)]
    slopes, sources = (np.stack(part) for part in zip(*samples, strict=True))
    if not np.isfinite(slopes).all() or slopes.shape[1] != len(pde.fields):
        return None
    scale = np.max(np.abs(slopes), axis=(0, 2))
    varies = np.ptp(slopes, axis=0).max(axis=1) > ROUNDING_SHARE * scale
    if not (scale > 0).all() or varies.any() or (np.abs(sources) > ROUNDING_SHARE * scale).any():
        return None
    symbol = _symbol(pde, names, slopes[0], scaling)
    origin = scaling.origin.along(pde.fields)
    return None if origin.any() and not symbol.holds_constants else symbol


def _coefficients(pde: AbstractPDE, names: list[str], scaling: Scaling, seed: int):
    """The coefficients of all derivatives in the residuals of a linear equation, and the residuals of the
    zero field, at a random place."""
    random = np.random.default_rng(seed)
    place = np.asarray(scaling.from_unit(random.uniform(-1, 1, len(pde.coords))), float)
    place = place + scaling.origin.along(pde.coords)
    coordinates = {axis: jnp.asarray(value) for axis, value in zip(pde.coords, place, strict=True)}

    def rows(values: Float[np.ndarray, " k"]) -> Float[np.ndarray, " e"]:
        table = DerivativeTable(dict(zip(names, jnp.asarray(values), strict=True)) | coordinates)
        return np.array([float(row) for row in pde.residual(table).values()])

    at_zero = rows(np.zeros(len(names)))
    drawn = random.uniform(1, 2, len(names))
    slopes = [(rows(column) - at_zero) / d for column, d in zip(np.diag(drawn), drawn, strict=True)]
    return np.stack(slopes, axis=-1), at_zero


def _symbol(
    pde: AbstractPDE, names: list[str], slopes: Float[np.ndarray, "c k"], scaling: Scaling
) -> Symbol:
    """The symbol in unit coordinates: coefficients by powers of κ, with every equation scaled to 1."""
    half, spread = np.asarray(scaling.half_extent, float), np.asarray(scaling.spread, float)
    terms: dict[tuple[int, ...], np.ndarray] = {}
    for name, column in zip(names, slopes.T, strict=True):
        for field, along in _derivatives(name, pde):
            powers = np.bincount(np.asarray(along, int), minlength=len(pde.coords))
            factors = terms.setdefault(tuple(powers.tolist()), np.zeros((len(slopes),) * 2))
            factors[:, field] += column * spread[field] / np.prod(half[list(along)])
    factors = np.stack(list(terms.values()))
    factors /= np.max(np.abs(factors), axis=(0, 2))[:, None]
    return Symbol(np.array(list(terms), int), factors)


def _derivatives(name: str, pde: AbstractPDE) -> list[tuple[int, tuple[int, ...]]]:
    """Pairs of a field and the axes along which it is differentiated; a Laplacian has one per term."""
    if not name.startswith(f"{LAPLACIAN}("):
        return [parse_name(name, pde.coords, pde.fields)]
    field = pde.fields.index(name[len(LAPLACIAN) + 1 : -1])
    return [(field, (a, a)) for a, axis in enumerate(pde.coords) if axis != "t"]
