"""What a trained network is worth, measured on systems that it has not seen."""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from pgt.families.at_once import REACH
from pgt.families.family import AbstractFamily
from pgt.families.judged_law import judged_law, law_kind
from pgt.families.readout import NOISES, precision, tell, written
from pgt.families.sensing import Guide, Nodes, Sensing, look
from pgt.families.weighing import LEAST as GRANTED
from pgt.models.writer import Writer

SYSTEMS = 256  # held out: no training sees their keys
QUERIES = 512
COUNTS = (16, 32, 64, 128, 256, 512)
LEVEL = 0.9
RARE = 0.99  # of the family's systems have a smaller misfit at their readings
NOISE = 0.05
NOISY = (
    1.5  # times the largest noise of training, from which few readings cannot tell what is above
)
HELD_OUT = 2**30  # added to the seed
TRIED, USUAL_COUNT = 64, 64  # systems and readings: they choose what says how noisy readings are


class LawRow(NamedTuple):
    """Median and worst tenth of the relative error, and what a standard deviation is multiplied with."""

    median: float
    tenth: float
    factor: float


@dataclass(frozen=True)
class Card:
    """Family, ranges, how it was trained, and its error on held-out systems.

    `errors` has for each number of sensors the median and the worst tenth of the relative error, clean
    and with 5 % noise; `factors` what the stated spread is multiplied with for bands that hold 90 % of
    such fields; `told` the ranges of what the network was told of a system; `misfit` how far hardly any
    system of the family is from its own readings, in units of their spread; `noise` by what answers go:
    as the encoder tells, or by the evidence of the readings (readout.py), whichever was better. `law`
    has errors and factors of the family's own law and solver (at_once.py) by number and kind of readings
    (judged_law.py); None where the family has none or the network is better; `granted` the noise that
    readings without any were taken to have, which files of before do not say.
    """

    family: str
    ranges: dict[str, tuple[float, float]]
    told: list[tuple[float, float]]  # of the dimensionless numbers
    sensing: Sensing
    kernel: str
    steps: int
    seconds: float
    seed: int
    made: dict
    errors: dict[str, dict[str, float]]
    factors: dict[str, dict[str, float]]
    misfit: float
    noise: str = "told"
    licence: str = "as the library's"
    law: dict[str, dict[str, float]] | None = None
    granted: float = 1e-5

    def by_law(self, count: int, is_clean: bool, is_still: bool) -> LawRow:
        """What the law leaves of so many readings, and how wide its bands are."""
        kind, rows = law_kind(is_clean, is_still), self.law or {}
        if any(f"{kind}_factor" not in row for row in rows.values()):  # a file of before
            kind = law_kind(is_clean, False)
        found = LawRow(
            *(
                _between(count, {n: row[f"{kind}_{of}"] for n, row in rows.items()})
                for of in LawRow._fields
            )
        )
        if not is_clean or self.granted == GRANTED:
            return found
        # What clean readings leave open goes with the noise that is taken for granted, or less.
        more = found.factor * self.granted / GRANTED
        return found._replace(factor=min(more, max(found.factor, REACH)))

    def noisy(self, noise: float) -> list[str]:
        """That the law is farther from its readings than noise would have it, in units of the spread."""
        most = self.sensing.noise
        if noise <= NOISY * most:
            return []
        return [
            f"no system of the family comes nearer to the readings than {100 * noise:.0f} % of their "
            f"spread, in training their noise was up to {100 * most:.0f} %"
        ]

    def factor(self, count: int, noise: float = 0.0) -> float:
        """That of so many readings, between those that were tried."""
        return _between(count, {n: row[_kind(noise)] for n, row in self.factors.items()})

    def by_network(self, count: int, off: float) -> tuple[float, float]:
        """Factor and error of a network's answer that is so far from its own readings: where they are
        farther than the family's, the truth is no nearer than they are, and bands are as much wider."""
        factor, error = self.factor(count, off), self.error(count, off)[0]
        stated = error if off <= self.misfit else max(error, off)
        return factor * stated / error, stated

    def error(self, count: int, noise: float = 0.0) -> tuple[float, float]:
        """Median and worst tenth of the relative error that so many readings leave."""
        median, tenth = (
            _between(count, {n: row[f"{_kind(noise)}_{of}"] for n, row in self.errors.items()})
            for of in ("median", "tenth")
        )
        return median, tenth


def _kind(noise: float) -> str:
    """By how far the field is from its readings, in units of their spread."""
    return "clean" if noise < NOISE / 2 else "noisy"


def _between(count: int, known: dict[str, float]) -> float:
    """A positive number by that of readings, on logarithmic scales."""
    rows = sorted((int(number), value) for number, value in known.items())
    numbers, values = np.log(np.maximum(np.array(rows).T, 1e-300))
    return float(np.exp(np.interp(np.log(max(count, 1)), numbers, values)))


def judged(
    writer: Writer,
    family: AbstractFamily,
    sensing: Sensing,
    guide: Guide,
    seed: int,
    shown: AbstractFamily | None = None,
) -> dict:
    """Errors, factors and misfit by number of sensors, on systems held out; and what it is told of
    these and of the systems that it was `shown`, where they are others."""
    root = jax.random.key(seed + HELD_OUT)
    keys = jax.random.split(root, SYSTEMS)
    nodes = Nodes.of(family)
    systems = _systems(family, keys)
    look_at = partial(_seen, family=family, nodes=nodes, sensing=sensing, guide=guide)
    which = _better(writer, partial(look_at, keys[:TRIED], _first(systems)), sensing.most)
    errors, factors, misfits, told = {}, {}, [], []
    for count in [n for n in COUNTS if n <= sensing.most] or [sensing.most]:
        row, factor = {}, {}
        for name, noise in (("clean", 0.0), ("noisy", NOISE)):
            exactly = jnp.asarray(count), jnp.asarray(noise)
            seen = look_at(keys, systems, exactly)
            error, ratio, misfit = scored(writer, seen, which)
            row |= {
                f"{name}_median": float(np.median(error)),
                f"{name}_tenth": float(np.quantile(error, 0.9)),
            }
            factor[name] = float(np.quantile(ratio, LEVEL))
            misfits.append(misfit)
            told.append(seen.readings.numbers)
            if shown is not None and shown is not family:
                told.append(look_at(keys, _systems(shown, keys), exactly).readings.numbers)
        errors[str(count)] = row
        factors[str(count)] = factor
    numbers = np.concatenate(told)
    return {
        "errors": errors, "factors": factors,
        "told": list(zip(numbers.min(0).tolist(), numbers.max(0).tolist(), strict=True)),
        "misfit": float(np.quantile(np.concatenate(misfits), RARE)),
        "noise": which, "law": judged_law(family, systems, look_at, keys, sensing.most, errors),
        "granted": GRANTED,
    }  # fmt: skip


@eqx.filter_jit
def _systems(family: AbstractFamily, keys):
    return jax.vmap(family.draw)(keys)


def _first(systems):
    return jax.tree.map(lambda a: a[:TRIED], systems)


def _better(writer: Writer, look_at, most: int) -> str:
    """Whichever noise leaves less error, clean and noisy readings counting alike."""
    looks = [
        look_at((jnp.asarray(min(USUAL_COUNT, most)), jnp.asarray(noise))) for noise in (0.0, NOISE)
    ]
    left = {
        noise: float(np.prod([np.median(scored(writer, seen, noise)[0]) for seen in looks]))
        for noise in NOISES
    }
    return min(left, key=lambda noise: left[noise])


@eqx.filter_jit
def _seen(keys, systems, exactly, family, nodes, sensing, guide):
    def one(key, system):
        return look(key, system, family, nodes, sensing, QUERIES, guide, exactly)

    return jax.vmap(one)(keys, systems)


def scored(writer: Writer, seen, noise: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of systems as they were looked at: error, misses in units of the stated spread, misfit."""
    told = tell(writer, seen.readings)
    with precision(noise):
        errors, ratios, misfits = map(np.asarray, _scored(writer, told, seen, noise))
    return errors, ratios.ravel(), misfits


@eqx.filter_jit
def _scored(writer, told, seen, noise):
    return jax.lax.map(
        lambda one: _scores(writer, one[0], one[1], noise), (told, seen), batch_size=32
    )


def _scores(writer: Writer, told, seen, noise: str):
    found = written(writer, told, seen.readings, noise)
    misses = jax.vmap(partial(writer.decode, found))(seen.points) - seen.truth
    spread = jax.vmap(partial(writer.spread, found))(seen.points)
    error = jnp.sqrt(jnp.mean((misses / seen.size) ** 2))
    return error, jnp.abs(misses) / spread, misfit(writer, found, seen.readings)


def misfit(writer: Writer, written, readings) -> Float[Array, ""]:
    """How far the answer is from its own readings, in units of their spread."""
    misses = jax.vmap(partial(writer.decode, written))(readings.points) - readings.values
    misses = jnp.where(readings.mask, misses, 0.0)
    return jnp.sqrt(jnp.sum(misses**2) / jnp.maximum(jnp.sum(readings.mask), 1))
