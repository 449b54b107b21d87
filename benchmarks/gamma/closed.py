"""What needs no training, on the same systems and readings: a Gaussian process, and the floor.

    python benchmarks/gamma/closed.py benchmarks/results/gamma

* gp: knows no equation. Kernel, lengths and noise are chosen by evidence, once for a family and a number
  of readings, on systems of the training set.
* floor: the mean of the field given the readings under the family's own law: the covariance is that of
  many draws with the system's coefficients. No method that is right on average over systems does better.

Minutes on two cores.
"""

import argparse
import json
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np
from networks import Place
from run import ASKED, COUNTS, NOISES, TEST_SENSORS, Cell, guide_of
from scipy.linalg import cho_factor, cho_solve
from systems import (
    FAMILIES,
    Systems,
    World,
    drawn_for_test,
    look,
    systems_of_test,
    training_systems,
    world,
)

import pgt
from pgt.core.provenance import provenance

LENGTHS, SIGMAS = (0.15, 0.3, 0.6, 1.2), (1e-3, 0.05)
CHOOSING = 8  # systems of the training set that choose
DRAWS, WAVES = 512, 16
LEAST_NOISE = 1e-4  # relative: what single precision leaves of clean readings


class Asked(NamedTuple):
    """One system as the networks meet it, in double precision, without padding."""

    read: np.ndarray  # unit coordinates of the readings
    values: np.ndarray
    read_places: np.ndarray
    points: np.ndarray  # of what is asked
    places: np.ndarray
    truth: np.ndarray
    size: float

    def error(self, field: np.ndarray) -> float:
        return float(np.sqrt(np.mean((field - self.truth) ** 2)) / self.size)


def asked_of(key: int, systems: Systems, of: World, count: int, noise: float) -> list[Asked]:
    """All systems, seen by the sensors of this key."""
    seen, read_places, places = _looks(jax.random.key(key), systems, of, count, noise)
    columns = (
        seen.readings.points[:, :count], seen.readings.values[:, :count, 0],
        read_places[:, :count], seen.points, places, seen.truth[..., 0], seen.size[:, 0],
    )  # fmt: skip
    return [Asked(*row) for row in zip(*(np.asarray(c, float) for c in columns), strict=True)]


@jax.jit
def _looks(key, systems, of, count, noise):
    guide, place = (
        guide_of(Cell("many", "writer", "none", "both", "heat")),
        jax.vmap(Place(of.ring)),
    )

    def one(key, system):
        seen = look(key, system, of, guide, ASKED, exactly=(count, noise))
        return seen, place(seen.readings.points), place(seen.points)

    return jax.vmap(one)(jax.random.split(key, len(systems.values)), systems)


# ----------------------------------------------------------------------- Gaussian process


def covariance(a: np.ndarray, b: np.ndarray, choice) -> np.ndarray:
    smooth, length, duration, _ = choice
    gap = (a[:, None] - b) / np.array([length, length, duration])
    squared = np.sum(gap**2, axis=-1)
    if smooth:
        return np.exp(-squared / 2)
    r = np.sqrt(5 * squared)
    return (1 + r + r**2 / 3) * np.exp(-r)


def evidence(asked: Asked, choice) -> float:
    factor = _factor(asked, choice)
    fit = asked.values @ cho_solve(factor, asked.values)
    return -0.5 * fit - np.sum(np.log(np.diag(factor[0])))


def _factor(asked: Asked, choice):
    own = covariance(asked.read_places, asked.read_places, choice)
    return cho_factor(own + (choice[-1] ** 2 + 1e-8) * np.eye(len(own)), lower=True)


def gaussian_process(asked: Asked, choice) -> float:
    weights = cho_solve(_factor(asked, choice), asked.values)
    return asked.error(covariance(asked.places, asked.read_places, choice) @ weights)


def chosen(systems: list[Asked]):
    """By the evidence of all of them."""
    choices = list(product((True, False), LENGTHS, LENGTHS, SIGMAS))
    return max(choices, key=lambda choice: sum(evidence(asked, choice) for asked in systems))


# ------------------------------------------------------------------------------- the floor


def floor(asked: Asked, of: World, law: np.ndarray, field: np.ndarray, noise: float) -> float:
    """`law`: rows whose squares sum to the covariance, times the draws; `field`: the system's own."""
    read, points = (_node(p, of) for p in (asked.read, asked.points))
    scale = field.std() / asked.size
    mean = np.mean(field[points] - scale * asked.truth)
    sigma = max(noise, LEAST_NOISE) * field.std()
    at = law[:, read].astype(float)
    own = at.T @ at / DRAWS + sigma**2 * np.eye(len(read))
    weights = cho_solve(cho_factor(own, lower=True), mean + scale * asked.values)
    found = law[:, points].T @ (at @ weights) / DRAWS
    return asked.error((found - mean) / scale)


def _node(points: np.ndarray, of: World) -> np.ndarray:
    x, t = (np.unique(np.asarray(of.points)[:, k]) for k in (0, 1))
    nearest = (np.argmin(np.abs(points[:, k, None] - axis), 1) for k, axis in enumerate((x, t)))
    return np.ravel_multi_index(tuple(nearest), (len(x), len(t)))


def laws(family: str, count: int, outside: bool) -> list[np.ndarray]:
    """Draws with the coefficients of every test system."""
    own = pgt.families.get(family)
    keys = jax.random.split(jax.random.key(11), DRAWS)
    drawn = drawn_for_test(family, count, outside).coefficients
    many = jax.jit(jax.vmap(own.draw, in_axes=(0, None)))
    rows = [{name: value[k] for name, value in drawn.items()} for k in range(count)]
    return [_compact(np.asarray(many(keys, row).values, float).reshape(DRAWS, -1)) for row in rows]


def _compact(draws: np.ndarray) -> np.ndarray:
    """Fewer rows with the same covariance: the states of these families have no more than 16 waves."""
    _, vectors = np.linalg.eigh(draws @ draws.T)
    return (vectors[:, -WAVES:].T @ draws).astype(np.float32)


# --------------------------------------------------------------------------------- records


def of_family(family: str, count: int) -> list[dict]:
    of = world(family)
    errors: dict[str, dict[str, dict]] = {"gp": {}, "floor": {}}
    choices = {pair: chosen(_choosing(family, of, *pair)) for pair in product(COUNTS, NOISES)}
    for outside in (False, True):
        systems, law = systems_of_test(family, count, outside), laws(family, count, outside)
        for number, noise in product(COUNTS, NOISES):
            name = f"{'outside' if outside else 'inside'}, {number}, {noise:g}"
            found = asked_of(TEST_SENSORS, systems, of, number, noise)
            fields = np.asarray(systems.values, float)
            by = partial(gaussian_process, choice=choices[number, noise])
            errors["gp"][name] = _summary([by(asked) for asked in found])
            rows = zip(found, law, fields, strict=True)
            errors["floor"][name] = _summary([floor(a, of, one, f, noise) for a, one, f in rows])
    return [
        Cell("many", name, "none", "both", family)._asdict()
        | {"errors": table, "seeds": [0], "test": count, "chosen": list(choices.values())}
        for name, table in errors.items()
    ]


def _choosing(family: str, of: World, number: int, noise: float) -> list[Asked]:
    return asked_of(5, training_systems(family, CHOOSING), of, number, noise)


def _summary(errors: list[float]) -> dict:
    return {"median": [float(np.median(errors))], "tenth": [float(np.quantile(errors, 0.9))]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--test", type=int, default=128)
    parser.add_argument("--family", nargs="+", default=list(FAMILIES), choices=FAMILIES)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    for family in asked.family:
        for record in of_family(family, asked.test):
            path = asked.out / f"closed-{record['network']}-{family}.json"
            path.write_text(json.dumps(record | provenance(), indent=1) + "\n")
            shown = {k: round(100 * v["median"][0], 2) for k, v in record["errors"].items()}
            print(family, record["network"], shown, flush=True)


if __name__ == "__main__":
    main()
