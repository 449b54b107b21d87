"""Fields with bands of 90 %, at points and on grids, for one system or for many."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from pgt.core.errors import InputError
from pgt.core.number_arrays import as_numbers
from pgt.data.domain import Domain
from pgt.data.query_points import require_grid

AxisRequest = int | Sequence[float] | np.ndarray  # A number of nodes, or positions.


class FieldBand(NamedTuple):
    """Mean and ends of the band at points, (m, c), and sentences on what is wrong with the question."""

    mean: Float[np.ndarray, "m c"]
    low: Float[np.ndarray, "m c"]
    high: Float[np.ndarray, "m c"]
    outside: list[str]


class BatchAnswers(NamedTuple):
    """Fields of k systems at m points, the half-widths of their bands, and for each system sentences on
    what lies outside the range of training."""

    mean: Float[np.ndarray, "k m c"]
    reach: Float[np.ndarray, "k m c"]
    outside: list[list[str]]

    def or_else(self, is_valid: Bool[np.ndarray, " k"], other: "BatchAnswers") -> "BatchAnswers":
        """These answers where they are valid, others elsewhere."""
        outside = [
            one if valid else one + two
            for valid, one, two in zip(is_valid, self.outside, other.outside, strict=True)
        ]
        valid = is_valid[:, None, None]
        mean = np.where(valid, self.mean, other.mean)
        return BatchAnswers(mean, np.where(valid, self.reach, other.reach), outside)


def on_grid(
    at: Callable[[np.ndarray], FieldBand],
    domain: Domain,
    fields: Sequence[str],
    axes: Mapping[str, AxisRequest],
    attributes: dict,
) -> xr.Dataset:
    """Fields and bands (`u`, `u_low`, `u_high`) on a grid, with 64 nodes along axes without a request."""
    unknown = sorted(set(axes) - set(domain.axes))
    if unknown:
        raise InputError(f"grid({unknown[0]}=...): the axes are {', '.join(domain.axes)}.")
    wanted = {name: axes.get(name, 64) for name in domain.axes}
    require_grid(wanted, domain, 3 * len(fields))
    positions = {name: _positions(domain, name, asked) for name, asked in wanted.items()}
    mesh = np.meshgrid(*positions.values(), indexing="ij")
    band = at(np.stack([m.ravel() for m in mesh], axis=-1))
    shape, dims = mesh[0].shape, tuple(positions)
    tables = ("", band.mean), ("_low", band.low), ("_high", band.high)
    found = {
        name + suffix: (dims, table[:, k].reshape(shape))
        for k, name in enumerate(fields)
        for suffix, table in tables
    }
    return xr.Dataset(found, positions, attributes)


def _positions(domain: Domain, name: str, asked: AxisRequest) -> np.ndarray:
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
