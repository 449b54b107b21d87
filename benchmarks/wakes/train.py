"""One network for wakes at all Reynolds numbers from 40 to 140, which has never seen Re = 100.

    python benchmarks/wakes/train.py wakes --seconds 130

Leaves wakes/wake.safetensors, which `pgt live` opens.
"""

import argparse
import json
import shutil
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

import pgt
from pgt.families import Cycles, Sensing

SPAN, INSTANTS = 2.0, 5  # the past that is read
SENSING = Sensing(
    least=40, most=512, noise=0.1, stations=0.0, hidden=0.0, every=0.8, reads=("u", "v")
)


def main() -> None:
    asked = _arguments()
    began = time.monotonic()
    family = wakes(asked.folder / "train")
    training = pgt.Pretraining(
        seconds=asked.seconds, batch=asked.batch, queries=asked.queries, pool=asked.pool, reuse=4,
        learning_rate=asked.rate, sensing=SENSING,
    )  # fmt: skip
    sizes = pgt.WriterSizes(width=asked.width, blocks=asked.blocks, basis=asked.basis)
    network = pgt.pretrain(family, training, sizes=sizes, progress=False)
    network.save(asked.folder / "wake.safetensors")
    about = {"all seconds": time.monotonic() - began, "sizes": sizes._asdict()}
    (asked.folder / "trained.json").write_text(json.dumps(asdict(network.card) | about, indent=1))
    print(json.dumps(network.card.errors, indent=1))
    print(
        f"{network.card.steps} steps in {network.card.seconds:.0f} s, {about['all seconds']:.0f} s in all"
    )


def wakes(*folders: Path) -> Cycles:
    """The family of the wakes in some folders, the viscosity being 1 / Re."""
    with tempfile.TemporaryDirectory() as together:
        for path in (path for folder in folders for path in folder.glob("*.nc")):
            shutil.copy(path, together)
        return Cycles(together, pgt.NavierStokes2D, ["viscosity"], span=SPAN, instants=INSTANTS)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument(
        "--seconds", type=float, default=130.0, help="of training, without compiling"
    )
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--queries", type=int, default=384)
    parser.add_argument("--pool", type=int, default=512)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--width", type=int, default=96)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--basis", type=int, default=48)
    return parser.parse_args()


if __name__ == "__main__":
    main()
