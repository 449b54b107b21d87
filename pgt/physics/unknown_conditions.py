"""Numbers and functions of conditions that nobody knows, learnt with the field.

What is trained beside the model is the equation. So unknown numbers of conditions, such as how strongly
a wall is cooled, move into an equation around the one that was given, and leave their names behind.

An unknown function, such as an inflow c(t), is one more field there as in any equation
(unknown_function.py), that does not change along the other coordinates; the condition says that the field
is equal to it on the wall. So it is the trace of the field, or its slope, where the equation holds, and
has a smoothness of its own.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
from jaxtyping import Array, Float

from pgt.core.unknown import is_unknown, named_unknowns, resolve
from pgt.kernels.kernel import AbstractKernel
from pgt.physics.condition_values import Learnt, Varying
from pgt.physics.conditions import AbstractCondition
from pgt.physics.equation import Equation
from pgt.physics.pde import AbstractPDE, Derivatives, Quantity
from pgt.physics.unknown_function import UnknownFunction, constancy, positive_ones


class Bordered(AbstractPDE):
    """An equation, and by name the unknown numbers and functions of the conditions beside it. Of the
    functions, those that `multiply` a field are named."""

    pde: AbstractPDE
    on_walls: dict[str, Any]  # Unknown, or its value
    functions: tuple[tuple[str, UnknownFunction], ...] = eqx.field(static=True, default=())
    multiply: tuple[str, ...] = eqx.field(static=True, default=())

    def __init__(
        self,
        pde: AbstractPDE,
        on_walls: dict[str, Any],
        functions: tuple[tuple[str, UnknownFunction], ...] = (),
        multiply: tuple[str, ...] = (),
    ):
        self.pde, self.on_walls = pde, on_walls
        self.functions, self.multiply = functions, multiply

    @property
    def is_affine(self) -> bool:
        """Whether the conditions are affine in fields and functions."""
        return not self.multiply and not any(function.positive for _, function in self.functions)

    @property
    def coords(self) -> tuple[str, ...]:
        return self.pde.coords

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.pde.fields, *(function.field(name) for name, function in self.functions))

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        constant = constancy(dict(self.functions), self.coords)
        return self.pde.residual(d) | {name: d(name) for name in constant}

    @property
    def quantities(self) -> Mapping[str, Quantity]:
        return {**self.pde.quantities, **positive_ones(dict(self.functions))}

    def kernel(self) -> AbstractKernel:
        return self.pde.kernel()


def bare(pde: AbstractPDE) -> AbstractPDE:
    """The equation as it was given."""
    return pde.pde if isinstance(pde, Bordered) else pde


def functions_of(pde: AbstractPDE) -> dict[str, UnknownFunction]:
    """The unknown functions of an equation, by name: its last fields; then those on walls."""
    given = bare(pde)
    inside = given.functions if isinstance(given, Equation) else {}
    return {**inside, **(dict(pde.functions) if isinstance(pde, Bordered) else {})}


def wall_fields(pde: AbstractPDE) -> tuple[str, ...]:
    """The fields that stand for unknown functions of conditions."""
    return pde.fields[len(pde.pde.fields) :] if isinstance(pde, Bordered) else ()


def bordered(
    pde: AbstractPDE, conditions: Sequence[AbstractCondition]
) -> tuple[AbstractPDE, tuple[AbstractCondition, ...]]:
    """The equation with the unknown numbers and functions of the conditions, and conditions that know
    their names.

    >>> import pgt
    >>> cooled = pgt.Robin(wall="hole", coefficient=pgt.Unknown(5.0, positive=True), u=0.0)
    >>> pde, _ = bordered(pgt.Laplace(), [cooled])
    >>> [name for name, _ in named_unknowns(pde)]
    ['hole_coefficient']
    """
    taken = {name for name, _ in named_unknowns(pde)} | set(pde.fields)
    found: dict[str, Any] = {}
    multiply = []

    def without(condition: AbstractCondition) -> AbstractCondition:
        def named(path, node):
            if not _is_open(node):
                return node
            name = _free(f"{_place(condition)}_{_last(path)}", taken | set(found))
            found[name] = node
            if not isinstance(node, UnknownFunction):
                return Learnt(name)
            if len(path) == 1:  # an argument by itself, none of the values
                multiply.append(name)
            return Varying(node.field(name), node)

        return jax.tree_util.tree_map_with_path(named, condition, is_leaf=_is_open)

    known = tuple(without(condition) for condition in conditions)
    functions = tuple((n, node) for n, node in found.items() if isinstance(node, UnknownFunction))
    numbers = {name: node for name, node in found.items() if is_unknown(node)}
    return (Bordered(pde, numbers, functions, tuple(multiply)) if found else pde), known


def _is_open(node) -> bool:
    return is_unknown(node) or isinstance(node, UnknownFunction)


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
