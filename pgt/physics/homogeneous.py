"""Whether an equation given as text adds up what its fields are read in, beside converted coefficients.

A coefficient such as "1e-6 m^2/s" becomes a number in the units of the axes. With x in mm and t in s a
velocity is then to be in mm/s: in `u*u_x` one in m/s is wrong by a factor, in `u_t = nu*u_xx` it is not.
"""

from collections.abc import Mapping

import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.errors import InputError
from pgt.core.unknown import resolve
from pgt.data.unit_text import in_units
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.pde import AbstractPDE

DRAWS = 4
SAME = 1e-6  # of a ratio


def check_homogeneous(pde: AbstractPDE, units: Mapping[str, str]) -> None:
    """Raise where the equation does not stay the same when fields are read in the units of the axes."""
    factors = {name: _factor(units, name) for name in pde.fields if name in units}
    wrong = {name: factor for name, factor in factors.items() if abs(factor - 1) > SAME}
    if not wrong:
        return
    with jax.enable_x64(True):
        ratios = np.array([_ratios(pde, factors, wrong, seed) for seed in range(DRAWS)])
    told = ratios[:, np.isfinite(ratios).all(axis=0)]
    if np.any(np.ptp(told, axis=0) > SAME * np.abs(told).max(axis=0, initial=0.0)):
        name, factor = next(iter(wrong.items()))
        raise InputError(
            f"coefficients with units are converted to those of the axes, but {name!r} is in "
            f"{units[name]!r}, which is {factor:.6g} of what these make: the terms of the equation do "
            "not add up. Give it such a unit in `units`, or write the coefficients as numbers alone."
        )


def _factor(units: Mapping[str, str], name: str) -> float:
    """A field's unit as a number in the units of the axes; 1 where nobody can tell."""
    try:
        return in_units(f"1 {units[name]}", units)
    except InputError:
        return 1.0


def _ratios(
    pde: AbstractPDE, known: Mapping[str, float], wrong: Mapping[str, float], seed: int
) -> np.ndarray:
    """Of each residual for random fields as they are read, to that for fields in the other units; fields
    that nobody knows the unit of are left out."""
    random = np.random.default_rng(seed)
    first, second = {}, {}
    for name in requested(pde):
        field = "" if name in pde.coords else _field(name, pde)
        value = random.uniform(0.5, 2.0) if not field or field in known else 0.0
        first[name], second[name] = value, value * wrong.get(field, 1.0)
    one, other = (_residual(pde, table) for table in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        return one / other


def _field(name: str, pde: AbstractPDE) -> str:
    inside = name[len(LAPLACIAN) + 1 : -1] if name.startswith(f"{LAPLACIAN}(") else name
    return pde.fields[parse_name(inside, pde.coords, pde.fields)[0]]


def _residual(pde: AbstractPDE, table: Mapping[str, float]) -> np.ndarray:
    values = DerivativeTable({name: jnp.asarray(value) for name, value in table.items()})
    return np.asarray([float(r) for r in resolve(pde).residual(values).values()])
