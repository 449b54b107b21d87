"""Equation and conditions as numbers at points, with their slopes in all that they ask for.

The residual of an equation is a function of coordinates, coefficients and the derivatives it asks for.
At a point it is differentiated in the derivatives and in the coefficients; where a field is linear in its
numbers, that is all that Newton's method needs. The same functions serve every other method.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.core.unknown import is_unknown, named_unknowns, resolve
from pgt.data.origin import Origin
from pgt.physics.conditions import AbstractCondition
from pgt.physics.derivatives import LAPLACIAN, DerivativeTable, parse_name, requested
from pgt.physics.pde import AbstractPDE
from pgt.physics.unknown_conditions import filled

SMALLEST_BATCH = 64  # points are filled up to powers of two, so that few programs are compiled


def with_raws(pde: AbstractPDE, raws: Float[Array | np.ndarray, " p"]) -> AbstractPDE:
    """The equation with its unknowns at other values, in the order of `named_unknowns`."""
    left = list(raws)

    def moved(node):
        return eqx.tree_at(lambda n: n.raw, node, left.pop(0)) if is_unknown(node) else node

    return jax.tree.map(moved, pde, is_leaf=is_unknown) if left else pde


def raws_of(pde: AbstractPDE) -> Float[np.ndarray, " p"]:
    """The numbers that are learnt for its unknowns."""
    return np.array([float(node.raw) for _, node in named_unknowns(pde)])


@dataclass(frozen=True)
class Slopes:
    """Rows at points, and their derivatives in what they ask for and in the coefficients."""

    values: Float[np.ndarray, "n k"]
    by_name: Float[np.ndarray, "n k names"]
    by_raw: Float[np.ndarray, "n k p"]


@dataclass(frozen=True)
class ResidualRows:
    """Some rows that should be zero: those of the equation, or of one condition.

    `names` are the derivatives and fields that they ask for, `at(raws, z, values)` the rows at one point.
    """

    names: tuple[str, ...]
    count: int
    at: Callable

    def slopes(
        self,
        raws: Float[np.ndarray, " p"],
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n names"],
    ) -> Slopes:
        """The rows and their slopes at many points."""
        count = len(points)
        size = max(SMALLEST_BATCH, 1 << (count - 1).bit_length())
        padded = [
            np.concatenate([part, np.repeat(part[:1], size - count, 0)])
            for part in (points, values)
        ]
        with jax.enable_x64(True):
            found = self._compiled(raws, *padded)
        return Slopes(*(np.asarray(part)[:count] for part in found))

    @cached_property
    def _compiled(self) -> Callable:
        def both(raws, z, values):
            slopes = jax.jacfwd(self.at, argnums=(2, 0))(raws, z, values)
            return self.at(raws, z, values), *slopes

        return jax.jit(jax.vmap(both, in_axes=(None, 0, 0)))


def equation_rows(pde: AbstractPDE, origin: Origin) -> ResidualRows:
    """Those of the equation, in the order of its residuals. Points and values are counted from
    `origin`."""
    names = tuple(name for name in requested(pde) if name not in pde.coords)
    count = len(jax.eval_shape(lambda: resolve(pde).residual(_Zeros())))

    def at(raws, z, values):
        known = resolve(with_raws(pde, raws))
        table = _table(names, pde.coords, z, values, origin)
        return jnp.stack([jnp.asarray(row, float) for row in known.residual(table).values()])

    return ResidualRows(names, count, at)


def condition_rows(condition: AbstractCondition, pde: AbstractPDE, origin: Origin) -> ResidualRows:
    """Those of a condition on a face, which is bound to the domain as it is counted from `origin`."""
    asked: dict[str, None] = {}

    def ask(z, name):
        asked[name] = None
        return jnp.zeros(())

    point = jnp.asarray(condition.nodes(1)[0])
    known = filled(condition, pde)
    count = jax.eval_shape(lambda: known.rows(ask, point)).shape[0]
    names = tuple(name for name in asked if name not in pde.coords)

    def at(raws, z, values):
        moved = resolve(with_raws(pde, raws))
        table = _table(names, pde.coords, z, values, origin)
        return resolve(filled(condition, moved)).rows(lambda _, name: table.value(name), z)

    return ResidualRows(names, count, at)


class _Zeros:
    """Answers every question with zero."""

    def __call__(self, name: str) -> Array:
        return jnp.zeros(())

    def laplacian(self, field: str) -> Array:
        return jnp.zeros(())


def _table(names: Sequence[str], coords, z, values, origin: Origin) -> DerivativeTable:
    known = dict(zip(names, values, strict=True)) | dict(zip(coords, z, strict=True))
    return DerivativeTable(known).counted_from(origin)


def orders(
    name: str, coords: tuple[str, ...], fields: tuple[str, ...]
) -> tuple[int, list[tuple[int, ...]]]:
    """The field of a name, and how often it is differentiated along every axis; of a Laplacian once for
    each of its terms.

    >>> orders("lap(u)", ("x", "y", "t"), ("u",))
    (0, [(2, 0, 0), (0, 2, 0)])
    """
    if name.startswith(f"{LAPLACIAN}("):
        field, _ = parse_name(name[len(LAPLACIAN) + 1 : -1], coords, fields)
        return field, [tuple(2 * (c == axis) for c in coords) for axis in coords if axis != "t"]
    field, along = parse_name(name, coords, fields)
    return field, [tuple(along.count(k) for k in range(len(coords)))]
