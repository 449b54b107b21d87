"""Unknown functions of a result, each over the coordinates that it depends on."""

from collections.abc import Callable, Mapping, Sequence

import xarray as xr

from pgt.data.domain import Domain
from pgt.ground.errors import InputError
from pgt.physics.bordered import functions_of
from pgt.physics.pde import AbstractPDE


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
