"""The wake at Re = 100 from others alone: in our simulation, and in the packaged one.

    python benchmarks/wakes/judge.py wakes --systems 128

100 sensors stand at random nodes and read u and v at one instant and four before it, within two units of
time. Scored is the field at that instant: relative L2 error of u, v and p (that of p without its mean,
which nobody can know), median and worst tenth: by the patterns of the training wakes in closed form, and
by the network where train.py has made one. Leaves wakes/patterns.safetensors and wakes/wakes.json.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np
import reference
from train import INSTANTS, SENSING, SPAN, wakes

from pgt.families import Pretrained
from pgt.families.patterns import Patterns, learn_patterns
from pgt.ground.provenance import provenance

SENSORS, NOISE = 100, 0.05
COUNT = 64  # patterns


def main() -> None:
    asked = _arguments()
    test = wakes(asked.folder / "test")
    # With the wake at Re = 100 in the file, for the live page, but without any pattern from it.
    every = wakes(asked.folder / "train", asked.folder / "test")
    patterns = learn_patterns(every, COUNT, SENSING.reads, without={"viscosity": 0.01})
    patterns.save(asked.folder / "patterns.safetensors")
    answering: dict[str, Any] = {"patterns": patterns}
    if (asked.folder / "wake.safetensors").is_file():
        answering["network"] = Pretrained.load(asked.folder / "wake.safetensors")
    record = {
        "systems": asked.systems, "sensors": SENSORS, "instants": INSTANTS, "span": SPAN,
        "patterns": COUNT, "left out": patterns.judged._asdict(), "cases": {},
    }  # fmt: skip
    for name, (x, y, runs) in cases(test, asked.systems).items():
        record["cases"][name] = {kind: judged(who, x, y, runs) for kind, who in answering.items()}
        print(name, json.dumps(record["cases"][name], indent=1), flush=True)
    record["milliseconds"] = {kind: milliseconds(who, test) for kind, who in answering.items()}
    print("one answer:", record["milliseconds"])
    simulated = json.loads((asked.folder / "simulated.json").read_text())
    text = json.dumps(record | {"simulated": simulated} | provenance(), indent=1) + "\n"
    (asked.folder / "wakes.json").write_text(text)


def cases(test, systems: int) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Nodes along x and y, and runs (system, x, y, t, field)."""
    axes, values = reference.packaged()
    return {
        "our simulation": (test.axes["x"], test.axes["y"], own_runs(test, systems)),
        "the packaged simulation": (axes["x"], axes["y"], packaged_runs(axes, values, systems)),
    }


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


def judged(who: Pretrained | Patterns, x, y, runs: np.ndarray) -> dict:
    """Errors, clean and with noise."""
    answers = in_closed_form if isinstance(who, Patterns) else at_once
    return {
        label: summary(runs, answers(who, x, y, *sensed(runs, noise)))
        for label, noise in (("clean", 0.0), ("noise", NOISE))
    }


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


def in_closed_form(patterns: Patterns, x, y, places, read) -> np.ndarray:
    """The same from patterns, one system after the other."""
    plane, at = _nodes(x, y)
    rows, values = _readings(plane, places, read)
    pairs = zip(rows, values, strict=True)
    return np.stack([patterns.answer(*pair, {"viscosity": 0.01}, at).mean for pair in pairs])


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


def milliseconds(who: Pretrained | Patterns, family) -> float:
    """Of one answer with its band at all nodes of the last instant: the fastest of some, as the others
    wait for other programs."""
    runs = own_runs(family, 1)
    places, read = sensed(runs, 0.0)
    plane, at = _nodes(family.axes["x"], family.axes["y"])
    points, values = _readings(plane, places, read)
    took = []
    for _ in range(24):
        began = time.perf_counter()
        who.answer(points[0], values[0], {"viscosity": 0.01}, at)
        took.append(time.perf_counter() - began)
    return 1e3 * min(took)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--systems", type=int, default=128)
    return parser.parse_args()


if __name__ == "__main__":
    main()
