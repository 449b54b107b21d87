"""Unknown functions of a result, each over the coordinates that it depends on."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import xarray as xr
from jaxtyping import Bool

from pgt.data.domain import Domain
from pgt.ground.errors import InputError
from pgt.ground.numbers import listed, number
from pgt.physics.bordered import functions_of
from pgt.physics.pde import AbstractPDE

if TYPE_CHECKING:
    from pgt.reconstruction.result import Reconstruction

PLACES = 41  # at which a function of one coordinate is looked at
UNSURE = (
    0.2  # of the spread of a function: a standard deviation beyond which readings say little of it
)
FLAT = 0.1  # of its size: a function that varies by less is judged by that


def function_grids(
    pde: AbstractPDE,
    domain: Domain,
    grid: Callable[..., xr.Dataset],
    axes: Mapping,
    quantiles: float | Sequence[float] | None = None,
) -> xr.Dataset:
    """Every unknown function with its error bars: `grid` asks the field, `axes` say where.

    Along the other coordinates a function is constant, but for how well the fit knows that: it is taken
    in the middle of the domain.
    """
    functions = functions_of(pde)
    if not functions:
        raise InputError(
            "functions(): the problem has no unknown function; write one into the equation, as in "
            'pgt.Equation("u_t = D*u_xx + q", D=0.1, q=pgt.UnknownFunction("x")), or into a condition, '
            'as in pgt.Dirichlet("x", side="lower", u=pgt.UnknownFunction("t")).'
        )
    found: dict[str, xr.DataArray] = {}
    for name, function in functions.items():
        others = [axis for axis in domain.axes if axis not in function.axes]
        middle = {axis: [sum(domain.bounds(axis)) / 2] for axis in others}
        asked = {axis: size for axis, size in axes.items() if axis in function.axes}
        table = grid([name], quantiles, **middle, **asked).isel(dict.fromkeys(others, 0), drop=True)
        found |= {str(column): table[column] for column in table.data_vars}
    return xr.Dataset(found)


def untold_places(result: "Reconstruction") -> dict[str, str]:
    """By unknown function of one coordinate, where its error bars are wide beside what it does elsewhere;
    without error bars nobody knows."""
    functions = functions_of(result.pde)
    if not functions or result.members is None:
        return {}
    axes = {axis: PLACES for function in functions.values() for axis in function.axes}
    table, found = result.functions(**axes), {}
    for name in (name for name, function in functions.items() if len(function.axes) == 1):
        values, bars = (table[column].to_numpy() for column in (name, f"{name}_std"))
        size = max(float(values.std()), FLAT * float(np.abs(values).max()))
        if said := _stretches(table[functions[name].axes[0]], bars > UNSURE * size):
            found[name] = said
    return found


def _stretches(along: xr.DataArray, vague: Bool[np.ndarray, " n"]) -> str:
    """Where it is vague, in words; nothing where that is nowhere, or everywhere."""
    if not vague.any() or vague.all():
        return ""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], vague, [False]]).astype(int)))
    at = along.to_numpy()
    ends = [(float(at[a]), float(at[b - 1])) for a, b in edges.reshape(-1, 2)]
    said = [
        f"from {number(a, 3)} to {number(b, 3)}" if a < b else f"at {number(a, 3)}" for a, b in ends
    ]
    return f"{along.name} {listed(said)}"
