r"""The most probable system behind readings at once: a few steps in one compiled program.

The same question as that of conditioning.py, for families of few unknowns, answered in milliseconds: all
derivatives of the fields are pushed through the rough solver side by side, what they say of the readings
is solved for all levels of noise together, and a step goes as far as it makes things better. Nothing of
it leaves the device between steps, and many systems can be asked about in one call.

A step takes the level of noise that is to be expected (weighing.py). Where steps have ended, the law is
compared with others: spreads count what readings say against it (beyond.py).
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from pgt.data.observations import Observations
from pgt.families.asking import Asking, grid_for, precisely
from pgt.families.beyond import Beyond, compared
from pgt.families.posing import Posed, posed, posed_many, smooth_in
from pgt.families.rigs import Rigs
from pgt.families.solved import AbstractSolved
from pgt.families.stencil import Stencil
from pgt.families.weighing import LEAST, weighed

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


class Found(NamedTuple):
    """The most probable unknowns, and the standard deviation of the fields at the family's nodes.

    `level` is the noise in units of that taken for granted, `missed` how far the last step's
    linearisation was from the readings in units of the noise, `excess` by how many standard deviations
    the state is larger than the law's, `beyond` what readings say against the law.
    """

    unknowns: Float[Array | np.ndarray, "*k n"]
    spread: Float[Array | np.ndarray, "..."]
    level: Float[Array | np.ndarray, "*k"]
    missed: Float[Array | np.ndarray, "*k"]
    excess: Float[Array | np.ndarray, "*k"]
    steps: Array | np.ndarray
    beyond: Beyond | None = None


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


# ------------------------------------------------------------------------------- the program


class _Shown(NamedTuple):
    """What a spread is made of: by the last step."""

    rows: Float[Array, "m n"]
    misses: Float[Array, " m"]
    tangents: Float[Array, "n *grid c"]
    off: Float[Array, ""]  # how far readings are from being linear, in units of the field


class _State(NamedTuple):
    found: Found  # without a spread
    shown: _Shown


def solved(question: Posed, family: AbstractSolved) -> Found:
    """From the mean of the law to the most probable system; `family` has the nodes of the spread."""
    rough = question.asking.rough()
    strides, zero = _strides(rough.family, family), jnp.zeros(rough.size)

    def goes_on(state: _State):
        return (state.found.missed > SETTLED) & (state.found.steps < STEPS)

    def step(state: _State) -> _State:
        z = jnp.asarray(state.found.unknowns)
        return _stepped(question, rough, strides, z, state.found.steps + 1)

    state = jax.lax.while_loop(goes_on, step, _stepped(question, rough, strides, zero, 1))
    beyond, spread, _ = _doubted(question, rough, strides, state)
    return state.found._replace(spread=spread, beyond=beyond)


def _strides(fine: AbstractSolved, family: AbstractSolved) -> tuple[slice, ...]:
    """Where the nodes of a family lie among more of them."""
    return tuple(
        slice(None, None, max((len(many) - 1) // max(len(own) - 1, 1), 1))
        for many, own in zip(fine.axes.values(), family.axes.values(), strict=True)
    )


@eqx.filter_jit
def against(question: Posed, family: AbstractSolved, unknowns: Float[Array, " n"]):
    """What readings say against a law, around unknowns that were found by another way, and how far they
    move the fields at the family's nodes."""
    rough = question.asking.rough()
    strides = _strides(rough.family, family)
    state = _stepped(question, rough, strides, unknowns, 1)
    beyond, _, apart = _doubted(question, rough, strides, state)
    return beyond, apart


def _stepped(question: Posed, rough: Asking, strides, z: Float[Array, " n"], number) -> _State:
    fields, push = jax.linearize(rough.values, z)
    # Not folded into the solver's constants, which takes the compiler minutes.
    units = jax.lax.optimization_barrier(jnp.eye(z.size))
    tangents = jax.lax.map(push, units, batch_size=128)  # n *grid c
    here, rows = rough.seen(fields), jax.vmap(rough.seen)(tangents).T
    real, base = jnp.asarray(question.is_real), jnp.asarray(question.base)
    whitened = jnp.where(real[:, None], rows / base[:, None], 0.0)
    misses = jnp.where(real, (question.values - here) / base, 0.0) + whitened @ z
    mean, square, excess, _ = weighed(whitened, misses, jnp.sum(real), question.trust)
    tried = z + jnp.asarray(SHARES)[:, None] * (mean - z)
    reached = jax.vmap(rough)(tried)
    left = jnp.where(real, (question.values - reached) / base, 0.0)
    cost = jnp.sum(tried**2, axis=1) + jnp.sum(left**2, axis=1) / square
    best = jnp.argmin(jnp.where(jnp.isfinite(cost), cost, jnp.inf))
    off = reached[best] - here - rows @ (tried[best] - z)
    noise = jnp.sqrt(square) * base + ROUNDING / SETTLED * question.unit
    missed = _rms(off / noise, real)
    level = jnp.sqrt(square)
    found = Found(tried[best], jnp.zeros(()), level, missed, excess, jnp.asarray(number))
    curved = _rms(off / jnp.asarray(question.unit), real)
    return _State(found, _Shown(whitened, misses, tangents[:, *strides], curved))


def _doubted(question: Posed, rough: Asking, strides, state: _State):
    """What readings say against the law, the spread that counts it, and how much of it that is."""
    z, shown = jnp.asarray(state.found.unknowns), state.shown
    real, unit = jnp.asarray(question.is_real), jnp.asarray(question.unit)
    logs = jnp.zeros(len(rough.known))
    here, push = jax.linearize(lambda logs: rough.values(z, logs), logs)
    # What is asked of the accurate solver was found by the rough one, which met the readings.
    is_same = question.asking.family is rough.family
    left = jnp.zeros_like(here) if is_same else question.asking.values(z) - here
    error = jnp.hypot(shown.off, _rms(rough.seen(left) / unit, real))
    base = jnp.hypot(question.base, error * unit)

    def seen(fields):
        rows = jax.vmap(rough.seen)(fields).T
        return jnp.where(real[:, None], rows / base[:, None], 0.0)

    moved, smooth = jax.vmap(push)(jnp.eye(logs.size)), smooth_in(question)
    share = question.base / base
    beyond, spread, apart = compared(
        shown.rows * share[:, None], seen(moved), seen(smooth), shown.misses * share,
        (shown.tangents, moved[:, *strides], smooth[:, *strides]),
        jnp.std(here, axis=tuple(range(here.ndim - 1))), jnp.sum(real), question.trust,
    )  # fmt: skip
    return beyond, jnp.hypot(spread, left[strides]), apart


def _rms(values: Float[Array, " m"], real) -> Float[Array, ""]:
    return jnp.sqrt(jnp.sum(jnp.where(real, values, 0.0) ** 2) / jnp.sum(real))


# ------------------------------------------------------------------------------- answers


class AtOnce(eqx.Module):
    """The most probable system behind readings, with its spread at the nodes of the family."""

    family: AbstractSolved
    asking: Asking
    found: Found
    noise: float  # of the readings, in units of their field's spread

    is_given: bool  # whether somebody said how noisy they are

    @property
    def is_clean(self) -> bool:
        """Whether no noise shows in the readings beyond what single precision leaves."""
        return self.noise <= CLEAN and not self.is_given

    @property
    def doubts(self) -> list[str]:
        """What readings say against the law, in words."""
        known = {name: float(value) for name, value in self.asking.known.items()}
        return [] if self.found.beyond is None else self.found.beyond.doubts(known)

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
    return judged_at_once(family, readings, known)[0]


def judged_at_once(
    family: AbstractSolved, readings: Observations, known: dict[str, float]
) -> tuple[AtOnce | None, list[str]]:
    """The same, and where there is none what readings have against the law, in words."""
    with precisely():
        question = posed(family, readings, known)
        found = jax.tree.map(np.asarray, _solved(question, family))
    given = bool(np.any(np.asarray(readings.noise)[np.asarray(readings.mask)] > 0))
    noise = float(found.level) * float(np.median((question.base / question.unit)[question.is_real]))
    if not lawful(found, given):
        return None, _against(found, given, noise)
    return AtOnce(family, question.asking, found, noise, given), []


class Many(NamedTuple):
    """Of many systems: fields and standard deviations at the points asked, the noise of their readings in
    units of the field's spread, where to believe them, and what readings have against the law."""

    mean: Float[np.ndarray, "k m c"]
    spread: Float[np.ndarray, "k m c"]
    noise: Float[np.ndarray, " k"]
    lawful: Bool[np.ndarray, " k"]
    doubts: list[list[str]]


def many_at_once(family: AbstractSolved, rigs: Rigs) -> Many:
    """The answers for many systems, none of whose noise is known."""
    with precisely():
        places = _Places.of(family, rigs.at)
        mean, spread, found = _solved_many(posed_many(family, rigs), family, places)
    found = jax.tree.map(np.asarray, found)
    noise, fine, doubts = LEAST * found.level, lawful(found, False), []
    for k in range(len(mean)):
        one = jax.tree.map(lambda a, k=k: a[k], found)
        known = {name: float(of[k]) for name, of in rigs.coefficients.items()}
        said = one.beyond.doubts(known) if fine[k] else _against(one, False, noise[k])
        doubts.append(said)
    return Many(np.asarray(mean), np.asarray(spread), noise, fine, doubts)


def lawful(found: Found, noise_is_given: bool) -> Bool[np.ndarray, "*k"]:
    """Where nothing speaks against the law, and steps have settled."""
    most = DOUBTED if noise_is_given else SUSPECT / LEAST
    settled = np.asarray(found.missed) < 1
    usual = (np.asarray(found.excess) < EXCESS) & (np.asarray(found.level) <= most)
    return np.asarray(settled & usual)


def _against(found: Found, noise_is_given: bool, noise: float) -> list[str]:
    """Why the law does not answer, where that is not the solver's fault alone."""
    said, level = [], float(found.level)
    if noise_is_given and level > DOUBTED:
        said.append(
            f"the readings are {level:.1f} times as far from all systems of the family as their noise "
            "has it"
        )
    elif noise > SUSPECT:
        said.append(
            f"no system of the family comes nearer to the readings than {100 * noise:.0f} % of their "
            "spread"
        )
    if float(found.excess) >= EXCESS:
        said.append("the state behind the readings is not one that the family draws")
    return said


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
