"""What the law of a family is worth at once: whether it answers in a network's place."""

import time
from collections.abc import Callable
from itertools import product

import jax
import jax.numpy as jnp
import numpy as np

from pgt.families.at_once import CLEAN, is_small, many_at_once
from pgt.families.family import AbstractFamily
from pgt.families.rigs import Rigs
from pgt.families.sensing import Seen
from pgt.families.solved import AbstractSolved

FIRST = 4  # systems that show whether the others are worth their time
LEAST, MOST = 48, 192  # systems in all: as many as there is time for
SECONDS = 60.0  # of a processor, for each number of readings and noise
COUNTS = (16, 64, 256)
USUAL = 64
ENOUGH = 12  # systems of one kind, for bands of their own
KINDS, NOISES = ("clean", "noisy"), (0.0, 0.05)
LEVEL = 0.9
MOSTLY = 0.75  # of the systems: where fewer obey their own law, the solver cannot be followed
PATIENCE = 1.0  # seconds of a processor that one answer may take

Look = Callable[..., Seen]


def judged_law(
    family: AbstractFamily, systems, look_at: Look, keys, most: int, errors: dict
) -> dict[str, dict[str, float]] | None:
    """Errors and factors by number of readings; None where the network's errors are smaller."""
    if not isinstance(family, AbstractSolved) or family.forgets or not is_small(family):
        return None
    few = _Judge(family, look_at, *_first(FIRST, keys, systems))
    few(min(USUAL, most), 0.0)
    began = time.process_time()
    believed = few(min(USUAL, most), 0.0) is not None
    took = (time.process_time() - began) / FIRST
    if not believed or took > PATIENCE:
        return None
    count = int(np.clip(SECONDS / max(took, 1e-9), LEAST, MOST))
    judge, found = _Judge(family, look_at, *_first(count, keys, systems)), {}
    for count in [n for n in COUNTS if n <= most] or [most]:
        runs = [judge(count, noise) for noise in NOISES]
        if None in runs:
            return None
        found[str(count)] = _row(*(np.concatenate(parts) for parts in zip(*runs, strict=True)))
    return found if _is_better(found, errors) else None


def law_kind(is_clean: bool, is_still: bool) -> str:
    """Whether noise shows in the readings, and whether their sensors stand still: what few places say
    of the rest is less than what as many readings anywhere do."""
    kind = KINDS[0] if is_clean else KINDS[1]
    return f"still_{kind}" if is_still else kind


def _row(errors, ratios, is_clean, is_still) -> dict[str, float]:
    """By kind of readings; by whether noise shows, since whether there is any few cannot tell."""
    found = {}
    for clean, still in product((True, False), (False, True)):
        alike = is_clean == clean
        chosen = alike & (is_still == still)
        chosen = next(
            (which for which in (chosen, alike) if which.sum() >= ENOUGH), np.ones_like(alike)
        )
        kind = law_kind(clean, still)
        found |= {
            f"{kind}_median": float(np.median(errors[chosen])),
            f"{kind}_tenth": float(np.quantile(errors[chosen], 0.9)),
            f"{kind}_factor": float(np.quantile(ratios[chosen], LEVEL)),
        }
    return found


def _is_better(law: dict, network: dict) -> bool:
    """At the number of readings that is next to the usual one, clean and noisy ones counting alike."""
    count = min(set(law) & set(network), key=lambda n: abs(int(n) - USUAL))
    ratios = [law[count][f"{k}_median"] / network[count][f"{k}_median"] for k in KINDS]
    return float(np.prod(ratios)) < 1


def _first(count: int, keys, systems):
    return keys[:count], jax.tree.map(lambda a: a[:count], systems)


class _Judge:
    """Asks the law about some systems."""

    def __init__(self, family: AbstractSolved, look_at: Look, keys, systems):
        self.family, self.look_at, self.keys, self.systems = family, look_at, keys, systems
        mesh = np.meshgrid(*family.axes.values(), indexing="ij")
        self.nodes = np.stack([m.ravel() for m in mesh], axis=-1)

    def __call__(self, count: int, noise: float) -> tuple[np.ndarray, ...] | None:
        """Errors, misses in units of the stated spread, where readings show no noise and where sensors
        stand still, system by system; None where the law is not to be believed."""
        seen = self.look_at(self.keys, self.systems, (jnp.asarray(count), jnp.asarray(noise)))
        rigs = self._rigs(seen)
        mean, spread, found, lawful, _ = many_at_once(self.family, rigs)
        if lawful.mean() < MOSTLY:
            return None
        truth = np.asarray(self.systems.values, float).reshape(mean.shape)
        misses, size = np.abs(mean - truth)[lawful], truth.std(axis=1)[lawful]
        errors = np.sqrt(np.mean((misses / size[:, None]) ** 2, axis=(1, 2)))
        ratios = misses / np.maximum(spread[lawful], 1e-12 * size[:, None])
        clean = found[lawful] <= CLEAN
        return errors, ratios, clean, np.array(rigs.still(self.family.domain))[lawful]

    def _rigs(self, seen: Seen) -> Rigs:
        """What was seen, in the family's own units."""
        scaling, readings, domain = seen.scaling, seen.readings, self.family.domain
        middle, half = (domain.lower + domain.upper) / 2, domain.extent / 2
        points = middle + half * np.asarray(readings.points, float)
        values = np.asarray(
            jax.vmap(lambda s, v: s.to_physical(v))(scaling, readings.values), float
        )
        known = {name: np.asarray(of, float) for name, of in self.systems.coefficients.items()}
        mask = np.asarray(readings.mask)
        return Rigs(points, np.where(mask, values, 0.0), mask, known, self.nodes)
