"""Numbers of conditions that nobody knows, learnt with the field.

What is trained beside the model is the equation. So unknown numbers of conditions, such as how strongly
a wall is cooled, move into an equation around the one that was given, and leave their names behind.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
from jaxtyping import Array, Float

from pgt.ground.unknown import Unknown, is_unknown, named_unknowns, resolve
from pgt.kernels.base import AbstractKernel
from pgt.physics.conditions import AbstractCondition
from pgt.physics.equation import Equation
from pgt.physics.pde import AbstractPDE, Derivatives, Quantity
from pgt.physics.unknown_function import UnknownFunction
from pgt.physics.values import Learnt


class Bordered(AbstractPDE):
    """An equation, and by name the unknown numbers of the conditions beside it."""

    pde: AbstractPDE
    on_walls: dict[str, Any]  # Unknown, or its value

    def __init__(self, pde: AbstractPDE, on_walls: dict[str, Any]):
        self.pde, self.on_walls = pde, on_walls

    @property
    def coords(self) -> tuple[str, ...]:
        return self.pde.coords

    @property
    def fields(self) -> tuple[str, ...]:
        return self.pde.fields

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        return self.pde.residual(d)

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        return self.pde.quantities

    def kernel(self) -> AbstractKernel:
        return self.pde.kernel()


def bare(pde: AbstractPDE) -> AbstractPDE:
    """The equation as it was given."""
    return pde.pde if isinstance(pde, Bordered) else pde


def functions_of(pde: AbstractPDE) -> dict[str, UnknownFunction]:
    """The unknown functions of an equation, by name: its last fields."""
    given = bare(pde)
    return given.functions if isinstance(given, Equation) else {}


def bordered(
    pde: AbstractPDE, conditions: Sequence[AbstractCondition]
) -> tuple[AbstractPDE, tuple[AbstractCondition, ...]]:
    """The equation with the unknown numbers of the conditions, and conditions that know their names.

    >>> import pgt
    >>> cooled = pgt.Robin(wall="hole", coefficient=pgt.Unknown(5.0, positive=True), u=0.0)
    >>> pde, _ = bordered(pgt.Laplace(), [cooled])
    >>> [name for name, _ in named_unknowns(pde)]
    ['hole_coefficient']
    """
    taken = {name for name, _ in named_unknowns(pde)}
    found: dict[str, Unknown] = {}

    def without(condition: AbstractCondition) -> AbstractCondition:
        def named(path, node):
            if not is_unknown(node):
                return node
            name = _free(f"{_place(condition)}_{_last(path)}", taken | set(found))
            found[name] = node
            return Learnt(name)

        return jax.tree_util.tree_map_with_path(named, condition, is_leaf=is_unknown)

    known = tuple(without(condition) for condition in conditions)
    return (Bordered(pde, found) if found else pde), known


def filled(condition: AbstractCondition, pde: AbstractPDE) -> AbstractCondition:
    """The condition with all that the equation says of it, and the numbers that it holds for it."""
    condition = condition.beside(resolve(bare(pde)))
    if not isinstance(pde, Bordered):
        return condition
    numbers = resolve(pde.on_walls)

    def known(node):
        return numbers[node.name] if isinstance(node, Learnt) else node

    return jax.tree.map(known, condition, is_leaf=lambda node: isinstance(node, Learnt))


def _place(condition: AbstractCondition) -> str:
    """Where it holds, as a part of a name: hole, x_lower, initial."""
    if wall := getattr(condition, "wall", None):
        return str(wall)
    side = getattr(condition, "side", "both")
    axes = getattr(condition, "axis", None) or (type(condition).__name__.lower(),)
    return "_".join([*axes, *([] if side == "both" else [side])])


def _last(path) -> str:
    """The name of the number: an argument, or a field."""
    key = path[-1]
    return str(getattr(key, "name", getattr(key, "key", key)))


def _free(name: str, taken: set[str]) -> str:
    """The name, with a number where there is one of it already."""
    numbered = (name if k == 1 else f"{name}_{k}" for k in range(1, len(taken) + 2))
    return next(other for other in numbered if other not in taken)
