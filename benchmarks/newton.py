"""Gauss–Newton against SOAP at equal seconds, on problems whose truth is known.

    python benchmarks/newton.py                                  # all problems and recipes, 30 s each
    python benchmarks/newton.py --problems shock --recipes scratch --seconds 60 --widths 24 40

Readings are a random subset of the truth's grid, without noise, boundary or initial values. Errors are
relative L2 on the whole grid; of a hidden p after removing its mean at every time, which the equation
leaves open. Seconds include compilation. The table goes to standard output, all numbers to a JSON file.
"""

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from numpy.polynomial.hermite import hermgauss

import pgt
from pgt.core.progress import ProgressBar
from pgt.methods.first_order.training_loop import train
from pgt.methods.second_order.gauss_newton import polish
from pgt.problem.assembly import assemble


class Case(NamedTuple):
    """Readings, the equation and where it holds, and the truth on a grid of points."""

    readings: pgt.Observations
    pde: pgt.extend.AbstractPDE
    domain: pgt.Domain
    points: np.ndarray
    truth: dict[str, np.ndarray]


# -------------------------------------------------------------------------------------- problems


def shock(seed: int) -> Case:
    """Viscous Burgers from -sin πx, by the formula of Cole and Hopf; 200 readings."""
    viscosity, (nodes, weights) = 0.02, hermgauss(80)
    points = grid(np.linspace(-1, 1, 201), np.linspace(0, 1, 51))
    x, t = points.T
    start = x[:, None] - np.sqrt(4 * viscosity * t)[:, None] * nodes
    power = -np.cos(np.pi * start) / (2 * np.pi * viscosity)
    share = np.exp(power - power.max(axis=1, keepdims=True)) * weights
    u = -(np.sin(np.pi * start) * share).sum(axis=1) / share.sum(axis=1)
    domain = pgt.Domain(x=(-1, 1), t=(0, 1))
    return case(pgt.Burgers(viscosity), domain, points, {"u": u}, 200, seed)


def fronts(seed: int) -> Case:
    """Allen–Cahn, periodic, from x² cos πx, by Fourier modes and Runge–Kutta; 200 readings."""
    diffusivity, reaction, count, steps = 1e-3, 5.0, 256, 4000
    x = -1 + 2 * np.arange(count) / count
    decay = -diffusivity * (2 * np.pi * np.fft.rfftfreq(count, 2 / count)) ** 2
    h = 1 / steps
    whole, half = np.exp(h * decay), np.exp(h * decay / 2)

    def grown(modes):
        u = np.fft.irfft(modes, count)
        return np.fft.rfft(reaction * (u - u**3))

    modes, values = np.fft.rfft(x**2 * np.cos(np.pi * x)), []
    for step in range(steps + 1):
        if step % (steps // 50) == 0:
            values.append(np.fft.irfft(modes, count))
        a = grown(modes)
        b = grown(half * (modes + h / 2 * a))
        c = grown(half * modes + h / 2 * b)
        d = grown(whole * modes + h * half * c)
        modes = whole * modes + h / 6 * (whole * a + 2 * half * (b + c) + d)
    points = grid(x, np.linspace(0, 1, 51))
    domain = pgt.Domain(x=(-1, 1), t=(0, 1), periodic=("x",))
    truth = {"u": np.stack(values, axis=1).reshape(-1)}
    return case(pgt.AllenCahn(diffusivity, reaction), domain, points, truth, 200, seed)


def vortices(seed: int) -> Case:
    """Taylor and Green's decaying vortices, p hidden; 300 readings of u and v."""
    viscosity, along = 0.05, np.linspace(0, 2 * np.pi, 33)
    points = grid(along, along, np.linspace(0, 2, 9))
    x, y, t = points.T
    decay = np.exp(-2 * viscosity * t)
    truth = {
        "u": -np.cos(x) * np.sin(y) * decay,
        "v": np.sin(x) * np.cos(y) * decay,
        "p": -(np.cos(2 * x) + np.cos(2 * y)) / 4 * decay**2,
    }
    domain = pgt.Domain(x=(0, 2 * np.pi), y=(0, 2 * np.pi), t=(0, 2))
    return case(pgt.NavierStokes2D(viscosity), domain, points, truth, 300, seed)


PROBLEMS = {"shock": shock, "fronts": fronts, "vortices": vortices}


def grid(*axes: np.ndarray) -> np.ndarray:
    """All points of a grid, (n, d)."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def case(pde, domain, points, truth, count: int, seed: int) -> Case:
    """With readings of all fields but p at a random subset of the points."""
    chosen = np.random.default_rng(seed).choice(len(points), count, replace=False)
    values = {name: field[chosen] for name, field in truth.items() if name != "p"}
    measured = np.stack(list(values.values()), axis=1)
    readings = pgt.Observations.from_arrays(
        points[chosen], measured, coords=domain.axes, fields=tuple(values)
    )
    return Case(readings, pde, domain, points, truth)


# --------------------------------------------------------------------------------------- recipes


class Recipe(NamedTuple):
    """The share of the seconds that an optimiser trains for, and the Gauss–Newton steps after it."""

    trained: float
    polish: pgt.Polish | None
    optimiser: str = "soap"


STEPS = pgt.Polish(iterations=10**6, patience=10**6, evidence=False, fresh=1.0)
RECIPES = {
    "scratch": Recipe(0.0, STEPS),
    "scratch, fixed points": Recipe(0.0, replace(STEPS, fresh=0.0)),
    "scratch, fixed at last": Recipe(0.0, replace(STEPS, fresh=0.7)),
    "soap first": Recipe(0.2, STEPS),
    "adam first": Recipe(0.2, STEPS, "adam"),
    "soap": Recipe(1.0, None),
}


def models(scaling: pgt.Scaling, width: int, frequency: float) -> dict:
    """Networks by name, of three layers and one width, each as a function of the seed."""
    return {
        "tanh": lambda seed: pgt.PINN(scaling, width=width, layers=3, seed=seed),
        "sine": lambda seed: pgt.SIREN(
            scaling, width=width, layers=3, frequency=frequency, seed=seed
        ),
    }


def fitted(problem: Case, build, recipe: Recipe, seconds: float, points: int | None, seed: int):
    """The model after so many seconds, and how they were spent."""
    began, busy = time.monotonic(), time.process_time()
    share = recipe.trained * seconds
    settings = pgt.Training(precision="float64", seconds=share or None, optimiser=recipe.optimiser)
    readings, pde, domain, *_ = problem
    task = assemble(readings, pde, domain, model=build, training=settings, seed=seed)
    model, equation, marks = task.model, task.pde, []
    with task.in_precision():
        if share:
            fit = train(task, checkpoint=None, progress=ProgressBar(False))[0]
            model, equation = fit.model, fit.pde
        if recipe.polish:
            left = max(seconds - (time.monotonic() - began), 1.0)
            finish = replace(recipe.polish, seconds=left, points=points)
            model, equation, *_ = polish(
                model, equation, task.problem, finish, task.held_out,
                lambda iteration, cost: marks.append(time.monotonic() - began),
            )  # fmt: skip
    spent = {"wall": time.monotonic() - began, "cpu": time.process_time() - busy}
    first = marks[0] - share if marks else None
    return model, spent | {"iterations": len(marks), "first_iteration": first}


def errors(model, problem: Case) -> dict[str, float]:
    """Relative L2 of every field."""
    with jax.enable_x64(True):
        context = model.encode(problem.readings.aligned(problem.pde.fields))
        decode = jax.jit(jax.vmap(lambda z: model.decode(context, z)))
        parts = np.array_split(problem.points, max(len(problem.points) // 4000, 1))
        found = np.concatenate([np.asarray(decode(jnp.asarray(part))) for part in parts])
    times, result = problem.points[:, -1], {}
    for name, values in zip(problem.pde.fields, found.T, strict=True):
        true = problem.truth[name]
        if name == "p":
            values, true = centred(values, times), centred(true, times)
        result[name] = float(np.linalg.norm(values - true) / np.linalg.norm(true))
    return result


def centred(values: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Without the mean at every time."""
    _, which = np.unique(times, return_inverse=True)
    means = np.bincount(which, values) / np.bincount(which)
    return values - means[which]


def main():
    parser = argparse.ArgumentParser(description="Gauss–Newton against SOAP at equal seconds")
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=PROBLEMS)
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), choices=RECIPES)
    parser.add_argument("--models", nargs="+", default=["tanh", "sine"], choices=["tanh", "sine"])
    parser.add_argument("--widths", nargs="+", type=int, default=[32])
    parser.add_argument("--frequency", type=float, default=6.0, help="of sines")
    parser.add_argument("--points", type=int, default=None, help="residual points of a step")
    parser.add_argument("--seconds", type=float, default=30.0, help="each, with compilation")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--out", type=Path, default=Path("newton.json"))
    asked = parser.parse_args()
    runs = [
        (problem, model, width, recipe, seed)
        for problem in asked.problems
        for model in asked.models
        for width in asked.widths
        for recipe in asked.recipes
        for seed in asked.seeds
    ]
    records, device = [], str(jax.devices()[0])
    print(f"{device}, {asked.seconds:g} s each; relative L2 of every field")
    for name, model, width, recipe, seed in runs:
        problem = PROBLEMS[name](seed)
        scaling = pgt.Scaling.fit(problem.readings.aligned(problem.pde.fields), problem.domain)
        build = models(scaling, width, asked.frequency)[model]
        network, spent = fitted(problem, build, RECIPES[recipe], asked.seconds, asked.points, seed)
        found = errors(network, problem)
        words = "  ".join(f"{field} {error:.1e}" for field, error in found.items())
        print(
            f"{name:9} {model} {width:3} {recipe:23} seed {seed}  {words}  "
            f"({spent['iterations']} iterations, {spent['wall']:.0f} s, CPU {spent['cpu']:.0f} s)",
            flush=True,
        )
        labels = {"problem": name, "model": model, "width": width, "recipe": recipe, "seed": seed}
        records.append(labels | {"device": device, "errors": found} | spent)
        asked.out.write_text(json.dumps(records, indent=1))


if __name__ == "__main__":
    main()
