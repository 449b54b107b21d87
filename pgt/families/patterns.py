"""A family as a Gaussian: the mean of its systems, and the patterns in which they differ.

What systems of a family have in common is often a few patterns: those of a wake over all phases and many
Reynolds numbers are. Then nothing has to be learnt but these patterns; how much of each there is, the
readings say in closed form, and they say how noisy they are:

    field = mean + Σ aₖ patternₖ,  a ~ N(0, 1),  readings = field + σ ε

with the σ under which the readings are the most probable.
"""

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

from pgt.data.observations import Observations
from pgt.families.family import AbstractFamily
from pgt.families.said import Asked, Said, on_grid
from pgt.families.sensing import Nodes
from pgt.families.stencil import Stencil
from pgt.ground import serialise
from pgt.ground.arguments import Count, Limits
from pgt.ground.checked import checked
from pgt.ground.errors import InputError

SYSTEMS = 480  # drawn to find the patterns
LEVELS = 10 ** np.arange(
    -4.0, 0.01, 0.125
)  # σ that are tried, in units of the spread of the readings
SMALLEST = 1e-4  # spread, of that of the field
SLACK = 0.02  # of a range of coefficients
LEVEL = 0.9  # of a field that bands hold
RARE = 0.99  # of systems held out fit their readings better
HELD, NOISE, SENSORS = 12, 0.05, 100  # systems of each kind held out, and how they are read

Table = Float[np.ndarray, "m c r"]


class Judged(NamedTuple):
    """On systems whose coefficients are not among those that the patterns come from: median and worst
    tenth of the relative error with clean readings, what bands are multiplied with where readings are
    clean and where they are noisy, and the largest σ that is usual."""

    median: float
    tenth: float
    factors: tuple[float, float]
    usual: float

    def factor(self, level: float) -> float:
        """That of readings with noise of this level."""
        return self.factors[level >= NOISE / 2]


class Fitted(eqx.Module):
    """The field of one system, in closed form. `outside` says where the readings speak against it."""

    patterns: "Patterns"
    amounts: Float[np.ndarray, " r"]
    root: Float[np.ndarray, "r r"]  # of the covariance of the amounts
    noise_level: float  # of the readings, in units of their spread
    outside: tuple[str, ...]

    def at(self, points: Float[np.ndarray, "m d"]) -> Said:
        """Mean and band at points, one a row, in the order of the domain's axes."""
        mean, table = self.patterns.along(points)
        found = mean + table @ self.amounts
        spread = _spreads(table, self.root, self.patterns.floor)
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
        places = _node_numbers(points, self.family.axes)
        if places is not None:
            return self.mean[places], self.table[places]
        between = _between(points, self.family)
        table = between @ self.table.reshape(len(self.table), -1)
        return between @ self.mean, table.reshape(len(points), *self.table.shape[1:])

    def save(self, path: str | os.PathLike) -> None:
        """One safetensors file: the family, from which the patterns are found again."""
        path = Path(path)
        kept = Kept(
            self.family.without_systems(), self.reads, self.table.shape[-1], self.judged
        )  # fmt: skip
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
        values, _ = _drawn(found.family)
        return _patterns(found.family, values, found.count, found.reads, found.judged)

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


@checked
def learn_patterns(
    family: AbstractFamily,
    count: Annotated[int, Limits(at_least=1, at_most=SYSTEMS - 1)] = 64,
    reads: tuple[str, ...] = (),
    sensors: Count = SENSORS,
) -> Patterns:
    """The patterns of a family, so many, and how well they answer for systems left out.

    `reads` are the fields that sensors read, all where none is named; `sensors` how many stand still and
    read at every instant when the patterns are judged. Systems are left out by their coefficients, but
    for the ends of the ranges; where these are not a few, by chance.

    >>> import pgt
    >>> learn_patterns(pgt.families.get("heat", nodes=9, times=5), count=3).table.shape
    (45, 1, 3)
    """
    values, coefficients = _drawn(family)
    judged = _judged(family, values, _kinds(coefficients), count, reads, sensors)
    return _patterns(family, values, count, reads, judged)


def _patterns(family: AbstractFamily, values, count: int, reads, judged: Judged) -> Patterns:
    mean, table = _found(values, count)
    return Patterns(family, mean, table, _floor(table), reads, judged)


def _drawn(family: AbstractFamily) -> tuple[np.ndarray, np.ndarray]:
    """Fields (system, node, field) and coefficients (system, name)."""
    keys = jax.random.split(jax.random.key(0), SYSTEMS)
    systems = _many(family, keys)
    values = np.asarray(systems.values).reshape(SYSTEMS, -1, len(family.fields))
    rows = [np.asarray(systems.coefficients[name]) for name in family.ranges]
    return values, np.stack(rows, axis=-1) if rows else np.zeros((SYSTEMS, 0))


@eqx.filter_jit
def _many(family: AbstractFamily, keys):
    return jax.vmap(family.draw)(keys)


def _found(values: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean (node, field) and patterns (node, field, r), whose amounts have variance 1."""
    mean = values.mean(axis=0, dtype=float)
    flat = (values - mean).reshape(len(values), -1).astype(np.float32)
    _, ways = np.linalg.eigh((flat @ flat.T).astype(float) / len(flat))
    kept = ways[:, ::-1][:, :count] / len(flat) ** 0.5
    table = (flat.T @ kept.astype(np.float32)).reshape(*mean.shape, -1)
    return mean, table.astype(float)


def _floor(table: Table) -> Float[np.ndarray, " c"]:
    """A small share of the spread of each field: there are places where all systems agree."""
    return SMALLEST * np.sqrt(np.sum(table**2, axis=(0, 2)) / len(table))


def _spreads(table: Table, root, floor) -> Float[np.ndarray, "m c"]:
    return np.hypot(np.sqrt(np.sum((table @ root) ** 2, axis=-1)), floor)


def conditioned(values, mean, table: Table, is_read) -> tuple[np.ndarray, np.ndarray, float]:
    """Amounts, a root of their covariance, and the most probable σ, in units of the readings' spread.

    >>> table = np.ones((3, 1, 1))
    >>> read = np.array([[2.0], [2.1], [1.9]])
    >>> amounts, root, level = conditioned(read, np.zeros((3, 1)), table, np.ones((3, 1), bool))
    >>> amounts.round(1).tolist(), root.shape
    ([2.0], (1, 1))
    """
    unit = np.array([_spread(values[row, c]) for c, row in enumerate(is_read.T)])
    rows = (table / unit[:, None])[is_read]  # k r
    misses = ((values - mean) / unit)[is_read]
    sizes, ways = np.linalg.eigh(rows.T @ rows)
    sizes = np.maximum(sizes, 0.0)
    told = ways.T @ (rows.T @ misses)
    variance = LEVELS[:, None] ** 2
    fits = np.sum(told**2 / (sizes + variance), axis=1)
    surprise = (misses @ misses - fits) / variance[:, 0]
    size = np.log1p(sizes / variance).sum(axis=1) + len(misses) * np.log(variance[:, 0])
    level = float(LEVELS[np.argmin(surprise + size)])
    inner = sizes + level**2
    return ways @ (told / inner), level * ways / np.sqrt(inner), level


def _spread(values: np.ndarray) -> float:
    size = float(np.std(values)) if values.size else 0.0
    return size if size > 0 else 1.0


def _node_numbers(points: np.ndarray, axes: Mapping[str, np.ndarray]) -> np.ndarray | None:
    """Which nodes the points are, in the order of the grid; None where one lies between them."""
    found = np.zeros(len(points), int)
    for k, line in enumerate(axes.values()):
        share = (points[:, k] - line[0]) / (line[1] - line[0])
        near = np.rint(share)
        if np.abs(share - near).max() > 1e-4 or near.min() < 0 or near.max() >= len(line):
            return None
        found = found * len(line) + near.astype(int)
    return found


def _between(points: Float[np.ndarray, "m d"], family: AbstractFamily) -> csr_array:
    """What of every node (m, n) the fields between them are."""
    stencil = Stencil.of(points, family.axes, family.domain)
    nodes, weights = np.zeros((len(points), 1), int), np.ones((len(points), 1))
    for line, near, shares in zip(
        family.axes.values(), stencil.nodes, stencil.weights, strict=True
    ):
        nodes = (nodes[:, :, None] * len(line) + np.asarray(near)[:, None]).reshape(len(points), -1)
        weights = (weights[:, :, None] * np.asarray(shares)[:, None]).reshape(len(points), -1)
    rows = np.repeat(np.arange(len(points)), nodes.shape[1])
    total = int(np.prod([len(line) for line in family.axes.values()]))
    return csr_array((weights.ravel(), (rows, nodes.ravel())), shape=(len(points), total))


# ------------------------------------------------------------------------------- held out


def _kinds(coefficients: np.ndarray) -> np.ndarray:
    """To which of a few sets of coefficients a system belongs; -1 at the ends of a range."""
    rows, kinds = np.unique(coefficients, axis=0, return_inverse=True)
    kinds = kinds.ravel()
    if not 3 <= len(rows) <= SYSTEMS // HELD:
        return np.arange(len(coefficients)) % 5
    is_end = ((rows == rows.min(axis=0)) | (rows == rows.max(axis=0))).any(axis=1)
    return np.where(is_end[kinds], -1, kinds)


def _judged(family, values, kinds, count: int, reads: tuple[str, ...], sensors: int) -> Judged:
    scores, instants = [], Nodes.of(family).instants
    is_read = np.array([not reads or name in reads for name in family.fields])
    draw = np.random.default_rng(0)
    for kind in sorted(set(kinds[kinds >= 0].tolist())):
        law = _found(values[kinds != kind], count)
        for truth in values[kinds == kind][:HELD]:
            places = _standing(draw, len(truth) // instants, sensors, instants)
            scores.append([_score(draw, law, truth, places, is_read, n) for n in (0.0, NOISE)])
    errors = [clean[0] for clean, _ in scores]
    clean, noisy = (np.concatenate([pair[k][1] for pair in scores]) for k in (0, 1))
    return Judged(
        float(np.median(errors)), float(np.quantile(errors, 0.9)),
        (float(np.quantile(clean, LEVEL)), float(np.quantile(noisy, LEVEL))),
        float(np.quantile([noisy[2] for _, noisy in scores], RARE)),
    )  # fmt: skip


def _score(draw, law, truth, places, is_read, noise: float):
    """Relative error, errors in units of the stated spread at some nodes, and the σ found."""
    mean, table = law
    read = np.where(is_read, truth[places], np.nan)
    read = read + noise * truth.std(axis=0) * draw.normal(size=read.shape)
    amounts, root, level = conditioned(read, mean[places], table[places], np.isfinite(read))
    miss = mean + table @ amounts - truth
    some = draw.choice(len(truth), min(len(truth), 500), replace=False)
    spread = _spreads(table[some], root, _floor(table))
    return np.linalg.norm(miss) / np.linalg.norm(truth), np.abs(miss[some] / spread).ravel(), level


def _standing(draw, places: int, sensors: int, instants: int) -> np.ndarray:
    """The nodes of sensors that stand still, at every instant."""
    chosen = draw.choice(places, min(sensors, places), replace=False)
    return (chosen[:, None] * instants + np.arange(instants)).ravel()
