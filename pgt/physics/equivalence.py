"""Whether two equations are one, however they are written."""

from collections.abc import Iterable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.core.unknown import resolve
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.pde import AbstractPDE

DRAWS = 4
ALIKE = 1e-4  # of a ratio: coefficients may have passed through single precision


def same_equation(one: AbstractPDE, other: AbstractPDE) -> bool:
    """Whether residuals of any field differ by a constant factor only; unknowns count as their guess.

    >>> import pgt
    >>> heat = pgt.Heat(0.02)
    >>> same_equation(heat, pgt.Equation("2*u_t - 0.04*u_xx = 0"))
    True
    >>> same_equation(heat, pgt.Heat(0.02, source=1.0)), same_equation(heat, pgt.AllenCahn(0.02, 1.0))
    (False, False)
    """
    if set(one.coords) != set(other.coords) or set(one.fields) != set(other.fields):
        return False
    with jax.enable_x64(True):
        rows = [_residuals((one, other), seed) for seed in range(DRAWS)]
    if any(len(first) != len(second) for first, second in rows):
        return False
    first, second = (np.array(each) for each in zip(*rows, strict=True))
    # Two rows are multiples of each other where their products across draws agree.
    left, right = first * second[0], second * first[0]
    size = np.abs(left).max(axis=0) + np.abs(right).max(axis=0)
    return bool(np.all(np.abs(left - right) <= ALIKE * size) and np.all(size > 0))


def _residuals(pdes: Iterable[AbstractPDE], seed: int) -> list[Float[np.ndarray, " k"]]:
    """Of each equation, for the same random field at one point."""
    random, drawn = np.random.default_rng(seed), {}

    def value(name: str) -> float:
        return drawn.setdefault(name, random.uniform(0.5, 2.0))

    def residual(pde: AbstractPDE) -> Float[np.ndarray, " k"]:
        table = {name: jnp.asarray(_named(name, pde, value)) for name in requested(pde)}
        return np.array([float(r) for r in resolve(pde).residual(DerivativeTable(table)).values()])

    return [residual(pde) for pde in pdes]


def _named(name: str, pde: AbstractPDE, value) -> float:
    """A random number for a coordinate, a derivative, or a Laplacian, which is a sum of these."""
    if name in pde.coords:
        return value(name)
    if not name.startswith(f"{LAPLACIAN}("):
        field, along = parse_name(name, pde.coords, pde.fields)
        return value(f"{pde.fields[field]}_{''.join(sorted(pde.coords[k] for k in along))}")
    field = name[len(LAPLACIAN) + 1 : -1]
    return sum(value(f"{field}_{axis}{axis}") for axis in pde.coords if axis != "t")
