"""The numbers of the README: every case here runs from one command and leaves one JSON file.

    python benchmarks/core.py list
    python benchmarks/core.py heat heat-free three-modes three-modes-noise
    python benchmarks/core.py wake --out somewhere/

Absolute seconds mean something only beside the device they were measured on, which the file names.
"""

import argparse
import json
import os
import platform
import subprocess
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import pgt
from pgt.physics import Dirichlet, Heat, Initial, NavierStokes2D
from pgt.training.losses import Problem
from pgt.training.step import Clock, run_steps, start

RESULTS = Path(__file__).parent / "results"
THREE_MODES = {1: 0.5, 3: 0.7, 5: -0.6}
SQUARE = pgt.Domain(x=(0, 1), t=(0, 1))
WAKE = pgt.Domain(x=(1, 8), y=(-2, 2), t=(0, 19.9))


# ------------------------------------------------------------------------------------- heat


def heat_case(modes=None, conditions=(), noise=0.0, seeds=(0,), model=None, **training):
    """Relative L2 error on the 101 × 101 grid from 100 readings, one entry per seed.

    `model`: sizes of a PGT other than the default.
    """
    truth = pgt.datasets.heat(modes)
    runs = []
    for seed in seeds:
        readings = pgt.sample(truth, 100, noise=noise, seed=seed)
        began = time.monotonic()
        result = pgt.reconstruct(
            readings,
            Heat(0.01),
            SQUARE,
            conditions,
            model=_sized(readings, model, seed) if model else None,
            training=pgt.Training(**({"steps": 300, "collocation": 500} | training)),
            seed=seed,
        )
        seconds = time.monotonic() - began
        error = pgt.metrics.relative_l2(truth, result.grid(x=101, t=101))["u"]
        runs.append({"seed": seed, "rel_l2": error, "seconds": seconds} | _summary(result))
    return {"runs": runs, "rel_l2": float(np.mean([run["rel_l2"] for run in runs]))}


def _sized(readings, sizes, seed):
    return pgt.PGT(pgt.Scaling.fit(readings, SQUARE), Heat(0.01).kernel(), seed=seed, **sizes)


def _known():
    return [Dirichlet("x", u=0.0), Initial(u="sin(4*pi*x)")]


# ------------------------------------------------------------------------------------- wake


def wake_case(model=None, training=None, seed=0, samples=1500):
    """The cylinder wake from random samples of u, v, p."""
    truth = pgt.datasets.cylinder_wake()
    readings = pgt.sample(truth, samples, seed=seed)
    pde = NavierStokes2D(0.01)
    scaling = pgt.Scaling.fit(readings.aligned(pde.fields), WAKE)
    network = pgt.PGT(scaling, pde.kernel(), seed=seed, **(model or {}))
    began = time.monotonic()
    result = pgt.reconstruct(
        readings, pde, WAKE, model=network, seed=seed, training=pgt.Training(**(training or {}))
    )
    seconds = time.monotonic() - began
    return {"seed": seed, "seconds": seconds} | wake_errors(result, truth) | _summary(result)


def wake_errors(result, truth) -> dict:
    middle = truth.isel(t=[100])
    snapshot = result.grid(x=truth.x.values, y=truth.y.values, t=middle.t.values)
    volume = result.grid(x=truth.x.values, y=truth.y.values, t=truth.t.values)
    points = np.random.default_rng(1).uniform(WAKE.lower, WAKE.upper, (5000, 3))
    rest = result.residual(points)
    return {
        "snapshot": pgt.metrics.compare(middle, snapshot),
        "volume": pgt.metrics.compare(truth, volume),
        "residual": float(np.mean([(rest[name] ** 2).mean() for name in rest.data_vars])),
    }


def _summary(result) -> dict:
    kept = ("first_step_seconds", "parameter_count", "held_out_error", "stopped", "noise_floor")
    summary = {name: result.summary[name] for name in kept}
    return summary | {
        "train_seconds": result.summary["seconds"],
        "polish_seconds": result.summary["polish_seconds"],
        "steps": int(result.history.step[-1]),
        "training": result.summary["training"],
    }


# ------------------------------------------------------------------------------------- speed


def step_case(readings=1500, collocation=4000, steps=50, optimiser="soap", **model):
    """Milliseconds of one training step (Navier–Stokes residual), after compilation."""
    truth = pgt.datasets.cylinder_wake()
    observed = pgt.sample(truth, readings, seed=0)
    pde = NavierStokes2D(0.01)
    training = pgt.Training(optimiser=optimiser, collocation=collocation, batch=1500)
    network = pgt.PGT(pgt.Scaling.fit(observed, WAKE), pde.kernel(), **model)
    problem = Problem.build(observed, pde, (), WAKE, network.scaling)
    began = time.monotonic()
    training = training.of_a_step()
    state, fixed = start(network, pde, problem, training, 0.0)
    empty = observed.take(np.zeros(0, int))
    clock = Clock(jnp.asarray(0.1), jnp.asarray(0.0))

    def run(state, count):
        state, report = run_steps(
            state, fixed, problem, empty, jax.random.key(0), clock, jnp.asarray(count), training
        )
        jax.block_until_ready((state, report))
        return state

    state = run(state, 1)
    first = time.monotonic() - began
    times = []
    for _ in range(5):
        began = time.monotonic()
        state = run(state, steps)
        times.append((time.monotonic() - began) / steps * 1e3)
    memory = jax.devices()[0].memory_stats() or {}
    return {
        "milliseconds": float(np.median(times)),
        "first_step_seconds": first,
        "peak_bytes": memory.get("peak_bytes_in_use"),
        "readings": readings,
        "collocation": collocation,
        "model": {k: str(v) for k, v in model.items()},
    }


def anchors_case(sizes=(1_000, 3_000, 10_000, 30_000, 100_000)):
    """Time and memory of a step as the readings grow, gathered by anchors."""
    # Sizes rise, so the peak of the process is the peak of the latest size.
    rows = [step_case(readings=n, collocation=2000, **WAKE_GPU_MODEL) for n in sizes]
    decades = np.log10(sizes[-1] / sizes[0])

    def exponent(name):
        first, last = rows[0][name], rows[-1][name]
        return float(np.log10(last / first) / decades) if first and last else None

    return {
        "rows": rows,
        "time_exponent": exponent("milliseconds"),
        "memory_exponent": exponent("peak_bytes"),
    }


def versus_torch_case():
    """Our step beside the same step in eager PyTorch, in one run: with Adam, as there, and SOAP."""
    import torch_pgt

    theirs = float(torch_pgt.time_step())
    ours = step_case(optimiser="adam", **PAPER_STEP)
    soap = step_case(**PAPER_STEP)
    return {
        "torch_milliseconds": theirs,
        "adam": ours,
        "soap": soap,
        "ratio_adam": theirs / ours["milliseconds"],
        "ratio_soap": theirs / soap["milliseconds"],
    }


PAPER_STEP = {"width": 128, "blocks": 4, "heads": 4, "decoder_width": 128, "decoder_layers": 4}
WAKE_GPU_MODEL = {
    "width": 64,
    "blocks": 2,
    "anchors": 128,
    "decoder_width": 256,
    "decoder_layers": 4,
}
WAKE_CPU_MODEL = {
    "width": 32,
    "blocks": 2,
    "anchors": 48,
    "decoder_width": 64,
    "decoder_layers": 4,
}
LONG = pgt.Polish(iterations=400, patience=400)
# More residual points than weights, or the equation is fulfilled between them less than at them.
FINE = {"decoder_width": 28, "decoder_layers": 3, "frequency": 5.0, "width": 32}
FINE_POLISH = pgt.Polish(iterations=500, patience=500, points=2500)
# The equation is exact, the readings are not.
NOISY_POLISH = pgt.Polish(iterations=150, evidence=True, equation_weight=5.0)
# All 1500 samples are fitted, as in the paper; nothing is held out.
WAKE_GPU_TRAINING = {"seconds": 52.0, "collocation": 2000, "hold_out": 0.0}
WAKE_CPU_TRAINING = {"seconds": 690.0, "collocation": 600, "batch": 500, "hold_out": 0.0}

CASES = {
    "heat": lambda: heat_case(conditions=_known()),
    "heat-long": lambda: heat_case(conditions=_known(), model=FINE, polish=FINE_POLISH),
    "heat-free": lambda: heat_case(hold_out=0.0, polish=LONG),
    "three-modes": lambda: heat_case(THREE_MODES, hold_out=0.0),
    "three-modes-noise": lambda: heat_case(
        THREE_MODES,
        noise=0.05,
        seeds=(0, 1, 2),
        model=FINE | {"decoder_width": 20, "frequency": 8.0},
        steps=60,
        hold_out=0.0,
        polish=NOISY_POLISH,
    ),
    "wake": lambda: wake_case(WAKE_GPU_MODEL, WAKE_GPU_TRAINING),
    "wake-cpu": lambda: wake_case(WAKE_CPU_MODEL, WAKE_CPU_TRAINING),
    "anchors": anchors_case,
    "step": versus_torch_case,
}


def environment() -> dict:
    device = jax.devices()[0]
    return {
        "device": f"{device.platform}: {device.device_kind}",
        "python": platform.python_version(),
        "jax": jax.__version__,
        "pgt": pgt.__version__,
        "commit": os.environ.get("PGT_COMMIT") or _commit(),
    }


def _commit() -> str:
    command = ["git", "rev-parse", "--short", "HEAD"]
    found = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)
    return found.stdout.strip() or "unknown"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", nargs="+", help=f"'list', or any of: {', '.join(CASES)}")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.cases == ["list"]:
        print("\n".join(CASES))
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.cases:
        result = {"case": name, **environment(), **CASES[name]()}
        (arguments.out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        print(name, json.dumps(result)[:400], flush=True)


if __name__ == "__main__":
    main()
