"""Fields between the nodes of a grid, by polynomials through the nearest ones."""

from collections.abc import Mapping

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from pgt.data.domain import Domain

ORDER = 8  # nodes along an axis


class Stencil(eqx.Module):
    """Which nodes a point lies between, and how much of each of them is its value.

    With the points (m, d) on nodes, one node along each axis; else eight, by Lagrange's formula, across
    the seam where an axis is periodic.

    >>> domain, axes = Domain(x=(0, 1), periodic=("x",)), {"x": np.arange(32) / 32}
    >>> stencil = Stencil.of(np.array([[0.99]]), axes, domain)
    >>> wave = np.sin(2 * np.pi * axes["x"])[:, None]
    >>> bool(abs(stencil(wave)[0, 0] - np.sin(2 * np.pi * 0.99)) < 1e-7)
    True
    """

    nodes: tuple[Int[Array | np.ndarray, "m _"], ...]
    weights: tuple[Float[Array | np.ndarray, "m _"], ...]

    @staticmethod
    def of(
        points: Float[np.ndarray, "m d"], axes: Mapping[str, np.ndarray], domain: Domain
    ) -> "Stencil":
        exact = on_nodes(points, axes)
        found = [
            _along(points[:, i], nodes, axis in domain.periodic, 1 if exact else ORDER)
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
    """Whether every point is a node of the grid, up to rounding."""
    first = np.array([nodes[0] for nodes in axes.values()])
    step = np.array([nodes[1] - nodes[0] for nodes in axes.values()])
    share = (points - first) / step
    return bool(np.all(np.abs(share - np.rint(share)) < 1e-4))


def _spread(nodes: Int[Array | np.ndarray, "m k"], axis: int, dimension: int):
    """The nodes with an axis of their own among those of the others."""
    shape = [1] * dimension
    shape[axis] = nodes.shape[1]
    return jnp.asarray(nodes).reshape(nodes.shape[0], *shape)


def _along(at: Float[np.ndarray, " m"], nodes: np.ndarray, is_periodic: bool, order: int):
    """Along one axis of evenly spaced nodes."""
    share = (at - nodes[0]) / (nodes[1] - nodes[0])
    order = min(order, len(nodes))
    nearest = np.rint(share) if order == 1 else np.floor(share) - (order // 2 - 1)
    first = nearest.astype(int)
    if not is_periodic:
        first = np.clip(first, 0, len(nodes) - order)
    place = share - first  # from the first node of the stencil, in steps
    k = np.arange(order)
    ratios = (place[:, None, None] - k) / np.where(np.eye(order), 1, k[:, None] - k)
    weights = np.where(np.eye(order, dtype=bool), 1.0, ratios).prod(axis=-1)
    return (first[:, None] + k) % len(nodes), weights
