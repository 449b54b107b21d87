"""Fields between the nodes of a grid, by polynomials through the nearest ones."""

from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pgt.data.domain import Domain

ORDER = 8  # nodes along an axis
ROUNDING = 1e-4  # of the smallest step


class Stencil(eqx.Module):
    """Which nodes a point lies between, and how much of each of them is its value.

    With the points (m, d) on nodes, one node along each axis; else eight or as many as `order` says, by
    Lagrange's formula, across the seam where an axis is periodic.

    >>> domain, axes = Domain(x=(0, 1), periodic=("x",)), {"x": np.arange(32) / 32}
    >>> stencil = Stencil.of(np.array([[0.99]]), axes, domain)
    >>> wave = np.sin(2 * np.pi * axes["x"])[:, None]
    >>> bool(abs(stencil(wave)[0, 0] - np.sin(2 * np.pi * 0.99)) < 1e-7)
    True
    """

    nodes: tuple[Int[Array | np.ndarray, "*k m _"], ...]
    weights: tuple[Float[Array | np.ndarray, "*k m _"], ...]

    @staticmethod
    def of(
        points: Float[np.ndarray, "m d"],
        axes: Mapping[str, np.ndarray],
        domain: Domain,
        order: int = ORDER,
    ) -> "Stencil":
        exact = on_nodes(points, axes)
        found = [
            _along(points[:, i], nodes, axis in domain.periodic, 1 if exact else order)
            for i, (axis, nodes) in enumerate(axes.items())
        ]
        return Stencil(tuple(nodes for nodes, _ in found), tuple(w for _, w in found))

    def __call__(self, values: Float[Array | np.ndarray, "*grid c"]) -> Float[Array, "m c"]:
        """The fields at the points."""
        d = len(self.nodes)
        chosen = tuple(_spread(nodes, i, d) for i, nodes in enumerate(self.nodes))
        found = jnp.asarray(values)[chosen]  # m k ... k c
        for weights in reversed(self.weights):
            found = jnp.einsum("m...kc,mk->m...c", found, jnp.asarray(weights))
        return found


def on_nodes(points: Float[np.ndarray, "m d"], axes: Mapping[str, np.ndarray]) -> bool:
    """Whether every point is a node of the grid, up to rounding; the end of a period is none."""
    return all(
        np.all(np.abs(at - nodes[_nearest(at, nodes)]) < ROUNDING * np.diff(nodes).min())
        for at, nodes in zip(points.T, axes.values(), strict=True)
    )


def _spread(nodes: Int[Array | np.ndarray, "m k"], axis: int, dimension: int):
    """The nodes with an axis of their own among those of the others."""
    shape = [1] * dimension
    shape[axis] = nodes.shape[1]
    return jnp.asarray(nodes).reshape(nodes.shape[0], *shape)


def _along(at: Float[np.ndarray, " m"], nodes: np.ndarray, is_periodic: bool, order: int):
    """Along one axis, whose nodes are evenly spaced where it is periodic."""
    order = min(order, len(nodes))
    line = _unrolled(nodes, order) if is_periodic else nodes
    before = np.searchsorted(line, at, side="right") - 1
    first = _nearest(at, line) if order == 1 else before - (order // 2 - 1)
    first = np.clip(first, 0, len(line) - order)
    chosen = first[:, None] + np.arange(order)
    place, same = line[chosen], np.eye(order, dtype=bool)
    gaps = np.where(same, 1.0, place[:, :, None] - place[:, None, :])
    ratios = (at[:, None] - place)[:, None, :] / gaps
    weights = np.where(same, 1.0, ratios).prod(axis=-1)
    return (chosen - (len(line) - len(nodes)) // 2) % len(nodes), weights


def _unrolled(nodes: np.ndarray, order: int) -> np.ndarray:
    """The nodes of a ring with so many more at both ends, those of the turns before and after."""
    return nodes[0] + (nodes[1] - nodes[0]) * np.arange(-order, len(nodes) + order)


def _nearest(at: Float[np.ndarray, " m"], nodes: np.ndarray) -> Int[np.ndarray, " m"]:
    return np.searchsorted((nodes[1:] + nodes[:-1]) / 2, at)
