"""How the networks that come with the library were trained: on a graphics card, one process a family.

    python benchmarks/pretrain_shipped.py OUT --seconds 100
    python benchmarks/pretrain_shipped.py OUT --judge

The first trains all families at once, beside each other on one card; compiling comes on top of the
seconds. The second, which a processor can do, measures what lies in OUT on systems held out and writes
that into the cards. `--precisions` instead times a step with products of the encoder in several ones.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import jax

import pgt
from pgt.families.networks.card import evaluate
from pgt.families.networks.pretraining import advance_pool, initial_state
from pgt.families.sensing import KernelGuide

pretraining = sys.modules["pgt.families.networks.pretraining"]
SIZES = {
    "advection_diffusion": pgt.families.HyperSirenSizes(basis=32, modes=10),
    "heat": pgt.families.HyperSirenSizes(basis=32, modes=10),
    "wave": pgt.families.HyperSirenSizes(basis=32, modes=10, swings=True),
    "burgers": pgt.families.HyperSirenSizes(width=128, blocks=4, basis=80),
}
SENSING = pgt.families.Sensing(max_readings=128)
PRECISIONS = ("highest", "tensorfloat32", "bfloat16")
NOT_YET = {"errors": {}, "factors": {}, "misfit": 1.0, "told": []}


def main() -> None:
    asked = _arguments()
    asked.out.mkdir(parents=True, exist_ok=True)
    names = asked.only or [name for name in SIZES if name != "burgers"]
    if asked.precisions:
        print(json.dumps({name: steps_a_second(names[0], name) for name in PRECISIONS}))
    elif asked.judge:
        for name in names:
            judge(asked.out / f"{name}.safetensors")
    elif len(names) == 1:
        train(names[0], asked.seconds, asked.out)
    else:
        _beside_each_other(names, asked)


def _beside_each_other(names: list[str], asked) -> None:
    share = os.environ | {"XLA_PYTHON_CLIENT_MEM_FRACTION": f"{0.9 / len(names):.2f}"}
    common = [sys.executable, __file__, str(asked.out), "--seconds", str(asked.seconds)]
    running = [subprocess.Popen([*common, "--only", name], env=share) for name in names]
    for process in running:
        process.wait()


def recipe(seconds: float) -> pgt.families.Pretraining:
    return pgt.families.Pretraining(
        seconds=seconds, learning_rate=2e-3, batch=128, queries=192, sensing=SENSING
    )


def train(name: str, seconds: float, out: Path) -> None:
    began = time.time()
    # What it is worth is measured later: where it is trained, every second counts.
    pretraining.judged = lambda *_: NOT_YET
    network = pgt.families.pretrain(name, recipe(seconds), sizes=SIZES[name], progress=False)
    network.save(out / f"{name}.safetensors")
    found = {"family": name, "steps": network.card.steps, "seconds": round(time.time() - began)}
    writer = network.network
    found |= {
        "fading": _told(writer.modes.fading), "swinging": _told(writer.modes.swinging),
        "pace": _told(writer.pace),
    }  # fmt: skip
    (out / f"{name}.trained.json").write_text(json.dumps(found))
    print(json.dumps(found), flush=True)


def _told(part) -> list:
    return [leaf.tolist() for leaf in jax.tree.leaves(part)]


def judge(path: Path) -> None:
    network = pgt.families.Pretrained.load(path)
    card = network.card
    guide = KernelGuide(card.kernel)
    found = evaluate(network.network, network.family, card.sensing, guide, card.seed)
    pgt.families.Pretrained(network.network, network.family, replace(card, **found)).save(path)
    print(path.stem, json.dumps(found["errors"]), flush=True)


def steps_a_second(name: str, precision: str, pools: int = 3) -> float:
    """Of training; the readout is solved in full precision whatever the encoder has."""
    family, training = pgt.families.get(name), recipe(1.0)
    state = initial_state(family, SIZES[name], 0)
    arrays, rate, took = (state.network, state.moments, state.key), jax.numpy.asarray(1e-4), []
    with jax.default_matmul_precision(precision):
        for _ in range(pools + 1):
            began = time.perf_counter()
            *arrays, loss = advance_pool(*arrays, rate, family, training, 0)
            loss.block_until_ready()
            took.append(time.perf_counter() - began)
    return training.steps_of_a_pool / min(took[1:])


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--seconds", type=float, default=100.0, help="of training, a family")
    parser.add_argument("--only", action="append", default=[], choices=SIZES)
    parser.add_argument("--judge", action="store_true")
    parser.add_argument("--precisions", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
