r"""What readings say against the law that they are answered by.

The law is compared with others that have it and something more: coefficients that are not those given,
δ in their logarithms, or a smooth field b beside that of the law,

$$ d = W z + G\, \delta + e, \qquad d = W z + B\, b + e, $$

each by the density of the readings, under all levels of noise. Noise cannot hide what is wrong: where
readings come nearer to another law by more than chance would have it, that law is the more probable one.
The answer stays that of the law that was given; its spread counts how far the others are from it, each as
far as it is probable.
"""

from collections.abc import Mapping
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.families.weighing import Weighed, fields_of, weighed

LOOSE = 0.5  # σ of the logarithm of a coefficient that may be wrong
AMOUNTS = (0.01, 0.1)  # σ of a smooth field that is not in the law, in units of the readings
PRIOR = np.log([0.9, 0.05, 0.025, 0.025])  # the law; other coefficients; smooth fields
DEGREE = {1: 8, 2: 3, 3: 2}  # of the waves of a smooth field, by the number of axes
SURE = 0.95  # of the probability, from which on a doubt is said
SHOWS = 1e-3  # of the field: less may come of a solver that is rough
MATTERS = 0.3  # of the largest move of a field: others may come of the search being linear


class Beyond(NamedTuple):
    """How probable the law as given is, with other coefficients and with a smooth field beside it; how
    far coefficients are off, in logarithms, with their σ, and how far each of them moves the fields; and
    how far these are off, in units of their spread: by what readings say against the law, and by what the
    law leaves open."""

    shares: Float[Array | np.ndarray, "*k 3"]
    logs: Float[Array | np.ndarray, "*k p"]
    widths: Float[Array | np.ndarray, "*k p"]
    moves: Float[Array | np.ndarray, "*k p"]
    shift: Float[Array | np.ndarray, "*k"]
    left: Float[Array | np.ndarray, "*k"]

    def doubts(self, known: Mapping[str, float]) -> list[str]:
        """What readings say against the law, in words."""
        shares = np.asarray(self.shares)
        if shares[0] > 1 - SURE or self.shift < max(SHOWS, 0.5 * float(self.left)):
            return []
        if shares[1] < shares[2]:
            return [
                "the readings show something smooth that no system of the family has, "
                f"{100 * float(self.shift):.2g} % of the field: other boundaries, sources or forces?"
            ]
        return [self._of_coefficients(known)]

    def _of_coefficients(self, known: Mapping[str, float]) -> str:
        """Of those whose moves matter, what readings speak for."""
        logs, widths, moves = map(np.asarray, (self.logs, self.widths, self.moves))
        names, said = sorted(known), []  # as JAX orders them
        for k in np.flatnonzero(moves >= MATTERS * moves.max()):
            value = known[names[k]]
            # Of noise, and of being linear.
            reach = np.hypot(1.645 * widths[k], np.max(logs**2) / 2)
            low, middle, high = value * np.exp(logs[k] + reach * np.array([-1, 0, 1]))
            said.append(
                f"{names[k]} is given as {value:g}, the readings speak for about {middle:.3g} "
                f"({low:.3g} to {high:.3g})"
            )
        return "; ".join(said)


def compared(
    rows: Float[Array, "m n"],
    moved: Float[Array, "m p"],
    smooth: Float[Array, "m q"],
    misses: Float[Array, " m"],
    fields: tuple[Float[Array, "n *g c"], Float[Array, "p *g c"], Float[Array, "q *g c"]],
    size: Float[Array, " c"],
    count,
    trust,
) -> tuple[Beyond, Float[Array, "*g c"], Float[Array, "*g c"]]:
    """The law beside others, the standard deviation of the fields that all of them leave, and how much
    of it is that they are apart.

    `rows` are in units of the noise, as are those of coefficients that are `moved` and of `smooth`
    fields; `fields` has what each of the three does to the fields, whose spreads are `size`.
    """
    tangents, by_moving, by_smooth = fields

    def one(added):
        columns, shapes = added
        said = weighed(jnp.column_stack([rows, columns]), misses, count, trust)[-1]
        told = fields_of(said, jnp.concatenate([tangents, shapes]))
        return said.evidence, *told, _last(said, columns.shape[1])

    more = [(jnp.zeros_like(smooth), jnp.zeros_like(by_smooth))]
    more += [(LOOSE * moved, LOOSE * by_moving)] if moved.shape[1] else []
    more += [(amount * smooth, amount * by_smooth) for amount in AMOUNTS]
    # One after the other: decompositions of many matrices that run at once wait for each other's threads.
    evidence, means, variances, amounts = jax.lax.map(one, _stacked(more))
    variance, shifts = variances[0], (means - means[0]) ** 2
    shares = jax.nn.softmax(evidence + jnp.asarray(PRIOR)[np.r_[0, 1 - len(more) : 0]])
    inner, shift = (jnp.tensordot(shares, part, 1) for part in (variances, shifts))
    by_kind = jnp.stack([shares[0], jnp.sum(shares[1:-2]), jnp.sum(shares[-2:])])
    logs, widths = (LOOSE * part[1, : moved.shape[1]] for part in amounts)
    apart = [jnp.sqrt(jnp.mean(part / (size**2 + 1e-300))) for part in (shift, variance)]
    axes = tuple(range(1, by_moving.ndim))
    moves = jnp.abs(logs) * jnp.sqrt(jnp.mean((by_moving / (size + 1e-300)) ** 2, axis=axes))
    return Beyond(by_kind, logs, widths, moves, *apart), jnp.sqrt(inner + shift), jnp.sqrt(shift)


def _stacked(more: list[tuple[Array, Array]]) -> tuple[Float[Array, "h m w"], Array]:
    """What laws have beside the one that is given, side by side, filled up with nothing."""
    wide = max(columns.shape[1] for columns, _ in more)

    def filled(part, axis: int):
        width = [(0, 0)] * part.ndim
        width[axis] = (0, wide - part.shape[axis])
        return jnp.pad(part, width)

    columns = jnp.stack([filled(columns, 1) for columns, _ in more])
    return columns, jnp.stack([filled(shapes, 0) for _, shapes in more])


def _last(said: Weighed, count: int):
    """Mean and standard deviation of the last unknowns."""
    turned = said.turned[:, -count:]
    amounts = (said.kept * said.along) @ turned  # l w
    mean = said.weights @ amounts
    left = 1 - (said.weights @ said.kept) @ turned**2
    apart = said.weights @ (amounts - mean) ** 2
    return mean, jnp.sqrt(jnp.maximum(left, 0.0) + apart)


def smooth_fields(domain: Domain, axes: Mapping[str, np.ndarray]) -> Float[np.ndarray, "q *grid"]:
    """Slow waves over the domain, at the nodes: products of cosines along its axes, up to a degree.

    >>> domain = Domain(x=(0, 1), t=(0, 1))
    >>> smooth_fields(domain, {"x": np.linspace(0, 1, 5), "t": np.linspace(0, 1, 3)}).shape
    (10, 5, 3)
    """
    degree = DEGREE.get(len(axes), 2)
    lines = [_waves(domain, axis, nodes, degree) for axis, nodes in axes.items()]
    found = []
    for chosen in product(*lines):
        if sum(order for order, _ in chosen) <= degree:
            shape = np.ones(())
            for _, wave in chosen:
                shape = shape[..., None] * wave
            found.append(shape)
    return np.stack(found)


def _waves(domain: Domain, axis: str, nodes: np.ndarray, degree: int):
    """With how many half waves each of them goes along the axis."""
    low, high = domain.bounds(axis)
    place = np.pi * (nodes - low) / (high - low)
    if axis not in domain.periodic:
        return [(k, np.cos(k * place)) for k in range(degree + 1)]
    around = [
        (2 * k, wave(2 * k * place)) for k in range(1, degree // 2 + 1) for wave in (np.cos, np.sin)
    ]
    return [(0, np.ones_like(place)), *around]
