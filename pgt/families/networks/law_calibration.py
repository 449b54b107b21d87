"""The errors of a family's own law on held-out systems: whether it answers in a network's place."""

import time
from collections.abc import Callable
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.family import AbstractFamily
from pgt.families.fast_map import estimate_many, is_small
from pgt.families.laws.solved import AbstractSolved
from pgt.families.observation_operator import CLEAN_NOISE
from pgt.families.sensing import SensedSystem, SensorBatch

SYSTEMS = 96  # The number of held-out systems for each number of readings and noise level.
FIRST = 4  # The number of systems that show how long an answer takes.
COUNTS = (16, 64, 256)
TYPICAL_COUNT = 64
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
    few(min(TYPICAL_COUNT, most), 0.0)  # compiles
    began = time.process_time()
    is_followed = few(min(TYPICAL_COUNT, most), 0.0) is not None
    if not is_followed or time.process_time() - began > MAX_SECONDS * FIRST:
        return None
    judge, found = _Judge(family, sense_all, *_first(SYSTEMS, keys, systems)), {}
    for count in [n for n in COUNTS if n <= most] or [most]:
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
    count = min(set(law) & set(network), key=lambda n: abs(int(n) - TYPICAL_COUNT))
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
