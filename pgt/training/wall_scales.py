"""The size of unknown functions that stand in conditions.

As for fields without a reading (scales.py), but what tells is the condition: a function on a wall is as
large as makes its term there as large as the others, and its mean is that at which the condition holds
for fields that are their means.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pgt.data.domain import Domain
from pgt.models.base import AbstractFieldModel
from pgt.nn.scaling import Scaling
from pgt.physics.bordered import filled, wall_fields
from pgt.physics.conditions import AbstractCondition
from pgt.physics.derivatives import parse_name
from pgt.physics.pde import AbstractPDE
from pgt.physics.values import Varying
from pgt.training.scales import DRAWS, LOG_SPREAD, Typical, balance, logarithms

Model = TypeVar("Model", bound=AbstractFieldModel)


def with_wall_scales(
    model: Model, pde: AbstractPDE, conditions: Sequence[AbstractCondition], domain: Domain
) -> Model:
    """The model with scales for the unknown functions of the conditions, where they have none yet."""
    if not wall_fields(pde):
        return model
    scaling, local = model.scaling, model.scaling.origin.domain(domain)
    for condition in conditions:
        for name in _functions_in(condition):
            field = pde.fields.index(name)
            if scaling.mean[field] == 0 and scaling.spread[field] == 1:
                at = _Wall(condition.bind(local, pde.fields), pde, field)
                scaling = at.scaled(scaling)
    return eqx.tree_at(lambda m: m.scaling, model, scaling)


def _functions_in(condition: AbstractCondition) -> list[str]:
    nodes = jax.tree.leaves(condition, is_leaf=lambda node: isinstance(node, Varying))
    return [node.field for node in nodes if isinstance(node, Varying)]


class _Wall:
    """A condition with one of the functions in it, which `field` stands for."""

    def __init__(self, condition: AbstractCondition, pde: AbstractPDE, field: int):
        self.condition, self.pde, self.field = filled(condition, pde), pde, field
        self.point = condition.nodes(1)[0]

    def scaled(self, scaling: Scaling) -> Scaling:
        """The scales with those of the function."""
        mean, spread = np.array(scaling.mean), np.array(scaling.spread)
        spread[self.field] = 0.0
        scaling = replace(scaling, mean=mean, spread=spread)
        is_log = self.pde.fields[self.field] in logarithms(self.pde)
        mean[self.field] = self._level(scaling) if is_log else self._mean(scaling)
        spread[self.field] = self._spread(scaling)
        return replace(scaling, mean=mean, spread=spread)

    def _mean(self, scaling: Scaling) -> float:
        """At which the condition holds where all fields are their means."""

        def rows(value: float):
            def evaluate(z, name: str):
                field, along = parse_name(name, self.pde.coords, self.pde.fields)
                zero = scaling.origin.along(self.pde.fields)[field] + float(scaling.mean[field])
                return jnp.asarray(0.0 if along else value if field == self.field else zero)

            return np.asarray(self.condition.rows(evaluate, self.point), float)

        without, slope = rows(0.0), rows(1.0) - rows(0.0)
        told = slope != 0
        return float(np.mean(-without[told] / slope[told])) if told.any() else 0.0

    def _spread(self, scaling: Scaling) -> float:
        """At which its terms vary as much as the others."""

        def gaps(size: float):
            spread = np.array(scaling.spread)
            spread[self.field] = size
            typical = Typical(self.pde, replace(scaling, spread=spread), DRAWS)
            return _by_row(typical.differences(lambda: self._rows(typical)))

        found = list(balance(gaps, float(np.max(scaling.spread))).values())
        return float(np.median(found)) if found else 1.0

    def _level(self, scaling: Scaling) -> float:
        """The logarithm at which its terms are as large as the others."""
        spread = np.array(scaling.spread)
        spread[self.field] = LOG_SPREAD

        def values(size: float):
            mean = np.array(scaling.mean)
            with np.errstate(divide="ignore"):
                mean[self.field] = np.log(size)
            typical = Typical(self.pde, replace(scaling, mean=mean, spread=spread), DRAWS)
            return _by_row(np.asarray(typical.values(lambda: self._rows(typical)), float))

        found = list(balance(values, 1.0).values())
        return float(np.log(np.median(found))) if found else 0.0

    def _rows(self, typical: Typical):
        return self.condition.rows(lambda z, name: typical(name), self.point)


def _by_row(table: np.ndarray) -> dict[str, np.ndarray]:
    """Every row of a condition by its number."""
    return {str(row): column for row, column in enumerate(table.T)}
