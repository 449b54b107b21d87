"""Boundary and initial values as readings, so that methods without an equation get the same
information.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from pgt.core.errors import InputError
from pgt.core.unknown import is_unknown
from pgt.data import Domain, Observations
from pgt.data.condition_regions import Spread
from pgt.data.moving_boundary import Swept
from pgt.physics.conditions import AbstractCondition, Dirichlet, Initial
from pgt.uncertainty.references.interpolation import (
    first_at_each_place,
    masked_values,
    unit_coordinates,
)


def with_conditions(
    observations: Observations,
    conditions: Sequence[AbstractCondition],
    domain: Domain,
    count: int = 51,
) -> Observations:
    """The readings, and about `count` evenly spread readings of each face where a value is given.

    The given values come first. Where a condition and a reading meet, the condition counts; where
    two conditions meet, the first of them.

    >>> sensor = Observations.from_arrays({"x": [0.5], "t": [0.5]}, {"u": [1.0]})
    >>> box = Domain(x=(0, 1), t=(0, 1))
    >>> len(with_conditions(sensor, [Initial(u=0.0), Dirichlet("x", u=0.0)], box, count=5))
    14
    """
    observations.check_inside(domain)
    if count < 2:
        raise InputError(f"with_conditions(count={count}): write a number of points of 2 or more.")
    parts = [_condition_values(c, domain, observations.fields, count) for c in conditions]
    points = np.concatenate([*(part[0] for part in parts), np.asarray(observations.points)])
    values = np.concatenate([*(part[1] for part in parts), masked_values(observations)])
    known = len(points) - len(observations)

    def padded(leaf):
        return np.concatenate([np.zeros((known, leaf.shape[1])), leaf])

    mask = first_at_each_place(unit_coordinates(points, domain), ~np.isnan(values))
    half = observations.half_width
    return Observations(
        points=points,
        values=np.where(mask, values, 0.0),
        mask=mask,
        noise=np.where(mask, padded(observations.noise), 0.0),
        half_width=None if half is None else padded(half),
        coords=observations.coords,
        fields=observations.fields,
        units=observations.units,
    ).take(mask.any(axis=1))


def _condition_values(
    condition: AbstractCondition, domain: Domain, fields: tuple[str, ...], count: int
):
    """Points (m, d) on the faces of a condition, and the values (m, c) it gives; NaN for others."""
    name = type(condition).__name__
    if not isinstance(condition, Dirichlet | Initial):
        raise InputError(
            f"with_conditions: {name} gives no values to read; only Dirichlet and Initial do."
        )
    for field, value in condition.values.items():
        if field not in fields or is_unknown(value):
            raise InputError(
                f"with_conditions: {name}({field}=...) is no known value of one of the fields "
                f"{', '.join(fields)}; leave it out, or call .aligned(pde.fields) on the readings."
            )
    bound = condition.bind(domain, fields)
    assert bound.region is not None
    if isinstance(bound.region, Spread | Swept):
        points = bound.region.nodes(count)
    else:
        grids = [_even_points(domain, axis, side, count) for axis, side in bound.region.pairs]
        points = np.concatenate(grids)
    with jax.enable_x64(True):
        # A row is value − given; with a value of 0 it is the given one.
        rows = jax.vmap(lambda z: bound.rows(lambda *_: jnp.zeros(()), z))(jnp.asarray(points))
    values = np.full((len(points), len(fields)), np.nan)
    values[:, [fields.index(field) for field in bound.values]] = -np.asarray(rows)
    return points, values


def _even_points(domain: Domain, held: str, side: int, count: int) -> np.ndarray:
    """About `count` points of one face, evenly spread along its axes, edges included."""
    per_axis = max(2, round(count ** (1 / max(domain.dimension - 1, 1))))
    columns = [
        np.array([domain.bounds(axis)[side]])
        if axis == held
        else np.linspace(*domain.bounds(axis), per_axis, endpoint=axis not in domain.periodic)
        for axis in domain.axes
    ]
    return np.stack(np.meshgrid(*columns, indexing="ij"), axis=-1).reshape(-1, len(columns))
