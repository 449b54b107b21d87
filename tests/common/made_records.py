"""Records as the runner writes them, with numbers of our choice: nothing is trained."""

import dataclasses
import json
from pathlib import Path

import numpy as np

from pgt_bench import experiments, records
from pgt_bench.experiments import has_recipe
from pgt_bench.records import Records
from pgt_bench.runner import record_path


def measures(error: float) -> dict:
    return {
        "relative_l2": {"u": error, "v": 3 * error, "p": 2 * error},
        "overall": {"stacked": error, "mean": 2 * error},
        "p_without_mean": 4 * error,
    }


def made(run: experiments.Run, error: float = 1e-3) -> dict:
    """A record as the runner writes it, with numbers of our choice."""
    steps = [1, 10, 100]
    about = {
        "run": {"method": run.method, "seed": run.seed, "name": run.name},
        "device": "gpu: H", "processor": "P", "cpu_count": 2, "commit": "abc",
        "errors": {"snapshot": measures(error), "volume": measures(error / 2)},
    }  # fmt: skip
    if not has_recipe(run.method):
        return about | {"seconds": {"all": 1.25}}
    terms = ("data", "heat", "bc", "ic")
    curves = {name: [1.0, 0.1, error**2] for name in terms}
    weights = {name: [1.0, 2.0, 3.0] for name in terms}
    return about | {
        "parameters": 12345,
        "cost": {"flops": 2.5e9, "peak_bytes": 3e6},
        "seconds": {"compile": 5.0, "train": 25.0, "polish": 0.0, "all": 26.0},
        "steps": 100,
        "stopped": "budget spent",
        "residual": 2e-6,
        "train_error": 7e-7,
        "sigma_ratio": {"u": 1.1, "v": 0.9} if run.method == "pgt-uw" else None,
        "history": {"step": steps, "held_out": [None] * 3, "loss": curves, "weight": weights},
    }


def store(folder: Path, run: experiments.Run, record: dict) -> None:
    path = record_path(folder, run)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record), encoding="utf-8")


def store_everything(folder: Path) -> Path:
    """A record for every run of every table and seed; seeds differ in the study of kernels alone."""
    shown = Records(folder)
    for table in experiments.TABLES:
        for run in shown.runs(table):
            for seed in records.SEEDS:
                seeded = dataclasses.replace(run, seed=seed)
                store(folder, seeded, made(seeded, 1e-3 * (seed + 1 if table == "gamma" else 1)))
    for run in shown.runs("wake"):
        if run.method == "pgt-anchors":
            fields = dict.fromkeys(("u", "v", "p"), np.zeros((50, 100), np.float32))
            np.savez(shown.path(run).with_suffix(".npz"), **fields)
    return folder
