"""Unknown numbers and functions of conditions, which are fitted together with the field.

A fit determines the model and the unknowns of the equation. Unknown numbers of conditions, such as the
cooling coefficient of a wall, therefore move into a `Bordered` equation around the given one, and the
conditions keep only their names (`Learnt`).

An unknown function, such as an inflow c(t), becomes an additional field of the bordered equation, as in
any equation (unknown_function.py). It is constant along the other coordinates, and the condition equates
the field, or its slope, with it on the wall. It has a smoothness of its own.
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
from pgt.physics.pde import AbstractPDE, Derivatives, Quantity
from pgt.physics.unknown_function import UnknownFunction, constancy, positive_ones


class Bordered(AbstractPDE):
    """An equation together with the unknown numbers and functions of its conditions, by name.

    `multiply` names the functions that multiply a field.
    """

    pde: AbstractPDE
    on_walls: dict[str, Any]  # the unknown numbers, or their values
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
        """Whether the conditions are affine in the fields and the unknown functions."""
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
    """The equation that the user gave."""
    return pde.pde if isinstance(pde, Bordered) else pde


def functions_of(pde: AbstractPDE) -> dict[str, UnknownFunction]:
    """The unknown functions by name, first those of the equation, then those on walls."""
    user_pde = bare(pde)
    inside = getattr(user_pde, "functions", {})
    return {**inside, **(dict(pde.functions) if isinstance(pde, Bordered) else {})}


def wall_fields(pde: AbstractPDE) -> tuple[str, ...]:
    """The fields that represent unknown functions of conditions."""
    return pde.fields[len(pde.pde.fields) :] if isinstance(pde, Bordered) else ()


def bordered(
    pde: AbstractPDE, conditions: Sequence[AbstractCondition]
) -> tuple[AbstractPDE, tuple[AbstractCondition, ...]]:
    """The equation with the unknown numbers and functions of the conditions, and the conditions with
    names in their place.

    >>> import pgt
    >>> cooled = pgt.Robin(wall="hole", coefficient=pgt.Unknown(5.0, positive=True), u=0.0)
    >>> pde, _ = bordered(pgt.Laplace(), [cooled])
    >>> [name for name, _ in named_unknowns(pde)]
    ['hole_coefficient']
    """
    taken = {name for name, _ in named_unknowns(pde)} | set(pde.fields)
    unknowns: dict[str, Any] = {}
    multiply = []

    def with_names(condition: AbstractCondition) -> AbstractCondition:
        def replace(path, node):
            if not _is_unknown_value(node):
                return node
            name = _unused_name(
                f"{_place_name(condition)}_{_argument_name(path)}", taken | set(unknowns)
            )
            unknowns[name] = node
            if not isinstance(node, UnknownFunction):
                return Learnt(name)
            if len(path) == 1:  # an argument such as a coefficient, not one of the values
                multiply.append(name)
            return Varying(node.field(name), node)

        return jax.tree_util.tree_map_with_path(replace, condition, is_leaf=_is_unknown_value)

    named = tuple(with_names(condition) for condition in conditions)
    functions = tuple(
        (name, node) for name, node in unknowns.items() if isinstance(node, UnknownFunction)
    )
    numbers = {name: node for name, node in unknowns.items() if is_unknown(node)}
    return (Bordered(pde, numbers, functions, tuple(multiply)) if unknowns else pde), named


def _is_unknown_value(node) -> bool:
    return is_unknown(node) or isinstance(node, UnknownFunction)


def filled(condition: AbstractCondition, pde: AbstractPDE) -> AbstractCondition:
    """The condition with the equation and with the current values of its unknown numbers."""
    condition = condition.beside(resolve(bare(pde)))
    if not isinstance(pde, Bordered):
        return condition
    numbers = resolve(pde.on_walls)

    def replace_name(node):
        return numbers[node.name] if isinstance(node, Learnt) else node

    return jax.tree.map(replace_name, condition, is_leaf=lambda node: isinstance(node, Learnt))


def _place_name(condition: AbstractCondition) -> str:
    """The place of a condition as a part of a name: hole, x_lower, initial."""
    if wall := getattr(condition, "wall", None):
        return str(wall)
    side = getattr(condition, "side", "both")
    axes = getattr(condition, "axis", None) or (type(condition).__name__.lower(),)
    return "_".join([*axes, *([] if side == "both" else [side])])


def _argument_name(path) -> str:
    """The last name in a path: an argument or a field."""
    key = path[-1]
    return str(getattr(key, "name", getattr(key, "key", key)))


def _unused_name(name: str, taken: set[str]) -> str:
    """The name, with a number appended if it is already taken."""
    numbered = (name if k == 1 else f"{name}_{k}" for k in range(1, len(taken) + 2))
    return next(other for other in numbered if other not in taken)
