"""Coefficients with units, such as "0.6 m^2/min", and their conversion to the units of a problem."""

from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import equinox as eqx
import jax

from pgt.core.arguments import InUnits, powers_of
from pgt.core.errors import InputError
from pgt.core.unknown import is_unknown
from pgt.data.units import amount, in_units

Tree = TypeVar("Tree")


class Amount(eqx.Module):
    """A number with a unit, which `in_problem_units` replaces by a plain number."""

    written_as: ClassVar[str] = InUnits.said
    text: str = eqx.field(static=True)

    @classmethod
    def read(cls, value: Any) -> Any:
        """An `Amount` for a text that is a number with a unit; other values unchanged."""
        return cls(value) if isinstance(value, str) and amount(value) is not None else value

    @property
    def number(self) -> float:
        """The number in the unit in which it was written."""
        parsed = amount(self.text)
        assert parsed is not None  # `read` accepts no other text
        return parsed[0]

    def _refuse_arithmetic(self, *_):
        raise InputError(
            f"{self.text!r} is a number only together with readings and a domain, whose units it is "
            "converted to; here write the number alone."
        )

    __float__ = __add__ = __radd__ = __sub__ = __rsub__ = _refuse_arithmetic
    __mul__ = __rmul__ = __truediv__ = __rtruediv__ = __pow__ = __neg__ = __abs__ = (
        _refuse_arithmetic
    )


def in_problem_units(pde: Tree, units: Mapping[str, str]) -> Tree:
    """The equation with its amounts converted to numbers; the equation itself if it has none.

    `units` are those of the coordinates and fields, by name.
    """
    if not any(map(_has_units, jax.tree.leaves(pde, is_leaf=_has_units))):
        return pde
    powers = powers_of(type(pde))

    def number(path, node):
        if not _has_units(node):
            return node
        name = str(getattr(path[0], "name", path[0]))
        try:
            if isinstance(node, Amount):
                return in_units(node.text, units, powers.get(name))
            return node.times(in_units(f"1 {node.units}", units, powers.get(name)))
        except InputError as error:
            last = getattr(path[-1], "key", name)
            where = last if isinstance(last, str) else name
            raise InputError(f"{type(pde).__name__}({where}): {error}") from None

    return jax.tree_util.tree_map_with_path(number, pde, is_leaf=_has_units)


def _has_units(node: Any) -> bool:
    return isinstance(node, Amount) or (is_unknown(node) and node.units is not None)
