"""The card of a trained network: its errors, and those of the law of its family, on held-out systems."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.family import AbstractFamily
from pgt.families.laws.solved import AbstractSolved
from pgt.families.map_estimate import estimate_many, is_small
from pgt.families.networks.readout import (
    FamilyNetwork,
    field_posterior,
    mean_and_spread_at,
    misfit,
    readout_precision,
    summarize,
)
from pgt.families.observation_operator import CLEAN_NOISE
from pgt.families.sensing import KernelGuide, NodeGrid, SensedSystem, Sensing, SensorBatch, sense

LAW_SYSTEMS = 96  # The number of held-out systems for each number of readings and noise level.
FIRST = 4  # The number of systems that show how long an answer takes.
LAW_COUNTS = (16, 64, 256)
LAW_COUNT = 64
MIN_FOR_FACTOR = 12  # The fewest systems of one kind from which it has factors of its own.
KINDS, NOISES = ("clean", "noisy"), (0.0, 0.05)
LEVEL = 0.9
MIN_LAWFUL = 0.75  # Where fewer systems obey their own law, the search does not converge.
MAX_SECONDS = 1.0  # The processor seconds of one answer above which the network answers.
MAX_CLEAN_NOISE = 2 * CLEAN_NOISE  # Noise, in units of the spread, below which readings are clean.


def calibrate_law(
    family: AbstractFamily,
    systems,
    sense_all: Callable[..., SensedSystem],
    keys,
    most: int,
    errors: dict,
) -> dict[str, dict[str, float]] | None:
    """Errors and factors by number of readings; None where the network's errors are smaller."""
    if not isinstance(family, AbstractSolved) or family.unidentifiable or not is_small(family):
        return None
    few = _Judge(family, sense_all, *_first(FIRST, keys, systems))
    few(min(LAW_COUNT, most), 0.0)  # compiles
    began = time.process_time()
    is_followed = few(min(LAW_COUNT, most), 0.0) is not None
    if not is_followed or time.process_time() - began > MAX_SECONDS * FIRST:
        return None
    judge, found = _Judge(family, sense_all, *_first(LAW_SYSTEMS, keys, systems)), {}
    for count in [n for n in LAW_COUNTS if n <= most] or [most]:
        runs = [judge(count, noise) for noise in NOISES]
        if None in runs:
            return None
        found[str(count)] = _row(*(np.concatenate(parts) for parts in zip(*runs, strict=True)))
    return found if _is_better(found, errors) else None


def reading_kind(is_clean: bool, has_stations: bool) -> str:
    """The kind of readings that have an error of their own: a few stations determine less of a field
    than as many scattered readings."""
    kind = KINDS[0] if is_clean else KINDS[1]
    return f"still_{kind}" if has_stations else kind


def _row(errors, ratios, is_clean, has_stations) -> dict[str, float]:
    """By kind of readings; noise is that estimated, because few readings cannot tell the true one."""
    found = {}
    for clean, stations in product((True, False), (False, True)):
        alike = is_clean == clean
        kinds = alike & (has_stations == stations), alike
        chosen = next((kind for kind in kinds if kind.sum() >= MIN_FOR_FACTOR), np.ones_like(alike))
        name = reading_kind(clean, stations)
        found |= {
            f"{name}_median": float(np.median(errors[chosen])),
            f"{name}_tenth": float(np.quantile(errors[chosen], 0.9)),
            f"{name}_factor": float(np.quantile(ratios[chosen], LEVEL)),
        }
    return found


def _is_better(law: dict, network: dict) -> bool:
    """At the number of readings next to the typical one, clean and noisy ones counting alike."""
    count = min(set(law) & set(network), key=lambda n: abs(int(n) - LAW_COUNT))
    ratios = [law[count][f"{k}_median"] / network[count][f"{k}_median"] for k in KINDS]
    return float(np.prod(ratios)) < 1


def _first(count: int, keys, systems):
    return keys[:count], jax.tree.map(lambda a: a[:count], systems)


class _Judge:
    """Asks the law about some systems."""

    def __init__(self, family: AbstractSolved, sense_all, keys, systems):
        self.family, self.sense_all, self.keys, self.systems = family, sense_all, keys, systems
        mesh = np.meshgrid(*family.axes.values(), indexing="ij")
        self.nodes = np.stack([m.ravel() for m in mesh], axis=-1)

    def __call__(self, count: int, noise: float) -> tuple[np.ndarray, ...] | None:
        """By system: errors, misses in units of the stated spread, whether readings are clean and from
        stations; None where the search does not converge."""
        sensed = self.sense_all(self.keys, self.systems, (jnp.asarray(count), jnp.asarray(noise)))
        batch = self._batch(sensed)
        found = estimate_many(self.family, batch)
        lawful = found.is_lawful
        if lawful.mean() < MIN_LAWFUL:
            return None
        truth = np.asarray(self.systems.values, float).reshape(found.mean.shape)
        misses, size = np.abs(found.mean - truth)[lawful], truth.std(axis=1)[lawful]
        errors = np.sqrt(np.mean((misses / size[:, None]) ** 2, axis=(1, 2)))
        ratios = misses / np.maximum(found.spread[lawful], 1e-12 * size[:, None])
        is_clean = found.noise[lawful] <= MAX_CLEAN_NOISE
        return errors, ratios, is_clean, np.array(batch.has_stations(self.family.domain))[lawful]

    def _batch(self, sensed: SensedSystem) -> SensorBatch:
        """The readings in the family's own units."""
        scaling, readings, domain = sensed.scaling, sensed.readings, self.family.domain
        middle, half = (domain.lower + domain.upper) / 2, domain.extent / 2
        points = middle + half * np.asarray(readings.points, float)
        values = jax.vmap(lambda s, v: s.to_physical(v))(scaling, readings.values)
        known = {name: np.asarray(of, float) for name, of in self.systems.coefficients.items()}
        mask = np.asarray(readings.mask)
        values = np.where(mask, np.asarray(values, float), 0.0)
        return SensorBatch(points, values, mask, known, self.nodes)


# ------------------------------------------------------------------------------- the card


SYSTEMS = 256  # The number of held-out systems, whose keys no training uses.
QUERIES = 512
COUNTS = (16, 32, 64, 128, 256, 512)
MISFIT_QUANTILE = 0.99
NOISE = 0.05
# The law is doubted where noise exceeds the largest of training by more than few readings can overstate.
NOISE_MARGIN = 1.5
HELD_OUT = 2**30  # This offset of the seed separates held-out systems from those of training.
# The numbers of systems and readings that choose the source of the noise level.
TRIED, TYPICAL_COUNT = 64, 64


class LawError(NamedTuple):
    """Median and worst tenth of the relative error, and the factor of the spread in bands of 90 %."""

    median: float
    tenth: float
    factor: float


@dataclass(frozen=True)
class Card:
    """Family, ranges, training, and errors on held-out systems.

    `errors` has by number of readings the median and the worst tenth of the relative error, clean and
    with 5 % noise; `factors` the factors of the stated spread for bands of 90 %; `number_ranges` the
    ranges of the dimensionless numbers; `misfit` the distance from their readings, in units of the
    spread, that 99 % of the family's systems stay below; `noise_source` the origin of the noise level
    (readout.py). `law` has errors and factors of the family's law by number and kind of readings
    (`calibrate_law`); None where there is no law or the network is better.
    """

    family: str
    ranges: dict[str, tuple[float, float]]
    number_ranges: list[tuple[float, float]]
    sensing: Sensing
    kernel: str
    steps: int
    seconds: float
    seed: int
    provenance: dict
    errors: dict[str, dict[str, float]]
    factors: dict[str, dict[str, float]]
    misfit: float
    noise_source: str = "encoder"
    license: str = "as the library's"
    law: dict[str, dict[str, float]] | None = None

    def law_error(self, count: int, is_clean: bool, has_stations: bool) -> LawError:
        """The error of the law and the width of its bands for so many readings."""
        kind, rows = reading_kind(is_clean, has_stations), self.law or {}
        return LawError(
            *(
                _interpolated(count, {n: row[f"{kind}_{of}"] for n, row in rows.items()})
                for of in LawError._fields
            )
        )

    def noise_doubts(self, noise: float) -> list[str]:
        """A sentence where noise, in units of the spread, is larger than in training."""
        if noise <= NOISE_MARGIN * self.sensing.max_noise:
            return []
        return [
            f"no system of the family comes nearer to the readings than {100 * noise:.0f} % of their "
            f"spread, in training their noise was up to {100 * self.sensing.max_noise:.0f} %"
        ]

    def factor(self, count: int, noise: float = 0.0) -> float:
        """The factor of the network's spread for so many readings."""
        return _interpolated(count, {n: row[_kind(noise)] for n, row in self.factors.items()})

    def error(self, count: int, noise: float = 0.0) -> tuple[float, float]:
        """Median and worst tenth of the network's relative error for so many readings."""
        median, tenth = (
            _interpolated(count, {n: row[f"{_kind(noise)}_{of}"] for n, row in self.errors.items()})
            for of in ("median", "tenth")
        )
        return median, tenth

    def network_error(self, count: int, off: float) -> tuple[float, float]:
        """Factor and error of a network's field with the misfit `off`: a misfit above that of the
        family is a lower bound of the error, and widens the bands as much."""
        factor, error = self.factor(count, off), self.error(count, off)[0]
        stated = error if off <= self.misfit else max(error, off)
        return factor * stated / error, stated


def _kind(noise: float) -> str:
    return "clean" if noise < NOISE / 2 else "noisy"


def _interpolated(count: int, known: dict[str, float]) -> float:
    """A positive quantity between numbers of readings, on logarithmic scales."""
    rows = sorted((int(number), value) for number, value in known.items())
    numbers, values = np.log(np.maximum(np.array(rows).T, 1e-300))
    return float(np.exp(np.interp(np.log(max(count, 1)), numbers, values)))


# ------------------------------------------------------------------------------- held-out systems


def evaluate(
    network: FamilyNetwork,
    family: AbstractFamily,
    sensing: Sensing,
    guide: KernelGuide,
    seed: int,
    trained_on: AbstractFamily | None = None,
) -> dict:
    """The measured fields of a card. Ranges of numbers include those of the systems of `trained_on`."""
    keys = jax.random.split(jax.random.key(seed + HELD_OUT), SYSTEMS)
    systems, nodes, most = _systems(family, keys), NodeGrid.of(family), sensing.max_readings
    sense_all = partial(_sense_all, family=family, nodes=nodes, sensing=sensing, guide=guide)
    first = jax.tree.map(lambda a: a[:TRIED], systems)
    source = _better_source(network, partial(sense_all, keys[:TRIED], first), most)
    errors, factors, misfits, numbers = {}, {}, [], []
    for count in [n for n in COUNTS if n <= most] or [most]:
        row, factor = {}, {}
        for name, noise in (("clean", 0.0), ("noisy", NOISE)):
            exactly = jnp.asarray(count), jnp.asarray(noise)
            sensed = sense_all(keys, systems, exactly)
            error, ratio, off = score(network, sensed, source)
            row[f"{name}_median"] = float(np.median(error))
            row[f"{name}_tenth"] = float(np.quantile(error, 0.9))
            factor[name] = float(np.quantile(ratio, LEVEL))
            misfits.append(off)
            numbers.append(sensed.readings.numbers)
            if trained_on is not None and trained_on is not family:
                others = sense_all(keys, _systems(trained_on, keys), exactly)
                numbers.append(others.readings.numbers)
        errors[str(count)], factors[str(count)] = row, factor
    table = np.concatenate(numbers)
    return {
        "errors": errors, "factors": factors,
        "number_ranges": list(zip(table.min(0).tolist(), table.max(0).tolist(), strict=True)),
        "misfit": float(np.quantile(np.concatenate(misfits), MISFIT_QUANTILE)),
        "noise_source": source,
        "law": calibrate_law(family, systems, sense_all, keys, most, errors),
    }  # fmt: skip


@eqx.filter_jit
def _systems(family: AbstractFamily, keys):
    return jax.vmap(family.draw)(keys)


@eqx.filter_jit
def _sense_all(keys, systems, exactly, family, nodes, sensing, guide):
    def one(key, system):
        return sense(key, system, family, nodes, sensing, QUERIES, guide, exactly)

    return jax.vmap(one)(keys, systems)


def _better_source(network: FamilyNetwork, sense_all, most: int) -> str:
    """The source of the noise level with the smaller error; clean and noisy readings count alike."""
    count = jnp.asarray(min(TYPICAL_COUNT, most))
    sensed = [sense_all((count, jnp.asarray(noise))) for noise in (0.0, NOISE)]
    errors = {
        source: float(np.prod([np.median(score(network, one, source)[0]) for one in sensed]))
        for source in network.noise_sources
    }
    return min(errors, key=lambda source: errors[source])


def score(network: FamilyNetwork, sensed, source: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of sensed systems: errors, misses in units of the stated spread, misfits."""
    summaries = summarize(network, sensed.readings)
    with readout_precision(source):
        errors, ratios, misfits = map(np.asarray, _scores(network, summaries, sensed, source))
    return errors, ratios.ravel(), misfits


@eqx.filter_jit
def _scores(network, summaries, sensed, source):
    def one(parts):
        summary, sensed = parts
        found = field_posterior(network, summary, sensed.readings, source)
        mean, spread = mean_and_spread_at(network, found, sensed.points)
        misses = mean - sensed.truth
        error = jnp.sqrt(jnp.mean((misses / sensed.size) ** 2))
        return error, jnp.abs(misses) / spread, misfit(network, found, sensed.readings)

    return jax.lax.map(one, (summaries, sensed), batch_size=32)
