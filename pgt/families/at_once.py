r"""The most probable system behind readings at once: a few steps in one compiled program.

The same question as that of conditioning.py, for families of few unknowns, answered in milliseconds: all
derivatives of the fields are pushed through the rough solver side by side, what they say of the readings
is solved for all levels of noise together, and a step goes as far as it makes things better. Nothing of
it leaves the device between steps, and many systems can be asked about in one call.

With rows W and misses d in units of the noise that is taken for granted, a level s of noise makes the
readings

$$ d \sim N(0,\; W W^T + s^2), \qquad s \ge 1 . $$

A step takes the level that is to be expected by this. Few readings cannot tell noise from what they have
not seen: spreads count all levels, each as far as it is probable.
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.data.observations import Observations
from pgt.families.asking import Asking, asked, grid_for, precisely
from pgt.families.conditioning import Errors
from pgt.families.readout import shortened
from pgt.families.rigs import Rigs
from pgt.families.solved import AbstractSolved
from pgt.families.stencil import Stencil

LEAST = 1e-5  # of the spread: the noise of readings that are said to have none
SQUARES = 10.0 ** np.arange(0, 12.1, 0.5)  # of the levels of noise that are tried
SHARES = np.array([1.0, 0.5, 0.25, 0.125])  # of a step
STEPS = 12
SETTLED = 0.3  # of the noise: how well the linearised readings must be met
ROUNDING = 1e-5  # of the spread: what counts as met in any case
EXCESS = 5.0  # standard deviations, by which a state may be larger than those of the law
SUSPECT, DOUBTED = 0.3, 3.0  # of the spread, and of the noise that was given: noise that large
LARGEST = 2**24  # numbers in all derivatives of the fields
# Systems side by side: what stays in a processor's caches, and what a graphics card has room for.
AT_ONCE, MOST_AT_ONCE, ROOM = 8, 256, 2**28
CLEAN = 2 * LEAST  # of the spread: noise, at the most, where none shows
REACH = 1.6449  # standard deviations in a band of 90 %
TRUST = 4.0  # power by which levels above a σ that is given are less probable
# Nodes along space and time where readings lie between them (asking.py): to 1e-4 of the spread.
LEAST_NODES = {(1, True): (128, 129), (2, True): (64, 33), (2, False): (128, 1)}


class Posed(eqx.Module):
    """Readings as the solver sees them: what they are of, what was read, and how noisy that is."""

    asking: Asking
    values: Float[Array | np.ndarray, "*k m"]
    base: Float[Array | np.ndarray, "*k m"]  # σ, as it is given or taken for granted
    unit: Float[Array | np.ndarray, "*k m"]  # the spread of the field that is read
    is_real: Bool[Array | np.ndarray, "*k m"]  # others fill the arrays up
    trust: Float[Array | np.ndarray, ""]  # in the σ that is given: against levels above it


class Found(NamedTuple):
    """The most probable unknowns, and the standard deviation of the fields at the family's nodes.

    `level` is the noise in units of that taken for granted, `missed` how far the last step's
    linearisation was from the readings in units of the noise, `excess` by how many standard deviations
    the state is larger than the law's.
    """

    unknowns: Float[Array | np.ndarray, "*k n"]
    spread: Float[Array | np.ndarray, "..."]
    level: Float[Array | np.ndarray, "*k"]
    missed: Float[Array | np.ndarray, "*k"]
    excess: Float[Array | np.ndarray, "*k"]
    steps: Array | np.ndarray


def is_small(family: AbstractSolved) -> bool:
    """Whether all derivatives of its fields fit into memory, side by side."""
    return _derivatives(family) <= LARGEST


def _derivatives(family: AbstractSolved) -> int:
    """How many numbers all derivatives of the fields are."""
    nodes = math.prod(len(line) for line in family.axes.values()) * len(family.fields)
    return math.prod(family.noise_shape) * nodes


def side_by_side(family: AbstractSolved, backend: str) -> int:
    """How many systems are answered together: as long as a step takes to start, one costs a graphics
    card as much as hundreds."""
    if backend == "cpu":
        return AT_ONCE
    return int(np.clip(ROOM // _derivatives(family), AT_ONCE, MOST_AT_ONCE))


def posed(family: AbstractSolved, readings: Observations, known: dict[str, float]) -> Posed:
    """Readings of one system, with all coefficients known; within `precisely()`."""
    asking, values, errors = asked(family, readings, known, LEAST_NODES)
    rows, more = len(asking.columns), len(asking.columns) - len(values)
    unit = np.pad(errors.unit, (0, more), constant_values=1.0)
    base = np.pad(_granted(errors), (0, more), constant_values=1.0)
    trust = np.asarray(TRUST if (errors.known > 0).any() else 0.0)
    real = np.arange(rows) < len(values)
    return Posed(asking, np.pad(values, (0, more)), base, unit, real, trust)


def _granted(errors: Errors) -> Float[np.ndarray, " m"]:
    """The σ that is given; readings without one are as noisy as those that have it."""
    given = errors.known > 0
    usual = float(np.median(errors.known[given] / errors.unit[given])) if given.any() else LEAST
    return np.where(given, errors.known, usual * errors.unit)


def posed_many(family: AbstractSolved, rigs: Rigs) -> Posed:
    """Readings of many systems, none of whose noise is known; within `precisely()`."""
    systems, fields = len(rigs.mask), rigs.mask.shape[-1]
    mask = rigs.mask.reshape(systems, -1)
    most = int(mask.sum(axis=1).max())
    order = np.argsort(~mask, axis=1, kind="stable")[:, :most]  # readings first
    real = np.take_along_axis(mask, order, axis=1)
    places = np.take_along_axis(rigs.points, order[..., None] // fields, axis=1)
    places = np.where(real[..., None], places, places[:, :1])
    flat = places.reshape(-1, places.shape[-1])
    fine = grid_for(family, flat, LEAST_NODES)
    stencil = jax.tree.map(
        lambda table: table.reshape(systems, most, -1), Stencil.of(flat, fine.axes, fine.domain)
    )
    asking = Asking(
        fine, stencil, np.ones(1), order % fields, rigs.coefficients, tuple(range(fields))
    )
    values = np.take_along_axis(rigs.values.reshape(systems, -1), order, axis=1)
    values = np.where(real, values, 0.0)
    unit = _units(values, order % fields, real)
    return Posed(asking, values, np.where(real, LEAST * unit, 1.0), unit, real, np.zeros(()))


def _units(values, columns, real) -> Float[np.ndarray, "k m"]:
    """Of the readings of each field of each system, the root of their mean square."""
    found = np.ones_like(values)
    for column in np.unique(columns):
        of = real & (columns == column)
        size = np.sqrt((np.where(of, values, 0.0) ** 2).sum(1) / np.maximum(of.sum(1), 1))
        found = np.where(of, np.where(size > 0, size, 1.0)[:, None], found)
    return found


# ------------------------------------------------------------------------------- the program


class _Weighed(NamedTuple):
    """What readings say in directions of their own, under every level of noise."""

    turned: Float[Array, "k n"]
    kept: Float[Array, "l k"]  # of each direction, 1 / (its size + the noise)
    along: Float[Array, " k"]
    weights: Float[Array, " l"]  # of the levels


class _State(NamedTuple):
    found: Found  # without a spread
    shown: tuple[_Weighed, Array]  # what a spread is made of


def solved(question: Posed, family: AbstractSolved) -> Found:
    """From the mean of the law to the most probable system; `family` has the nodes of the spread."""
    rough = question.asking.rough()
    strides = tuple(
        slice(None, None, max((len(fine) - 1) // max(len(own) - 1, 1), 1))
        for fine, own in zip(rough.family.axes.values(), family.axes.values(), strict=True)
    )
    zero = jnp.zeros(rough.size)

    def goes_on(state: _State):
        return (state.found.missed > SETTLED) & (state.found.steps < STEPS)

    def step(state: _State) -> _State:
        z = jnp.asarray(state.found.unknowns)
        return _stepped(question, rough, strides, z, state.found.steps + 1)

    state = jax.lax.while_loop(goes_on, step, _stepped(question, rough, strides, zero, 1))
    return state.found._replace(spread=_spread(*state.shown))


def _stepped(question: Posed, rough: Asking, strides, z: Float[Array, " n"], number) -> _State:
    fields, push = jax.linearize(rough.values, z)
    # Not folded into the solver's constants, which takes the compiler minutes.
    units = jax.lax.optimization_barrier(jnp.eye(z.size))
    tangents = jax.lax.map(push, units, batch_size=128)  # n *grid c
    here, rows = rough.seen(fields), jax.vmap(rough.seen)(tangents).T
    real, base = jnp.asarray(question.is_real), jnp.asarray(question.base)
    whitened = jnp.where(real[:, None], rows / base[:, None], 0.0)
    misses = jnp.where(real, (question.values - here) / base, 0.0) + whitened @ z
    mean, square, excess, said = _weighed(whitened, misses, jnp.sum(real), question.trust)
    tried = z + jnp.asarray(SHARES)[:, None] * (mean - z)
    reached = jax.vmap(rough)(tried)
    left = jnp.where(real, (question.values - reached) / base, 0.0)
    cost = jnp.sum(tried**2, axis=1) + jnp.sum(left**2, axis=1) / square
    best = jnp.argmin(jnp.where(jnp.isfinite(cost), cost, jnp.inf))
    off = reached[best] - here - rows @ (tried[best] - z)
    noise = jnp.sqrt(square) * base + ROUNDING / SETTLED * question.unit
    missed = jnp.sqrt(jnp.sum(jnp.where(real, off / noise, 0.0) ** 2) / jnp.sum(real))
    level = jnp.sqrt(square)
    found = Found(tried[best], jnp.zeros(()), level, missed, excess, jnp.asarray(number))
    return _State(found, (said, tangents[:, *strides]))


def _weighed(rows: Float[Array, "m n"], misses: Float[Array, " m"], count, trust):
    """The mean under the noise that is to be expected, the square of that, how much larger the mean is
    than the law has it, and what is left open."""
    rows, misses, rest = shortened(rows, misses)
    sizes, directions = jnp.linalg.eigh(rows @ rows.T)
    sizes, along = jnp.maximum(sizes, 0.0), directions.T @ misses
    squares, turned = jnp.asarray(SQUARES), directions.T @ rows
    total = sizes + squares[:, None]
    surprise = jnp.sum(along**2 / total, axis=1) + rest / squares
    known = jnp.sum(jnp.log(total), axis=1) + (count - len(rows) + trust) * jnp.log(squares)
    weights = jax.nn.softmax(-(surprise + known) / 2)
    square = jnp.exp(weights @ jnp.log(squares))
    shares = sizes / (sizes + square)
    mean = turned.T @ (along / (sizes + square))
    excess = (mean @ mean - jnp.sum(shares)) / jnp.sqrt(2 * jnp.sum(shares**2) + 1e-12)
    return mean, square, excess, _Weighed(turned, 1 / total, along, weights)


def _spread(said: _Weighed, tangents: Float[Array, "n *grid c"]):
    """The standard deviation of the fields: what the law has less what the readings know, and how far
    the levels of noise that are possible lead apart."""
    flat = tangents.reshape(len(tangents), -1)
    seen = said.turned @ flat  # k nodes
    left = jnp.sum(flat**2, axis=0) - (said.weights @ said.kept) @ seen**2
    means = (said.kept * said.along) @ seen  # l nodes
    apart = said.weights @ (means - said.weights @ means) ** 2
    return jnp.sqrt(jnp.maximum(left, 0.0) + apart).reshape(tangents.shape[1:])


# ------------------------------------------------------------------------------- answers


class AtOnce(eqx.Module):
    """The most probable system behind readings, with its spread at the nodes of the family."""

    family: AbstractSolved
    asking: Asking
    found: Found
    noise: float  # of the readings, in units of their field's spread

    @property
    def is_clean(self) -> bool:
        """Whether no noise shows in the readings beyond what single precision leaves."""
        return self.noise <= CLEAN

    def error(self, sizes: Float[np.ndarray, " c"], factor: float) -> float:
        """The relative error that is to be expected of fields of these sizes, by the spread of this
        answer and the factor that makes 90 % of it."""
        spread = np.asarray(self.found.spread, float).reshape(-1, len(sizes))
        return factor / REACH * float(np.sqrt(np.mean((spread / sizes) ** 2)))

    def at(
        self, points: Float[np.ndarray, "m d"]
    ) -> tuple[Float[np.ndarray, "m c"], Float[np.ndarray, "m c"]]:
        """Fields and standard deviations at points, one a row."""
        with precisely():
            places = _Places.of(self.family, np.asarray(points, float))
            spoken = _spoken(places, self.found.unknowns, self.asking.known, self.found.spread)
            return np.asarray(spoken[0]), np.asarray(spoken[1])


def at_once(
    family: AbstractSolved, readings: Observations, known: dict[str, float]
) -> AtOnce | None:
    """The answer where all coefficients are known; None where readings speak against the law."""
    with precisely():
        question = posed(family, readings, known)
        found = jax.tree.map(np.asarray, _solved(question, family))
    given = bool(np.any(np.asarray(readings.noise)[np.asarray(readings.mask)] > 0))
    noise = float(found.level) * float(np.median((question.base / question.unit)[question.is_real]))
    return AtOnce(family, question.asking, found, noise) if lawful(found, given) else None


def many_at_once(
    family: AbstractSolved, rigs: Rigs
) -> tuple[
    Float[np.ndarray, "k m c"], Float[np.ndarray, "k m c"], Float[np.ndarray, " k"],
    Bool[np.ndarray, " k"],
]:  # fmt: skip
    """Of many systems: fields and standard deviations at the points asked, the noise of their readings in
    units of the field's spread, and where to believe them."""
    with precisely():
        places = _Places.of(family, rigs.at)
        mean, spread, found = _solved_many(posed_many(family, rigs), family, places)
    noise = LEAST * np.asarray(found.level)
    return np.asarray(mean), np.asarray(spread), noise, lawful(found, False)


def lawful(found: Found, noise_is_given: bool) -> Bool[np.ndarray, "*k"]:
    """Where nothing speaks against the law, and steps have settled."""
    most = DOUBTED if noise_is_given else SUSPECT / LEAST
    settled = np.asarray(found.missed) < 1
    usual = (np.asarray(found.excess) < EXCESS) & (np.asarray(found.level) <= most)
    return np.asarray(settled & usual)


class _Places(eqx.Module):
    """Points that are asked: between the nodes of a fine grid, and of the family's own."""

    fine: AbstractSolved
    curved: Stencil
    straight: Stencil

    @staticmethod
    def of(family: AbstractSolved, points: Float[np.ndarray, "m d"]) -> "_Places":
        fine = grid_for(family, points)
        curved = Stencil.of(points, fine.axes, fine.domain)
        return _Places(fine, curved, Stencil.of(points, family.axes, family.domain, order=2))

    def __call__(self, unknowns, known, spread):
        noise = unknowns[: math.prod(self.fine.noise_shape)].reshape(self.fine.noise_shape)
        return self.curved(self.fine.solve(noise, known)), self.straight(spread)


@eqx.filter_jit
def _spoken(places: _Places, unknowns, known, spread):
    return places(unknowns, known, spread)


@eqx.filter_jit
def _solved(question: Posed, family: AbstractSolved) -> Found:
    return solved(question, family)


@eqx.filter_jit
def _solved_many(question: Posed, family: AbstractSolved, places: _Places):
    asking = question.asking

    def one(parts):
        stencil, columns, known, values, base, unit, real = parts
        own = Asking(asking.family, stencil, asking.boxes, columns, known, asking.read_fields)
        found = solved(Posed(own, values, base, unit, real, question.trust), family)
        return *places(found.unknowns, known, found.spread), found._replace(spread=jnp.zeros(()))

    parts = (
        asking.stencil, asking.columns, dict(asking.known), question.values, question.base,
        question.unit, question.is_real,
    )  # fmt: skip
    together = side_by_side(asking.family, jax.default_backend())
    return jax.lax.map(one, jax.tree.map(jnp.asarray, parts), batch_size=together)
