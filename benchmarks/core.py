"""The core numbers: every case here runs from one command and leaves one JSON file.

    python benchmarks/core.py list
    python benchmarks/core.py default-heat heat three-modes-noise
    python benchmarks/core.py wake --out somewhere/

Absolute seconds mean something only beside the device they were measured on, which the file names.
"""

import argparse
import dataclasses
import json
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

import pgt
from pgt.core.provenance import provenance
from pgt.methods.first_order.training_step import BudgetClock, initialize, run_steps
from pgt.physics import Dirichlet, Heat, Initial, NavierStokes2D
from pgt.problem.assembly import assemble
from pgt_bench.zoo.runner import ZooRun, execute

RESULTS = Path(__file__).parent / "results"
THREE_MODES = {1: 0.5, 3: 0.7, 5: -0.6}
SQUARE = pgt.Domain(x=(0, 1), t=(0, 1))
WAKE = pgt.Domain(x=(1, 8), y=(-2, 2), t=(0, 19.9))


# ------------------------------------------------------------------------------------- heat


def default_heat_case(modes=None, conditions=(), noise=0.0, seeds=(0,)):
    """The same with nothing chosen: neither model nor settings."""
    return _heat(modes, conditions, noise, seeds, lambda readings, seed: {})


def heat_case(modes=None, conditions=(), noise=0.0, seeds=(0,), model=None, **training):
    """Relative L2 error of a PGT on the 101 × 101 grid from 100 readings, one entry per seed.

    `model`: its sizes, where they are not those that suit the problem.
    """
    settings = pgt.Training(**({"steps": 300, "collocation": 500} | training))

    def chosen(readings, seed):
        network = _sized(readings, model, seed) if model else _transformer(readings, seed)
        return {"model": network, "training": settings}

    return _heat(modes, conditions, noise, seeds, chosen)


def _heat(modes, conditions, noise, seeds, chosen):
    truth = pgt.datasets.heat(modes)
    runs = []
    for seed in seeds:
        readings = pgt.sample(truth, 100, noise=noise, seed=seed)
        began = time.monotonic()
        result = pgt.reconstruct(
            readings, Heat(0.01), SQUARE, conditions, seed=seed, **chosen(readings, seed)
        )
        seconds = time.monotonic() - began
        error = pgt.metrics.relative_l2(truth, result.grid(x=101, t=101))["u"]
        runs.append({"seed": seed, "rel_l2": error, "seconds": seconds} | summary(result))
    return {"runs": runs, "rel_l2": float(np.mean([run["rel_l2"] for run in runs]))}


def _transformer(readings, seed):
    return pgt.PGT.for_problem(readings, Heat(0.01), SQUARE, seed=seed)


def _sized(readings, sizes, seed):
    return pgt.PGT(pgt.Scaling.fit(readings, SQUARE), Heat(0.01).kernel(), seed=seed, **sizes)


def outliers_case(seeds=(0, 1, 2), noise=0.03, share=0.05, far=20.0, count=150):
    """Readings of which a share is wrong by `far` σ: a robust fit with and without them, a plain one
    with them; the mean relative L2 error of each."""
    truth = pgt.datasets.heat()
    runs = []
    for seed in seeds:
        clean = pgt.sample(truth, count, noise=noise, seed=seed)
        spoilt = _spoilt(clean, share, far * noise * float(np.std(clean.values)), seed)
        for name, readings, likelihood in (
            ("robust", clean, "student"),
            ("robust, outliers", spoilt, "student"),
            ("plain, outliers", spoilt, "gauss"),
        ):
            training = pgt.Training(steps=300, collocation=500, likelihood=likelihood)
            result = pgt.reconstruct(
                readings, Heat(0.01), SQUARE,
                model=_transformer(readings, seed), training=training, seed=seed,
            )  # fmt: skip
            error = pgt.metrics.relative_l2(truth, result.grid(x=101, t=101))["u"]
            runs.append({"fit": name, "seed": seed, "rel_l2": error} | summary(result))
    names = dict.fromkeys(run["fit"] for run in runs)
    means = {n: float(np.mean([r["rel_l2"] for r in runs if r["fit"] == n])) for n in names}
    about = {"readings": count, "noise": noise, "share": share, "sigmas": far}
    ratio = means["robust, outliers"] / means["robust"]
    return {"about": about, "runs": runs, "rel_l2": means, "ratio": ratio}


def _spoilt(readings, share, by, seed):
    random = np.random.default_rng(seed)
    rows = random.choice(len(readings), round(share * len(readings)), replace=False)
    values = np.array(readings.values)
    values[rows] += by * random.choice([-1.0, 1.0], (len(rows), 1))
    return dataclasses.replace(readings, values=values)


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
    return {"seed": seed, "seconds": seconds} | wake_errors(result, truth) | summary(result)


def default_wake_case(seconds=120.0, seed=0, samples=1500, hidden=()):
    """The same with nothing chosen but the seconds; fields in `hidden` are not read."""
    truth = pgt.datasets.cylinder_wake()
    readings = pgt.sample(truth.drop_vars(list(hidden)), samples, seed=seed)
    began = time.monotonic()
    training = pgt.Training(seconds=seconds)
    result = pgt.reconstruct(readings, NavierStokes2D(0.01), WAKE, training=training, seed=seed)
    about = {"seed": seed, "seconds": time.monotonic() - began, "model": result.summary["model"]}
    return about | wake_errors(result, truth, hidden) | summary(result)


def default_beltrami_case(seconds=240.0, seed=0):
    """Beltrami's flow in space over time, p hidden, as the zoo has it: nothing chosen but the seconds."""
    return execute(ZooRun("beltrami", "ours", seconds, seed))


def wake_errors(result, truth, hidden=()) -> dict:
    """At the middle snapshot and over all of them; p, where nobody read it, less its mean per snapshot:
    all that u and v can tell of it."""
    place = {"x": truth.x.values, "y": truth.y.values}
    volume = result.grid(**place, t=truth.t.values)
    if "p" in hidden:
        truth, volume = (part.assign(p=pgt.metrics.remove_mean(part.p)) for part in (truth, volume))
    middle, snapshot = truth.isel(t=[100]), volume.isel(t=[100])
    points = np.random.default_rng(1).uniform(WAKE.lower, WAKE.upper, (5000, 3))
    rest = result.residual(points)
    return {
        "snapshot": pgt.metrics.compare(middle, snapshot),
        "volume": pgt.metrics.compare(truth, volume),
        "residual": float(np.mean([(rest[name] ** 2).mean() for name in rest.data_vars])),
    }


def summary(result) -> dict:
    kept = ("first_step_seconds", "parameter_count", "held_out_error", "stopped", "noise_floor")
    return {name: result.summary[name] for name in kept} | {
        "train_seconds": result.summary["seconds"],
        "polish_seconds": result.summary["polish_seconds"],
        "steps": int(result.history.step.to_numpy().max(initial=0)),
        "training": result.summary["training"],
    }


# ------------------------------------------------------------------------------------- speed


def step_case(readings=1500, collocation=4000, steps=50, optimiser="soap", **model):
    """Milliseconds of one training step (Navier–Stokes residual), after compilation."""
    truth = pgt.datasets.cylinder_wake()
    observed = pgt.sample(truth, readings, seed=0)
    pde = NavierStokes2D(0.01)
    training = pgt.Training(optimiser=optimiser, collocation=collocation, batch=1500, hold_out=0.0)
    network = pgt.PGT(pgt.Scaling.fit(observed, WAKE), pde.kernel(), **model)
    task = assemble(observed, pde, WAKE, model=network, training=training)
    with task.in_precision():
        first, times = timed_steps(task, training.of_a_step(), steps)
    memory = jax.devices()[0].memory_stats() or {}
    return {
        "milliseconds": float(np.median(times)),
        "first_step_seconds": first,
        "peak_bytes": memory.get("peak_bytes_in_use"),
        "readings": readings,
        "collocation": collocation,
        "model": {k: str(v) for k, v in model.items()},
    }


def timed_steps(task, training, steps: int) -> tuple[float, list[float]]:
    """Seconds to the first step, and milliseconds of later ones, five times so many."""
    began = time.monotonic()
    state, fixed = initialize(task.model, task.pde, task.problem, training, 0.0)
    clock, key = BudgetClock(jnp.asarray(0.1), jnp.asarray(0.0)), jax.random.key(0)

    def run(state, count):
        about = task.problem, task.held_out, key, clock, jnp.asarray(count), training
        return jax.block_until_ready(run_steps(state, fixed, *about))[0]

    state = run(state, 1)
    first, times = time.monotonic() - began, []
    for _ in range(5):
        began = time.monotonic()
        state = run(state, steps)
        times.append((time.monotonic() - began) / steps * 1e3)
    return first, times


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
# More residual points than weights, or the equation is fulfilled between them less than at them.
FINE = {"decoder_width": 28, "decoder_layers": 3, "frequency": 5.0, "width": 32}
FINE_POLISH = pgt.Polish(iterations=2000, patience=2000, points=2500)
# The equation is exact, the readings are not.
NOISY_POLISH = pgt.Polish(iterations=150, evidence=True, equation_weight=5.0)
# All 1500 samples are fitted, as in the paper; nothing is held out.
WAKE_GPU_TRAINING = {"seconds": 52.0, "collocation": 2000, "hold_out": 0.0}
WAKE_CPU_TRAINING = {"seconds": 690.0, "collocation": 600, "batch": 500, "hold_out": 0.0}

CASES = {
    "default-heat": lambda: default_heat_case(conditions=_known(), seeds=(0, 1, 2)),
    "default-heat-free": lambda: default_heat_case(seeds=(0, 1, 2)),
    "default-three-modes": lambda: default_heat_case(THREE_MODES, seeds=(0, 1, 2)),
    "default-three-modes-noise": lambda: default_heat_case(
        THREE_MODES, noise=0.05, seeds=(0, 1, 2)
    ),
    "heat": lambda: heat_case(conditions=_known(), seeds=(0, 1, 2)),
    "heat-longest": lambda: heat_case(conditions=_known(), model=FINE, polish=FINE_POLISH),
    "three-modes-noise": lambda: heat_case(
        THREE_MODES,
        noise=0.05,
        seeds=(0, 1, 2),
        model=FINE | {"decoder_width": 20, "frequency": 8.0},
        steps=60,
        hold_out=0.0,
        polish=NOISY_POLISH,
    ),
    "outliers": outliers_case,
    "default-wake": default_wake_case,
    "default-wake-hidden": lambda: default_wake_case(hidden=("p",)),
    "default-wake-cpu": lambda: default_wake_case(seconds=720.0),
    "default-beltrami": default_beltrami_case,
    "wake": lambda: wake_case(WAKE_GPU_MODEL, WAKE_GPU_TRAINING),
    "wake-cpu": lambda: wake_case(WAKE_CPU_MODEL, WAKE_CPU_TRAINING),
    "anchors": anchors_case,
}


def in_processes(function, items, processes=None):
    """function(item) for every item, in processes of two cores each where nothing else is said."""
    processes = processes or max(len(os.sched_getaffinity(0)) // 2, 1)
    fresh = multiprocessing.get_context("spawn")  # JAX does not survive a fork
    with ProcessPoolExecutor(processes, mp_context=fresh) as pool:
        yield from pool.map(function, items)


def run_cases(cases: dict, about: str):
    """Run the cases named on the command line; each leaves one file."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("cases", nargs="+", help=f"'list', or any of: {', '.join(cases)}")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    if arguments.cases == ["list"]:
        print("\n".join(cases))
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.cases:
        result = {"case": name, **provenance(), **cases[name]()}
        (arguments.out / f"{name}.json").write_text(json.dumps(result, indent=1) + "\n")
        print(name, json.dumps(result)[:400], flush=True)


if __name__ == "__main__":
    run_cases(CASES, __doc__)
