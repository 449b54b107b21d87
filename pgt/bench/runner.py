"""One run, from its description to a record of plain data in a file of its own."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import jax
import numpy as np
import xarray as xr

from pgt._reconstruct import solve
from pgt.bench.cost import step_cost
from pgt.bench.experiments import Run
from pgt.bench.measures import (
    history,
    mean_square_residual,
    middle_snapshot,
    sigma_ratio,
    train_error,
)
from pgt.bench.methods import METHODS, REFERENCES, Method
from pgt.bench.presets import Scale, scale_of
from pgt.bench.problems import Setup
from pgt.bench.stored import read_record, write_record
from pgt.ground.files import in_one_piece
from pgt.ground.provenance import provenance
from pgt.nn import frozen
from pgt.reconstruction.result import Reconstruction
from pgt.training.assemble import Task, assemble
from pgt.training.budget import STEPS
from pgt.training.settings import Polish, Training
from pgt.training.weighting import Fixed, Uncertainty
from pgt.trust.references.given_values import with_conditions
from pgt.trust.references.interpolation import gaussian_process, rbf


def record_path(folder: Path, run: Run) -> Path:
    return folder / run.preset / f"{run.name}.json"


def sweep(runs: Iterable[Run], folder: Path, tell: Callable[[Run, dict | None], None]) -> None:
    """Run what has no record yet; `tell` hears of every run, with None before it starts."""
    for run in runs:
        path = record_path(folder, run)
        if path.exists():
            tell(run, read_record(path))
            continue
        tell(run, None)
        record, snapshot = execute(run)
        path.parent.mkdir(parents=True, exist_ok=True)
        if snapshot is not None:
            with in_one_piece(path.with_suffix(".npz")) as unfinished:
                np.savez_compressed(unfinished, **snapshot)
        write_record(path, record)
        tell(run, record)


def execute(run: Run) -> tuple[dict, dict | None]:
    """The record of a run, and the predicted middle snapshot where a figure needs it."""
    setup = run.problem.load(run.seed, every=20 if run.preset == "smoke" else 1)
    about = {"run": dataclasses.asdict(run) | {"name": run.name}} | provenance()
    if run.method in REFERENCES:
        return about | _reference(run, setup), None
    try:
        with _quickly_compiled(run.preset == "smoke"):
            result, record = _fit(run, setup)
    except jax.errors.JaxRuntimeError as error:  # such as out of memory: a result like any other
        return about | {"failed": str(error).splitlines()[0]}, None
    snapshot = None
    if (
        run.problem.kind == "wake"
        and run.method in ("pgt", "pgt-anchors")
        and run.preset != "smoke"
    ):
        snapshot = middle_snapshot(result, setup.truth)
    return about | record, snapshot


@contextlib.contextmanager
def _quickly_compiled(wanted: bool) -> Iterator[None]:
    """Compile with little optimisation: of a program that runs for milliseconds it saves nothing."""
    option = "jax_disable_most_optimizations"
    before = jax.config.read(option)
    jax.config.update(option, wanted or before)
    try:
        yield
    finally:
        jax.config.update(option, before)


# ------------------------------------------------------------------------------- models


def _fit(run: Run, setup: Setup) -> tuple[Reconstruction, dict]:
    method, scale = METHODS[run.method], scale_of(run.problem.kind, run.preset)
    training = training_for(run, method, scale)
    network = method.build(setup, scale.sizes, run.recipe, run.seed)
    task = assemble(
        setup.observations, setup.pde, setup.domain, setup.conditions,
        model=network, training=training, seed=run.seed,
    )  # fmt: skip
    cost = _cost(run, task)
    if run.preset != "smoke":  # compiled before the clock starts: the budget is for training
        one = dataclasses.replace(training, steps=1, seconds=None, polish=False)
        solve(dataclasses.replace(task, training=one), progress=False)
    began = time.monotonic()
    result = solve(task, progress=False)
    seconds = time.monotonic() - began
    summary = result.summary
    return result, {
        "parameters": frozen.count_parameters(network),
        "cost": cost,
        "seconds": {
            "compile": cost["compile_seconds"],
            "train": summary["seconds"],
            "polish": summary["polish_seconds"],
            "all": seconds,
        },
        "steps": int(result.history.step.to_numpy().max(initial=0)),
        "polish_iterations": sum(len(stage) - 1 for stage in summary["polish_costs"]),
        "stopped": summary["stopped"],
        "training": summary["training"],
        "errors": run.problem.judge(setup, result.grid),
        "residual": mean_square_residual(result, setup),
        "train_error": train_error(result, setup),
        "sigma_ratio": sigma_ratio(result, setup) if result.model.predicts_variance else None,
        "history": history(result),
    }


def training_for(run: Run, method: Method, scale: Scale) -> Training:
    """Our recipe or the authors', in equal time or equal steps."""
    ours = run.recipe == "ours"
    options: dict = {
        "optimiser": "soap" if ours else "adam",
        "learning_rate": 3e-3 if ours else method.rate,
        "weighting": Uncertainty() if ours else Fixed(),
        "collocation": scale.collocation if method.physics else 0,
        "batch": scale.batch,
        "hold_out": _hold_out(run),
        "patience": 2.0,  # more than the whole budget: everybody uses all of it
        "polish": False,
    }
    if run.budget == "steps":
        return Training(steps=scale.steps, **options)
    polish_seconds = scale.polish_share * scale.seconds if ours else 0.0
    if polish_seconds:
        tiny = run.preset == "smoke"
        options["polish"] = Polish(
            iterations=2 if tiny else 1000,
            seconds=polish_seconds,
            points=16 if tiny else 2500,
            patience=1000,
            # Told that there is noise, as the Gaussian process is: the equation is exact, they are not.
            evidence=run.problem.noise > 0,
            equation_weight=5.0 if run.problem.noise else 1.0,
        )
    # Every method is trained by its optimiser first, as long as its share of the seconds lasts.
    return Training(steps=STEPS, seconds=scale.seconds - polish_seconds, **options)


def _hold_out(run: Run) -> float:
    """Clean readings are all fitted, as in the paper; in the wake held-out ones tell the noise."""
    # Not in smoke: with one number of fitted readings its runs share their compiled programs.
    noisy = run.problem.kind == "wake" and run.problem.noise > 0 and run.preset != "smoke"
    return 0.1 if noisy else 0.0


_costs: dict[tuple, dict] = {}


def _cost(run: Run, task: Task) -> dict:
    """The cost of a step; the same for all seeds and noise levels, so asked once."""
    readings = len(task.problem.observations) + len(task.held_out)
    key = (run.preset, run.method, run.recipe, run.problem.kind, readings)
    if key not in _costs:
        _costs[key] = step_cost(task)
    return _costs[key]


# ------------------------------------------------------------------------------- references


def _reference(run: Run, setup: Setup) -> dict:
    """Interpolation with the same information: given boundary and initial values become readings."""
    known = with_conditions(setup.observations, setup.conditions, setup.domain)
    asked = {}

    def grid(**axes) -> xr.Dataset:
        names = setup.domain.axes
        mesh = np.meshgrid(*(axes[name] for name in names), indexing="ij")
        points = np.stack([m.ravel() for m in mesh], axis=-1)
        if run.method == "rbf":
            found = rbf(known, setup.domain, points)
        else:
            noisy = run.problem.noise > 0
            found = gaussian_process(known, setup.domain, points, noise=noisy, seed=run.seed)
        asked["seconds"], asked["chosen"] = found.seconds, found.chosen
        shape = tuple(len(axes[name]) for name in names)
        return xr.Dataset(
            {
                field: (names, found.predictions[:, k].reshape(shape))
                for k, field in enumerate(known.fields)
            },
            {name: axes[name] for name in names},
        )

    errors = run.problem.judge(setup, grid)
    return {"errors": errors, "seconds": {"all": asked["seconds"]}, "chosen": asked["chosen"]}
