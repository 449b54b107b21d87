"""What is said of a field at points or on a grid: values, with bands of 90 %."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Float

from pgt.data._numbers import as_numbers
from pgt.data.asked import require_grid
from pgt.data.domain import Domain
from pgt.ground.errors import InputError

Asked = int | Sequence[float] | np.ndarray  # a number of nodes, or positions


class Said(NamedTuple):
    """Mean and a band of 90 % at points, (m, c), and what is wrong with the question."""

    mean: Float[np.ndarray, "m c"]
    low: Float[np.ndarray, "m c"]
    high: Float[np.ndarray, "m c"]
    outside: list[str]


class Answers(NamedTuple):
    """Of many systems: fields at the points asked, how far bands of 90 % reach from them, and for each
    system what about it lies outside what the network was trained on."""

    mean: Float[np.ndarray, "k m c"]
    reach: Float[np.ndarray, "k m c"]
    outside: list[list[str]]


def answered_where(lawful: np.ndarray, found: Answers, other: Answers) -> Answers:
    """The former where it may be believed, else the latter."""
    believed = lawful[:, None, None]
    outside = [
        one if fine else one + two
        for fine, one, two in zip(lawful, found.outside, other.outside, strict=True)
    ]
    mean = np.where(believed, found.mean, other.mean)
    return Answers(mean, np.where(believed, found.reach, other.reach), outside)


def on_grid(
    at: Callable[[np.ndarray], Said],
    domain: Domain,
    fields: Sequence[str],
    axes: Mapping[str, Asked],
    about: dict,
) -> xr.Dataset:
    """Fields and bands (`u`, `u_low`, `u_high`) on a grid, with 64 nodes along axes not named."""
    unknown = sorted(set(axes) - set(domain.axes))
    if unknown:
        raise InputError(f"grid({unknown[0]}=...): the axes are {', '.join(domain.axes)}.")
    wanted = {name: axes.get(name, 64) for name in domain.axes}
    require_grid(wanted, domain, 3 * len(fields))
    positions = {name: _positions(domain, name, asked) for name, asked in wanted.items()}
    mesh = np.meshgrid(*positions.values(), indexing="ij")
    said = at(np.stack([m.ravel() for m in mesh], axis=-1))
    shape, dims = mesh[0].shape, tuple(positions)
    found = {}
    for k, name in enumerate(fields):
        for suffix, table in (("", said.mean), ("_low", said.low), ("_high", said.high)):
            found[name + suffix] = (dims, table[:, k].reshape(shape))
    return xr.Dataset(found, positions, about)


def _positions(domain: Domain, name: str, asked: Asked) -> np.ndarray:
    if isinstance(asked, bool) or not isinstance(asked, int | np.integer):
        positions = np.atleast_1d(as_numbers(f"grid({name})", asked))
        if positions.ndim != 1 or not positions.size or not np.isfinite(positions).all():
            raise InputError(f"grid({name}=...): give a number of positions or a list of numbers.")
        return positions
    if asked < 1:
        raise InputError(f"grid({name}={asked}): ask for at least one position.")
    k = domain.axes.index(name)
    ends = domain.lower[k], domain.upper[k]
    return np.linspace(*ends, asked, endpoint=name not in domain.periodic)
