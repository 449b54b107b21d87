"""The wake at Re = 100 by a network that has not seen it: in our simulation, and in the packaged one.

    python benchmarks/wakes/judge.py wakes --systems 128

100 sensors stand at random nodes and read u and v at one instant and four before it, within two units of
time. Scored is the field at that instant: relative L2 error of u, v and p (that of p without its mean,
which nobody can know), median and worst tenth. Beside it the mean of a Gaussian whose mean and covariance
are those of the training systems at the same nodes: closed form, no network. Leaves wakes/judged.json.
"""

import argparse
import json
import time
from pathlib import Path

import jax
import numpy as np
import reference
from train import INSTANTS, SPAN, wakes

from pgt.families import Pretrained
from pgt.families.harmonics import waves
from pgt.ground.provenance import provenance

SENSORS, NOISE, PHASES = 100, 0.05, 48
LEAST = 1e-3  # σ of the Gaussian's readings, in shares of their spread


def main() -> None:
    asked = _arguments()
    network = Pretrained.load(asked.network or asked.folder / "wake.safetensors")
    train, test = wakes(asked.folder / "train"), wakes(asked.folder / "test")
    axes, packaged = reference.packaged()
    cases = {"our simulation": (test, own_runs(test, asked.systems)),
             "the packaged simulation": (axes, packaged_runs(axes, packaged, asked.systems))}  # fmt: skip
    record = {
        "systems": asked.systems,
        "sensors": SENSORS,
        "instants": INSTANTS,
        "span": SPAN,
        "cases": {},
    }
    for name, (where, runs) in cases.items():
        nodes = where.axes if where is test else {a: axes[a] for a in "xy"}
        record["cases"][name] = judged(network, train, nodes["x"], nodes["y"], runs)
        print(name, json.dumps(record["cases"][name], indent=1), flush=True)
    record["milliseconds"] = milliseconds(network, test)
    print("one answer:", record["milliseconds"])
    text = json.dumps(record | provenance(), indent=1) + "\n"
    (asked.folder / "judged.json").write_text(text)


def own_runs(family, systems: int) -> np.ndarray:
    """(system, x, y, t, field) at random phases."""
    keys = jax.random.split(jax.random.key(10**6), systems)
    return np.asarray(jax.vmap(family.draw)(keys).values, float)


def packaged_runs(axes: dict, values: np.ndarray, systems: int) -> np.ndarray:
    """Windows of the packaged simulation, spread evenly over it."""
    step = round(SPAN / (INSTANTS - 1) / (axes["t"][1] - axes["t"][0]))
    starts = np.linspace(0, len(values) - 1 - step * (INSTANTS - 1), systems).astype(int)
    windows = [values[s : s + step * (INSTANTS - 1) + 1 : step] for s in starts]
    return np.moveaxis(np.stack(windows), 1, 3)


def judged(network: Pretrained, train, x, y, runs: np.ndarray) -> dict:
    """Errors of the network and of the Gaussian, clean and with noise."""
    law = gaussian(train, x, y)
    found = {}
    for label, noise in (("clean", 0.0), ("noise", NOISE)):
        places, read = sensed(runs, noise)
        found[label] = summary(runs, at_once(network, x, y, places, read))
        found[label]["gaussian"] = summary(runs, by_gaussian(law, places, read, noise))
    return found


def sensed(runs: np.ndarray, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Which nodes are read (system, sensor), and u, v there (system, sensor, t, field)."""
    drawn = np.random.default_rng(0)
    nodes = runs.reshape(len(runs), -1, *runs.shape[3:])
    places = np.stack([drawn.choice(nodes.shape[1], SENSORS, replace=False) for _ in runs])
    read = np.take_along_axis(nodes, places[:, :, None, None], axis=1)[..., :2]
    spread = nodes[..., :2].std(axis=(1, 2), keepdims=True)
    return places, read + noise * spread * drawn.normal(size=read.shape)


def at_once(network: Pretrained, x, y, places, read) -> np.ndarray:
    """The network's fields at the last instant (system, node, field), many systems a call."""
    points, at = _nodes(x, y)
    found = []
    for some in np.array_split(np.arange(len(read)), max(len(read) // 16, 1)):
        rows, values = _readings(points, places[some], read[some])
        viscosity = {"viscosity": np.full(len(some), 0.01)}
        found.append(network.answers(rows, values, viscosity, at).mean)
    return np.concatenate(found)


def _nodes(x, y) -> tuple[np.ndarray, np.ndarray]:
    """Of the plane, and the same at the last instant."""
    plane = np.stack([m.ravel() for m in np.meshgrid(x, y, indexing="ij")], axis=-1)
    plane = np.clip(plane, [1.0, -2.0], [8.0, 2.0])
    return plane, np.append(plane, np.full((len(plane), 1), SPAN), axis=1)


def _readings(plane, places, read):
    """Rows (system, reading, axis), and values with a pressure that nobody read."""
    k, n, instants, _ = read.shape
    where = np.broadcast_to(plane[places][:, :, None], (k, n, instants, 2))
    when = np.broadcast_to(np.linspace(0, SPAN, instants)[:, None], (k, n, instants, 1))
    points = np.concatenate([where, when], axis=-1).reshape(k, -1, 3)
    values = np.concatenate([read, np.full((*read.shape[:3], 1), np.nan)], axis=-1)
    return points, values.reshape(k, -1, 3)


def gaussian(train, x, y) -> tuple[np.ndarray, np.ndarray]:
    """The mean of the training systems (node, t, field), and what they add to it."""
    axes = train.axes
    turns = (
        np.arange(PHASES)[:, None] / PHASES + axes["t"] / np.asarray(train.periods)[:, None, None]
    )
    systems = []
    for modes, turn in zip(np.asarray(train.values, float), turns, strict=True):
        placed = reference.placed(modes, axes["x"], axes["y"], x, y)
        along = waves(turn.ravel(), len(modes) // 2, np).reshape(*turn.shape, -1)
        systems.append(np.einsum("stm,mxyc->sxytc", along, placed))
    drawn = np.concatenate(systems).reshape(
        len(systems) * PHASES, len(x) * len(y), len(axes["t"]), 3
    )
    mean = drawn.mean(axis=0)
    return mean, (drawn - mean) / len(drawn) ** 0.5


def by_gaussian(law, places, read, noise: float) -> np.ndarray:
    mean, ways = law
    found = []
    for where, values in zip(places, read, strict=True):
        rows = ways[:, where, :, :2].reshape(len(ways), -1)
        misses = (values - mean[where][..., :2]).ravel()
        sigma = np.hypot(LEAST, noise) * values.std()
        inner = rows @ rows.T + sigma**2 * np.eye(len(ways))
        amounts = np.linalg.solve(inner, rows @ misses)
        found.append(mean[:, -1] + np.tensordot(amounts, ways[:, :, -1], 1))
    return np.stack(found)


def summary(runs: np.ndarray, fields: np.ndarray) -> dict:
    """By field, median and worst tenth."""
    truth = runs[:, :, :, -1].reshape(fields.shape).copy()
    fields = fields.copy()
    for each in (truth, fields):
        each[..., 2] -= each[..., 2].mean(axis=1, keepdims=True)
    norms = np.linalg.norm(fields - truth, axis=1) / np.linalg.norm(truth, axis=1)
    both = np.linalg.norm((fields - truth)[..., :2], axis=(1, 2))
    errors = dict(zip("uvp", norms.T, strict=True))
    errors["u, v"] = both / np.linalg.norm(truth[..., :2], axis=(1, 2))
    return {name: {"median": float(np.median(e)), "tenth": float(np.quantile(e, 0.9))}
            for name, e in errors.items()}  # fmt: skip


def milliseconds(network: Pretrained, family) -> float:
    """Of one answer with its band at all nodes of the last instant, everything compiled."""
    runs = own_runs(family, 1)
    places, read = sensed(runs, 0.0)
    plane, at = _nodes(family.axes["x"], family.axes["y"])
    points, values = _readings(plane, places, read)
    took = []
    for _ in range(24):
        began = time.perf_counter()
        network.answer(points[0], values[0], {"viscosity": 0.01}, at)
        took.append(time.perf_counter() - began)
    return 1e3 * float(np.median(took[4:]))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--systems", type=int, default=128)
    parser.add_argument(
        "--network", type=Path, help="wake.safetensors of the folder, if none is named"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
