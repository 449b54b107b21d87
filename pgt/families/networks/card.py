"""The card of a trained network: its errors, and those of its family's law, on held-out systems.

`evaluate` measures both for several numbers of readings, clean and noisy. A user's question then gets the
error and the width of bands that systems with as many readings have.
"""

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
FIRST = 4  # The number of systems from which the time of an answer is measured.
LAW_COUNTS = (16, 64, 256)  # The numbers of readings with which the law is evaluated.
LAW_COUNT = 64  # The number of readings with which law and network are compared.
MIN_FOR_FACTOR = (
    12  # A kind of readings has its own errors and factors if it has this many systems.
)
KINDS, NOISES = ("clean", "noisy"), (0.0, 0.05)
LEVEL = 0.9  # The probability of a band.
MIN_LAWFUL = 0.75  # If a smaller share of systems obeys the law, the search does not converge.
MAX_SECONDS = 1.0  # If an answer of the law takes more processor seconds, the network answers.
MAX_CLEAN_NOISE = 2 * CLEAN_NOISE  # Readings with less noise, in units of the spread, are clean.


def calibrate_law(
    family: AbstractFamily,
    systems,
    sense_all: Callable[..., SensedSystem],
    keys,
    most: int,
    errors: dict,
) -> dict[str, dict[str, float]] | None:
    """The errors and band factors of the law by number of readings.

    The result is None if the family has no usable law, if the law is too slow, or if the network's errors
    are smaller.
    """
    if not isinstance(family, AbstractSolved) or family.unidentifiable or not is_small(family):
        return None
    trial = _Judge(family, sense_all, *_first(FIRST, keys, systems))
    trial(min(LAW_COUNT, most), 0.0)  # compiles
    start = time.process_time()
    is_followed = trial(min(LAW_COUNT, most), 0.0) is not None
    if not is_followed or time.process_time() - start > MAX_SECONDS * FIRST:
        return None
    judge, rows = _Judge(family, sense_all, *_first(LAW_SYSTEMS, keys, systems)), {}
    for count in [n for n in LAW_COUNTS if n <= most] or [most]:
        runs = [judge(count, noise) for noise in NOISES]
        if None in runs:
            return None
        rows[str(count)] = _row(*(np.concatenate(parts) for parts in zip(*runs, strict=True)))
    return rows if _is_better(rows, errors) else None


def reading_kind(is_clean: bool, has_stations: bool) -> str:
    """The name of the kind of readings, each of which has its own error.

    Readings of a few stations determine less of a field than equally many scattered ones.
    """
    kind = KINDS[0] if is_clean else KINDS[1]
    return f"still_{kind}" if has_stations else kind


def _row(errors, ratios, is_clean, has_stations) -> dict[str, float]:
    """The errors and factors by kind of readings.

    A kind follows from the estimated noise, because the true noise is unknown in use.
    """
    row = {}
    for clean, stations in product((True, False), (False, True)):
        has_same_noise = is_clean == clean
        kinds = has_same_noise & (has_stations == stations), has_same_noise
        systems = next(
            (kind for kind in kinds if kind.sum() >= MIN_FOR_FACTOR), np.ones_like(has_same_noise)
        )
        name = reading_kind(clean, stations)
        row |= {
            f"{name}_median": float(np.median(errors[systems])),
            f"{name}_tenth": float(np.quantile(errors[systems], 0.9)),
            f"{name}_factor": float(np.quantile(ratios[systems], LEVEL)),
        }
    return row


def _is_better(law: dict, network: dict) -> bool:
    """Whether the law has smaller median errors than the network, at the typical number of readings.

    The ratios for clean and for noisy readings are multiplied.
    """
    count = min(set(law) & set(network), key=lambda n: abs(int(n) - LAW_COUNT))
    ratios = [law[count][f"{k}_median"] / network[count][f"{k}_median"] for k in KINDS]
    return float(np.prod(ratios)) < 1


def _first(count: int, keys, systems):
    """The first keys and systems."""
    return keys[:count], jax.tree.map(lambda a: a[:count], systems)


class _Judge:
    """Evaluates the law on some systems with known fields."""

    def __init__(self, family: AbstractSolved, sense_all, keys, systems):
        self.family, self.sense_all, self.keys, self.systems = family, sense_all, keys, systems
        mesh = np.meshgrid(*family.axes.values(), indexing="ij")
        self.nodes = np.stack([m.ravel() for m in mesh], axis=-1)

    def __call__(self, count: int, noise: float) -> tuple[np.ndarray, ...] | None:
        """The errors of the systems, the misses in units of the stated spread, and two flags.

        The flags say for each system whether its readings are clean and whether they are from stations.
        The result is None if the search does not converge.
        """
        sensed = self.sense_all(self.keys, self.systems, (jnp.asarray(count), jnp.asarray(noise)))
        batch = self._batch(sensed)
        estimates = estimate_many(self.family, batch)
        is_lawful = estimates.is_lawful
        if is_lawful.mean() < MIN_LAWFUL:
            return None
        truth = np.asarray(self.systems.values, float).reshape(estimates.mean.shape)
        misses, size = np.abs(estimates.mean - truth)[is_lawful], truth.std(axis=1)[is_lawful]
        errors = np.sqrt(np.mean((misses / size[:, None]) ** 2, axis=(1, 2)))
        ratios = misses / np.maximum(estimates.spread[is_lawful], 1e-12 * size[:, None])
        is_clean = estimates.noise[is_lawful] <= MAX_CLEAN_NOISE
        return errors, ratios, is_clean, np.array(batch.has_stations(self.family.domain))[is_lawful]

    def _batch(self, sensed: SensedSystem) -> SensorBatch:
        """The readings as a batch in the family's units."""
        scaling, readings, domain = sensed.scaling, sensed.readings, self.family.domain
        middle, half = (domain.lower + domain.upper) / 2, domain.extent / 2
        points = middle + half * np.asarray(readings.points, float)
        values = jax.vmap(lambda s, v: s.to_physical(v))(scaling, readings.values)
        known = {name: np.asarray(of, float) for name, of in self.systems.coefficients.items()}
        mask = np.asarray(readings.mask)
        values = np.where(mask, np.asarray(values, float), 0.0)
        return SensorBatch(points, values, mask, known, self.nodes)


# ------------------------------------------------------------------------------- the card


SYSTEMS = 256  # The number of held-out systems; no training uses their keys.
QUERIES = 512
COUNTS = (16, 32, 64, 128, 256, 512)
MISFIT_QUANTILE = 0.99
NOISE = 0.05
# The law is doubted where the estimated noise exceeds the largest of training by more than this factor,
# which allows for the error of an estimate from few readings.
NOISE_MARGIN = 1.5
HELD_OUT = 2**30  # This offset of the seed separates held-out systems from those of training.
# The numbers of systems and of readings with which the source of the noise level is chosen.
TRIED, TYPICAL_COUNT = 64, 64


class LawError(NamedTuple):
    """The median and 90 % quantile of the relative error, and the factor of the spread for 90 % bands."""

    median: float
    tenth: float
    factor: float


@dataclass(frozen=True)
class Card:
    """The card of a network: family, ranges, training, and errors on held-out systems.

    `errors` holds, by number of readings, the median and the 90 % quantile of the relative error, for
    clean readings and with 5 % noise. `factors` holds the factors of the stated spread for 90 % bands.
    `number_ranges` holds the ranges of the dimensionless numbers. `misfit` is the distance from the
    readings, in units of the spread, below which 99 % of the family's systems stay. `noise_source` is the
    origin of the noise level (readout.py). `law` holds the errors and factors of the family's law by
    number and kind of readings (`calibrate_law`), or None if there is no law or the network is better.
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
        """The error of the law, and the factor of its bands, for `count` readings of one kind."""
        kind, rows = reading_kind(is_clean, has_stations), self.law or {}
        return LawError(
            *(
                _interpolated(count, {n: row[f"{kind}_{of}"] for n, row in rows.items()})
                for of in LawError._fields
            )
        )

    def noise_doubts(self, noise: float) -> list[str]:
        """A sentence if the noise, in units of the spread, is larger than in training."""
        if noise <= NOISE_MARGIN * self.sensing.max_noise:
            return []
        return [
            f"no system of the family comes nearer to the readings than {100 * noise:.0f} % of their "
            f"spread, in training their noise was up to {100 * self.sensing.max_noise:.0f} %"
        ]

    def factor(self, count: int, noise: float = 0.0) -> float:
        """The factor of the network's spread for 90 % bands with `count` readings."""
        return _interpolated(count, {n: row[_kind(noise)] for n, row in self.factors.items()})

    def error(self, count: int, noise: float = 0.0) -> tuple[float, float]:
        """The median and the 90 % quantile of the network's relative error with `count` readings."""
        median, tenth = (
            _interpolated(count, {n: row[f"{_kind(noise)}_{of}"] for n, row in self.errors.items()})
            for of in ("median", "tenth")
        )
        return median, tenth

    def network_error(self, count: int, off: float) -> tuple[float, float]:
        """The band factor and the error of a network's field with the misfit `off`.

        A misfit above that of the family is a lower bound of the error, and widens the bands as much.
        """
        factor, error = self.factor(count, off), self.error(count, off)[0]
        stated = error if off <= self.misfit else max(error, off)
        return factor * stated / error, stated


def _kind(noise: float) -> str:
    return "clean" if noise < NOISE / 2 else "noisy"


def _interpolated(count: int, known: dict[str, float]) -> float:
    """A positive quantity at `count` readings, interpolated in the logarithms of counts and values."""
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
    """The measured fields of a card, as keyword arguments.

    The ranges of dimensionless numbers include those of the systems of `trained_on`.
    """
    keys = jax.random.split(jax.random.key(seed + HELD_OUT), SYSTEMS)
    systems, nodes, max_readings = _systems(family, keys), NodeGrid.of(family), sensing.max_readings
    sense_all = partial(_sense_all, family=family, nodes=nodes, sensing=sensing, guide=guide)
    first_systems = jax.tree.map(lambda a: a[:TRIED], systems)
    source = _better_source(network, partial(sense_all, keys[:TRIED], first_systems), max_readings)
    errors, factors, misfits, numbers = {}, {}, [], []
    for count in [n for n in COUNTS if n <= max_readings] or [max_readings]:
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
                sensed_others = sense_all(keys, _systems(trained_on, keys), exactly)
                numbers.append(sensed_others.readings.numbers)
        errors[str(count)], factors[str(count)] = row, factor
    table = np.concatenate(numbers)
    return {
        "errors": errors, "factors": factors,
        "number_ranges": list(zip(table.min(0).tolist(), table.max(0).tolist(), strict=True)),
        "misfit": float(np.quantile(np.concatenate(misfits), MISFIT_QUANTILE)),
        "noise_source": source,
        "law": calibrate_law(family, systems, sense_all, keys, max_readings, errors),
    }  # fmt: skip


@eqx.filter_jit
def _systems(family: AbstractFamily, keys):
    return jax.vmap(family.draw)(keys)


@eqx.filter_jit
def _sense_all(keys, systems, exactly, family, nodes, sensing, guide):
    def sense_one(key, system):
        return sense(key, system, family, nodes, sensing, QUERIES, guide, exactly)

    return jax.vmap(sense_one)(keys, systems)


def _better_source(network: FamilyNetwork, sense_all, most: int) -> str:
    """The source of the noise level with the smaller error, multiplied over clean and noisy readings."""
    count = jnp.asarray(min(TYPICAL_COUNT, most))
    sensed = [sense_all((count, jnp.asarray(noise))) for noise in (0.0, NOISE)]
    errors = {
        source: float(np.prod([np.median(score(network, one, source)[0]) for one in sensed]))
        for source in network.noise_sources
    }
    return min(errors, key=lambda source: errors[source])


def score(network: FamilyNetwork, sensed, source: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The errors of sensed systems, their misses in units of the stated spread, and their misfits."""
    summaries = summarize(network, sensed.readings)
    with readout_precision(source):
        errors, ratios, misfits = map(np.asarray, _scores(network, summaries, sensed, source))
    return errors, ratios.ravel(), misfits


@eqx.filter_jit
def _scores(network, summaries, sensed, source):
    def score_one(parts):
        summary, sensed = parts
        field = field_posterior(network, summary, sensed.readings, source)
        mean, spread = mean_and_spread_at(network, field, sensed.points)
        misses = mean - sensed.truth
        error = jnp.sqrt(jnp.mean((misses / sensed.size) ** 2))
        return error, jnp.abs(misses) / spread, misfit(network, field, sensed.readings)

    return jax.lax.map(score_one, (summaries, sensed), batch_size=32)
