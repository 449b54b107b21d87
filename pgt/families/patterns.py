"""A family as a Gaussian: the mean of its systems, and the patterns in which they differ.

What systems of a family have in common is often a few patterns: those of a wake over all phases and many
Reynolds numbers are. Then nothing has to be learnt but these patterns; how much of each there is, the
readings say in closed form, and they say how noisy they are:

    field = mean + Σ aₖ patternₖ,  a ~ N(0, 1),  readings = field + σ ε

with the σ under which the readings are the most probable.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, NamedTuple

import equinox as eqx
import jax
import numpy as np
import xarray as xr
from jaxtyping import Float
from scipy.sparse import csr_array

from pgt.data.asked import as_points
from pgt.data.observations import Observations
from pgt.families.family import AbstractFamily
from pgt.families.gaussian import (
    Judged,
    Table,
    conditioned,
    floor,
    judged,
    kinds,
    patterns_of,
    spreads,
)
from pgt.families.said import Asked, Said, on_grid
from pgt.families.sensing import Nodes
from pgt.families.stencil import Stencil
from pgt.ground import serialise
from pgt.ground.arguments import Count, Limits
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.ground.memory import require_memory

SYSTEMS = 480  # drawn to find the patterns
SENSORS = 100  # by which patterns are judged
SLACK = 0.02  # of a range of coefficients
COPIES = 4  # of all systems, in single precision, at the same time


class Fitted(eqx.Module):
    """The field of one system, in closed form. `outside` says where the readings speak against it."""

    patterns: "Patterns"
    amounts: Float[np.ndarray, " r"]
    root: Float[np.ndarray, "r r"]  # of the covariance of the amounts
    noise_level: float  # of the readings, in units of their spread
    outside: tuple[str, ...]

    def at(self, points: Float[np.ndarray, "m d"]) -> Said:
        """Mean and band at points, one a row, in the order of the domain's axes."""
        mean, table = self.patterns.along(as_points(points, self.patterns.family.domain))
        found = mean + table @ self.amounts
        spread = spreads(table, self.root, self.patterns.floor)
        reach = self.patterns.judged.factor(self.noise_level) * spread
        return Said(found, found - reach, found + reach, list(self.outside))

    def grid(self, **axes: Asked) -> xr.Dataset:
        """Fields and bands (`u`, `u_low`, `u_high`) on a grid: a number of nodes or positions by axis."""
        family = self.patterns.family
        about = {"noise_level": self.noise_level, "outside": "; ".join(self.outside)}
        return on_grid(self.at, family.domain, family.fields, axes, about)


class Patterns(eqx.Module):
    """The mean of a family's systems and their patterns at its nodes, the largest first.

    `learn_patterns` makes one; called with readings it answers for a system that it has not seen.

    >>> import pgt
    >>> family = pgt.families.get("heat", nodes=9, times=5)
    >>> patterns = learn_patterns(family, count=6)
    >>> truth = family.dataset(family.draw(jax.random.key(1)))
    >>> answer = patterns(pgt.sample(truth, n=12, seed=0))
    >>> answer.outside, answer.grid(**family.axes).u.shape
    ((), (9, 5))
    """

    family: AbstractFamily
    mean: Float[np.ndarray, "n c"]
    table: Float[np.ndarray, "n c r"]
    floor: Float[np.ndarray, " c"]  # of the spread
    reads: tuple[str, ...]
    judged: Judged
    without: dict[str, float]  # the coefficients of systems that patterns were not taken from

    @checked
    def __call__(self, readings: Observations, coefficients: Mapping | None = None) -> Fitted:
        """The field of a system from its readings; coefficients are only looked at: are they usual?"""
        family = self.family
        readings = readings.wrapped(family.domain).aligned(family.fields)
        readings.check_inside(family.domain)
        values = np.where(np.asarray(readings.mask), np.asarray(readings.values, float), np.nan)
        return self._fitted(np.asarray(readings.points, float), values, coefficients or {})

    def answer(
        self,
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n c"],
        coefficients: Mapping[str, float],
        at: Float[np.ndarray, "m d"],
    ) -> Said:
        """The same for plain arrays; a value that is NaN was not read."""
        return self._fitted(np.asarray(points, float), np.asarray(values, float), coefficients).at(
            at
        )

    def along(self, points: Float[np.ndarray, "m d"]) -> tuple[Float[np.ndarray, "m c"], Table]:
        """Mean and patterns at points."""
        axes = self.family.axes
        shape = tuple(len(nodes) for nodes in axes.values())
        stencil = Stencil.of(points, axes, self.family.domain)
        places = _node_numbers(stencil, shape)
        if places is not None:
            return self.mean[places], self.table[places]
        between = _between(stencil, shape)
        table = between @ self.table.reshape(len(self.table), -1)
        return between @ self.mean, table.reshape(len(points), *self.table.shape[1:])

    def save(self, path: str | os.PathLike) -> None:
        """One safetensors file: the family, from which the patterns are found again, or themselves."""
        path = Path(path)
        count, lean = self.table.shape[-1], self.family.without_systems()
        found = None if self.family.keeps_systems else (self.mean, self.table)
        kept = Kept(lean, self.reads, count, self.judged, self.without, found)
        serialise.save(path.parent, path.name.removesuffix(".safetensors"), kept, copy=False)

    @staticmethod
    @checked
    def load(path: str | os.PathLike) -> "Patterns":
        """What `save` wrote."""
        path = Path(path)
        found = serialise.load(path.parent, path.name.removesuffix(".safetensors"))
        if not isinstance(found, Kept):
            raise InputError(
                f"{path}: holds a {type(found).__name__}, not the patterns of a family."
            )
        mean, table = found.found or patterns_of(
            _drawn(found.family, found.without).values, found.count
        )
        return Patterns(
            found.family, mean, table, floor(table), found.reads, found.judged, found.without
        )  # fmt: skip

    def _fitted(self, points, values, coefficients: Mapping[str, float]) -> Fitted:
        mean, table = self.along(points)
        is_read = np.isfinite(values)
        if not is_read.any():
            raise InputError("patterns: there is no reading; give at least one.")
        amounts, root, level = conditioned(values, mean, table, is_read)
        return Fitted(self, amounts, root, level, tuple(self._outside(coefficients, level)))

    def _outside(self, coefficients: Mapping[str, float], level: float) -> list[str]:
        found = []
        for name, (low, high) in self.family.ranges.items():
            slack = SLACK * (high - low)
            if name in coefficients and not low - slack <= coefficients[name] <= high + slack:
                found.append(f"{name} is {coefficients[name]:.3g}, it was {low:.3g} to {high:.3g}")
        if level > self.judged.usual:
            found.append(
                f"the field misses its own readings by {100 * level:.0f} % of their spread, those of the "
                f"family by less than {100 * self.judged.usual:.0f} %"
            )
        return found


class Kept(eqx.Module):
    """What a file holds."""

    family: AbstractFamily
    reads: tuple[str, ...]
    count: int
    judged: Judged
    without: dict[str, float]
    # Mean and patterns, where the family in the file no longer has the systems that they are from.
    found: tuple[Float[np.ndarray, "n c"], Float[np.ndarray, "n c r"]] | None = None


@checked
def learn_patterns(
    family: AbstractFamily,
    count: Annotated[int, Limits(at_least=1, at_most=SYSTEMS - 1)] = 64,
    reads: tuple[str, ...] = (),
    sensors: Count = SENSORS,
    without: Mapping[str, float] | None = None,
) -> Patterns:
    """The patterns of a family, so many, and how well they answer for systems left out.

    `reads` are the fields that sensors read, all where none is named; `sensors` how many stand still and
    read at every instant when the patterns are judged. Systems are left out by their coefficients, but
    for the ends of the ranges; where these are not a few, a fifth of the simulations at a time. `without`
    names coefficients of systems that the family has and no pattern is to come from: what is then said of
    them is said of something new.

    >>> import pgt
    >>> learn_patterns(pgt.families.get("heat", nodes=9, times=5), count=3).table.shape
    (45, 1, 3)
    """
    left = dict(without or {})
    drawn = _drawn(family, left)
    values, together = drawn.values, kinds(drawn.coefficients, drawn.stored)
    is_read = np.array([not reads or name in reads for name in family.fields])
    instants = Nodes.of(family).instants
    score = judged(values, together, count, is_read, sensors, instants)
    mean, table = patterns_of(values, count)
    return Patterns(family, mean, table, floor(table), reads, score, left)


class _Drawn(NamedTuple):
    """Fields (system, node, field), coefficients (system, name), and which of the systems that the family
    keeps each one is."""

    values: np.ndarray
    coefficients: np.ndarray
    stored: np.ndarray | None


def _drawn(family: AbstractFamily, without: Mapping[str, float]) -> _Drawn:
    """Systems of a family, but for those with the coefficients named."""
    size = math.prod(len(nodes) for nodes in family.axes.values()) * len(family.fields)
    remedy = "take fewer nodes, or a window of the simulations: crop={'t': 20}"
    require_memory(4.0 * COPIES * SYSTEMS * size, f"patterns of {size} values", remedy)
    systems, files = _many(family, jax.random.split(jax.random.key(0), SYSTEMS))
    values = np.asarray(systems.values).reshape(SYSTEMS, -1, len(family.fields))
    rows = [np.asarray(systems.coefficients[name]) for name in family.ranges]
    found = np.stack(rows, axis=-1) if rows else np.zeros((SYSTEMS, 0))
    columns = [list(family.ranges).index(name) for name in without]
    left = np.isclose(found[:, columns], list(without.values()), rtol=1e-4).all(axis=1)
    kept = ~left if without else np.ones(SYSTEMS, bool)
    return _Drawn(values[kept], found[kept], None if files is None else np.asarray(files)[kept])


@eqx.filter_jit
def _many(family: AbstractFamily, keys):
    return jax.vmap(family.draw)(keys), jax.vmap(family.stored)(keys)


def _node_numbers(stencil: Stencil, shape: tuple[int, ...]) -> np.ndarray | None:
    """Which nodes the points are, in the order of the grid; None where one lies between them."""
    if any(nodes.shape[1] > 1 for nodes in stencil.nodes):
        return None
    return np.ravel_multi_index([np.asarray(nodes)[:, 0] for nodes in stencil.nodes], shape)


def _between(stencil: Stencil, shape: tuple[int, ...]) -> csr_array:
    """What of every node (m, n) the fields between them are."""
    m = len(stencil.nodes[0])
    nodes, weights = np.zeros((m, 1), int), np.ones((m, 1))
    for size, near, shares in zip(shape, stencil.nodes, stencil.weights, strict=True):
        nodes = (nodes[:, :, None] * size + np.asarray(near)[:, None]).reshape(m, -1)
        weights = (weights[:, :, None] * np.asarray(shares)[:, None]).reshape(m, -1)
    rows = np.repeat(np.arange(m), nodes.shape[1])
    return csr_array((weights.ravel(), (rows, nodes.ravel())), shape=(m, math.prod(shape)))
