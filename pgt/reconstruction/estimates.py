"""Estimates of the unknowns of a problem: coefficients with intervals, and functions with error bars."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Bool

from pgt.core.errors import InputError
from pgt.core.numbers import listed, number
from pgt.core.unknown import named_coefficients, resolve
from pgt.data.domain import Domain
from pgt.nn.trees import is_double, precision
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import bare, functions_of
from pgt.uncertainty.intervals import (
    DEFAULT_LEVEL,
    Estimate,
    interval_of_fit,
    intervals,
)
from pgt.uncertainty.members import Members

if TYPE_CHECKING:
    from pgt.reconstruction.result import Reconstruction


def known_intervals(result: "Reconstruction", level: float = DEFAULT_LEVEL) -> dict[str, Estimate]:
    """The intervals of the coefficients by name; empty if none are known.

    They come from the members, or else from the posterior of the fit, if one was computed for the stated
    error.
    """
    shifts = result.record.get("coefficient_shifts", {})
    if result.members is not None:
        remaining_step = result.record.get("members", {}).get("remaining_step", 0.0)
        return intervals(result.members, level, remaining_step, shifts)
    learned = result.record.get("learned_coefficients", {})
    with precision(is_double(result.pde)):
        return {
            name: interval_of_fit(
                node, learned[name]["deviation"], level, learned[name].get("remaining_step", 0.0),
                shifts.get(name, 0.0),
            )
            for name, node in named_coefficients(result.pde)
            if name in learned
        }  # fmt: skip


# The number of points at which error bars of a function of one coordinate are computed. More points cost
# time and show shorter stretches.
FUNCTION_POINTS = 41
# A function is undetermined where its standard deviation exceeds this share of its spread.
MAX_FUNCTION_DEVIATION = 0.2
# If a function varies by less than this share of its size, that share counts instead of its spread.
MIN_FUNCTION_VARIATION = 0.1


def function_grids(
    pde: AbstractPDE,
    domain: Domain,
    grid: Callable[..., xr.Dataset],
    axes: Mapping,
    quantiles: float | Sequence[float] | None = None,
) -> xr.Dataset:
    """Every unknown function of coordinates with its error bars.

    `grid` evaluates the field, and `axes` give the positions. A function does not depend on the other
    coordinates, but its error bars do. They are evaluated in the middle of the domain.
    """
    functions = functions_of(pde)
    if not functions:
        raise InputError(
            "functions(): the problem has no unknown function; write one into the equation, as in "
            'pgt.Equation("u_t = D*u_xx + q", D=0.1, q=pgt.UnknownFunction("x")), or into a condition, '
            'as in pgt.Dirichlet("x", side="lower", u=pgt.UnknownFunction("t")).'
        )
    columns: dict[str, xr.DataArray] = {}
    for name, function in functions.items():
        others = [axis for axis in domain.axes if axis not in function.axes]
        middle = {axis: [sum(domain.bounds(axis)) / 2] for axis in others}
        positions = {axis: size for axis, size in axes.items() if axis in function.axes}
        table = grid([name], quantiles, **middle, **positions).isel(
            dict.fromkeys(others, 0), drop=True
        )
        columns |= {str(column): table[column] for column in table.data_vars}
    return xr.Dataset(columns)


def state_functions(
    pde: AbstractPDE, members: Members | None, axes: Mapping, quantiles: Sequence[float] | None
) -> xr.Dataset:
    """Every unknown function of the state over its range, with error bars if there are members."""
    equation, columns = bare(pde), {}
    for name, state in getattr(equation, "states", {}).items():
        size = axes.get(state.field, FUNCTION_POINTS)
        low, high = state.between or (0.0, 1.0)
        positions = np.linspace(low, high, size) if np.ndim(size) == 0 else np.asarray(size, float)

        def values(pde, name=name, positions=positions):
            return jax.vmap(resolve(bare(pde)).states[name])(jnp.asarray(positions))

        with precision(is_double(pde)):
            fitted = np.asarray(values(pde), float)
            table = {name: (state.field, fitted)}
            if members is not None and quantiles is not None:
                of_members = np.asarray(jax.vmap(values)(members.pdes), float)
                table[name] = (state.field, np.median(of_members, axis=0))
                table[f"{name}_std"] = (state.field, of_members.std(axis=0))
                rows = np.quantile(of_members, quantiles, axis=0)
                table[f"{name}_quantile"] = (("quantile", state.field), rows)
        coords = {state.field: positions} | ({"quantile": list(quantiles)} if quantiles else {})
        columns |= dict(xr.Dataset(table, coords).data_vars)
    return xr.Dataset(columns)


def undetermined_stretches(result: "Reconstruction") -> dict[str, str]:
    """The stretches on which unknown functions of one coordinate have wide error bars, in words, by name.

    The result is empty without error bars.
    """
    functions = functions_of(result.pde)
    if not functions or result.members is None:
        return {}
    axes = {axis: FUNCTION_POINTS for function in functions.values() for axis in function.axes}
    table, stretches = result.functions(**axes), {}
    for name in (name for name, function in functions.items() if len(function.axes) == 1):
        values, bars = (table[column].to_numpy() for column in (name, f"{name}_std"))
        size = max(float(values.std()), MIN_FUNCTION_VARIATION * float(np.abs(values).max()))
        if text := _stretches_text(
            table[functions[name].axes[0]], bars > MAX_FUNCTION_DEVIATION * size
        ):
            stretches[name] = text
    return stretches


def _stretches_text(along: xr.DataArray, mask: Bool[np.ndarray, " n"]) -> str:
    """The stretches where the mask is true, in words; empty if it is true nowhere or everywhere."""
    if not mask.any() or mask.all():
        return ""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(int)))
    positions = along.to_numpy()
    ends = [(float(positions[a]), float(positions[b - 1])) for a, b in edges.reshape(-1, 2)]
    parts = [
        f"from {number(a, 3)} to {number(b, 3)}" if a < b else f"at {number(a, 3)}" for a, b in ends
    ]
    return f"{along.name} {listed(parts)}"
