"""How large an equation can be, whatever its unknown coefficients.

A residual is counted in units of its typical size. Made with a first guess that is far too large, that
unit is enormous: every field fulfils the equation then, and readings are explained best where its terms
vanish, the coefficient with them. So no unit is larger than the terms without an unknown coefficient
could make it in a field that varies much faster than the domain suggests.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

import jax
import numpy as np
from jaxtyping import Float

from pgt.ground.unknown import Unknown, is_unknown, resolve
from pgt.nn.scaling import Scaling
from pgt.physics.pde import AbstractPDE

FASTER = 10.0  # times that a field may vary along an axis where half of the domain suggests once
GONE, NEARLY_GONE = 1e-8, 1e-6  # of a first guess: a term that has it as a factor is no more
FALLING = 0.1  # a size that falls by so much between the two has no term without a coefficient
PLAINLY = 0.99  # a size that falls by less does so by rounding

Sizes = Mapping[str, Float[np.ndarray, "..."]]
# By name the size of each residual for an equation without unknowns; infinite where it is undefined.
Sized = Callable[[AbstractPDE, Scaling], Sizes]


def of_known_terms(pde: AbstractPDE, scaling: Scaling, sized: Sized) -> dict[str, np.ndarray]:
    """By name, how large the terms without an unknown coefficient can be; infinite without such terms,
    and empty where nothing is unknown."""
    nodes, tree = jax.tree.flatten(pde, is_leaf=is_unknown)
    positions = [k for k, node in enumerate(nodes) if is_unknown(node)]
    if not positions:
        return {}
    rough = replace(scaling, half_extent=np.asarray(scaling.half_extent) / FASTER)

    @cache
    def at(factors: frozenset[tuple[int, float]]) -> Sizes:
        moved = {k: _moved(nodes[k], factor) for k, factor in factors}
        chosen = [moved.get(k, node) for k, node in enumerate(nodes)]
        return sized(resolve(tree.unflatten(chosen)), rough)

    # In double precision: a number that is 10⁸ times too large leaves no digit of the others else.
    with jax.enable_x64(True):
        return {name: _least(at, name, positions) for name in at(frozenset())}


def _least(
    at: Callable[[frozenset[tuple[int, float]]], Sizes], name: str, positions: list[int]
) -> np.ndarray:
    """The size of one residual where every coefficient is as small, or as large, as lets terms vanish."""
    factors = frozenset[tuple[int, float]]()
    size = at(factors)[name]
    for position in positions:
        others = factors
        for factor in (GONE, 1 / GONE):
            tried = at(others | {(position, factor)})[name]
            if np.sum(tried) < PLAINLY * np.sum(size):
                factors, size = others | {(position, factor)}, tried
    if not factors:  # no unknown coefficient, or none that could be gone
        return np.full_like(size, np.inf)
    nearly = frozenset((k, NEARLY_GONE if f < 1 else 1 / NEARLY_GONE) for k, f in factors)
    return np.where(size < FALLING * at(nearly)[name], np.inf, size)


def _moved(node: Unknown, factor: float) -> float:
    """The value of a coefficient, times a factor or, where it has bounds, as far as they go."""
    value = float(node.value)
    return value * factor if node.bounds is None else float(np.clip(value * factor, *node.bounds))
