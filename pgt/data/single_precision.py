"""Numbers that single precision cannot hold: refused before anything is computed from them."""

import numpy as np

from pgt.core.errors import InputError
from pgt.data.domain import Domain
from pgt.data.observations import Observations

LARGEST_NUMBER, SMALLEST_NUMBER = 1e30, 1e-30  # products of two such numbers still have digits
FARTHEST_ORIGIN = 1e11  # away, in extents: beyond, even in double precision few positions differ


def check_limits(observations: Observations, domain: Domain) -> None:
    """Raise where values, axes or noise would overflow, vanish or lose their digits."""
    for axis, extent in zip(domain.axes, domain.extent, strict=True):
        _check_size(f"axis {axis} has the length", extent)
    offset = np.maximum(np.abs(domain.lower), np.abs(domain.upper)) / domain.extent
    if offset.max() > FARTHEST_ORIGIN:
        axis = domain.axes[int(offset.argmax())]
        raise InputError(
            f"axis {axis} runs over {domain.bounds(axis)}: beside its offset even double "
            f"precision can hardly tell positions apart. Count {axis} from an origin nearer by, in "
            "the readings and the domain."
        )
    for name in observations.fields:
        rows, _, values, noise = observations.measured(name)
        for kind, numbers in (("value", values), ("noise", noise)):
            sizes = np.abs(numbers)
            if sizes.size and sizes.max() > 0:
                row = rows[sizes.argmax()]
                _check_size(f"field {name!r}, row {row}: the largest {kind} is", sizes.max())


def _check_size(what: str, size: float) -> None:
    if not SMALLEST_NUMBER <= size <= LARGEST_NUMBER:
        raise InputError(
            f"{what} {size:g}, which single precision cannot work with; choose a unit in which the "
            f"numbers lie between {SMALLEST_NUMBER:g} and {LARGEST_NUMBER:g}."
        )
