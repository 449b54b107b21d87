"""One run, from its description to a record of plain data in a file of its own."""

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import jax
import numpy as np
import xarray as xr

from pgt._reconstruct import to_reconstruction
from pgt.core.files import in_one_piece
from pgt.core.provenance import provenance
from pgt.core.stage import stages_of
from pgt.problem.assembly import Task, assemble
from pgt.problem.budget import FIRST_ORDER_STEPS
from pgt.reconstruction.candidates import fit_task
from pgt.reconstruction.result import Reconstruction
from pgt.training.settings import Polish, Training
from pgt.training.weighting import Fixed, Uncertainty
from pgt.uncertainty.outcome import Outcome
from pgt_bench.batched_seeds import BatchedSeeds, Gate, solve_batched
from pgt_bench.experiments import GAMMA, Run, has_recipe
from pgt_bench.interpolation import gaussian_process, rbf, with_conditions
from pgt_bench.measures import (
    history,
    mean_square_residual,
    middle_snapshot,
    sigma_ratio,
    step_cost,
    train_error,
)
from pgt_bench.methods import METHODS, REFERENCES, Method
from pgt_bench.presets import Scale, scale_of
from pgt_bench.problems import Setup
from pgt_bench.stored import read_record, write_record

CLOSED_SECONDS = 60.0  # for what is solved in closed form; a linear equation needs a few of them
NEWTON_MEMORY = 8.0  # gigabytes: several runs may share a device


def record_path(folder: Path, run: Run) -> Path:
    return folder / run.preset / f"{run.name}.json"


def sweep(
    runs: Iterable[Run],
    folder: Path,
    tell: Callable[[Run, dict | None], None],
    gate: Gate = contextlib.nullcontext,
) -> None:
    """Run what has no record yet, those that differ by their seeds at once; `tell` hears of every run,
    with None before it starts. `gate` is entered while a run is timed."""
    for group in groups(runs, folder):
        if record_path(folder, group[0]).exists():
            tell(group[0], read_record(record_path(folder, group[0])))
            continue
        for run in group:
            tell(run, None)
        for run, (record, snapshot) in zip(group, execute(group, gate), strict=True):
            _write(record_path(folder, run), record, snapshot)
            tell(run, record)


def groups(runs: Iterable[Run], folder: Path) -> list[list[Run]]:
    """Runs to be made at once; one that has a record stands alone."""
    found: dict = {}
    for run in runs:
        alone = record_path(folder, run).exists() or not is_batched(run)
        found.setdefault(run if alone else _shaped_like(run), []).append(run)
    return list(found.values())


def _shaped_like(run: Run) -> tuple:
    """The same for runs that are trained at once: with equal steps also those of other noise."""
    noise = run.problem.noise if run.budget == "seconds" else 0.0
    problem = dataclasses.replace(run.problem, noise=noise)
    return dataclasses.replace(run, seed=0, problem=problem), _hold_out(run)


def is_batched(run: Run) -> bool:
    """Whether other seeds of a run are trained with it: second-order steps are taken one by one."""
    if not has_recipe(run.method):
        return False
    return training_for(run, METHODS[run.method], _scale(run)).polish is False


def _scale(run: Run) -> Scale:
    return scale_of(run.problem.kind, run.preset)


def _write(path: Path, record: dict, snapshot: dict | None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if snapshot is not None:
        with in_one_piece(path.with_suffix(".npz")) as unfinished:
            np.savez_compressed(unfinished, **snapshot)
    write_record(path, record)


Made = list[tuple[dict, dict | None]]


def execute(group: Sequence[Run], gate: Gate = contextlib.nullcontext) -> Made:
    """The record of every run, and the predicted middle snapshot where a figure needs it."""
    first = group[0]
    setups = [run.problem.load(run.seed, every=20 if run.preset == "smoke" else 1) for run in group]
    abouts = [{"run": dataclasses.asdict(run) | {"name": run.name}} | provenance() for run in group]
    if first.method in REFERENCES:
        pairs = zip(group, setups, abouts, strict=True)
        return [(about | _reference(run, setup), None) for run, setup, about in pairs]
    try:
        with _quickly_compiled(first.preset == "smoke"):
            made = _fit(group, setups, gate)
    except jax.errors.JaxRuntimeError as error:  # such as out of memory: a result like any other
        return [(about | {"failed": str(error).splitlines()[0]}, None) for about in abouts]
    return [
        (about | record, _snapshot(run, setup, result))
        for run, setup, about, (result, record) in zip(group, setups, abouts, made, strict=True)
    ]


def _snapshot(run: Run, setup: Setup, result: Reconstruction) -> dict | None:
    shown = run.method in ("pgt", "pgt-anchors") and run.preset != "smoke"
    shown = shown and run.problem.kind == "wake" and run.recipe == "ours"
    return middle_snapshot(result, setup.truth) if shown else None


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


def _fit(group: Sequence[Run], setups: Sequence[Setup], gate: Gate) -> list:
    """(result, what was measured of it) for every run."""
    first = group[0]
    tasks = [_task(run, setup) for run, setup in zip(group, setups, strict=True)]
    cost = _cost(first, BatchedSeeds.of(tasks)) if has_recipe(first.method) else {}
    watch = Stopwatch(gate)
    if is_batched(first):
        results = solve_batched(tasks, watch.gate, compile_first=first.preset != "smoke")
    else:
        assert len(group) == 1
        results = [_solved(tasks[0], watch.gate, first.preset != "smoke")]
    costs = {
        "cost": cost,
        "abreast": len(group),
        "seconds": {"compile": cost.get("compile_seconds"), "all": watch.seconds},
    }
    return [
        (result, _measured(run, setup, result, costs))
        for run, setup, result in zip(group, setups, results, strict=True)
    ]


def _task(run: Run, setup: Setup) -> Task:
    method, scale = METHODS[run.method], _scale(run)
    training = training_for(run, method, scale)
    network = method.build(setup, scale.sizes_for(run.recipe), run.recipe, run.seed)
    return assemble(
        setup.observations, setup.pde, setup.domain, setup.conditions,
        model=network, training=training, seed=run.seed,
    )  # fmt: skip


def _solved(task: Task, gate: Gate, compile_first: bool) -> Reconstruction:
    """One task by itself; what it compiles is kept from a fit that makes one step of each kind."""
    polish = task.training.polish
    if compile_first and polish:
        once = dataclasses.replace(polish, iterations=1, seconds=None)
        one = dataclasses.replace(task.training, steps=1, seconds=None, polish=once)
        _without_posterior(dataclasses.replace(task, training=one))
    with gate():
        outcome = _without_posterior(task)
    return to_reconstruction(task, outcome, None, [])


def _without_posterior(task: Task) -> Outcome:
    """Tables show no error bars, which take as long as a small fit."""
    return fit_task(task, progress=False, is_kept=lambda outcome: False)


class Stopwatch:
    """The seconds between the two sides of a gate."""

    def __init__(self, around: Gate):
        self.around, self.seconds = around, 0.0

    @contextlib.contextmanager
    def gate(self) -> Iterator[None]:
        """Timed from where the gate is passed."""
        with self.around():
            began = time.monotonic()
            try:
                yield
            finally:
                self.seconds = time.monotonic() - began


def _measured(run: Run, setup: Setup, result: Reconstruction, costs: dict) -> dict:
    summary = result.summary
    spent = {"train": summary["seconds"], "polish": summary["polish_seconds"]}
    return costs | {
        "seconds": costs["seconds"] | spent,
        "parameters": summary["parameter_count"],
        "steps": int(result.history.step.to_numpy().max(initial=0)),
        "polish_iterations": sum(stage.iterations for stage in stages_of(summary)),
        "stopped": summary["stopped"],
        "training": summary["training"],
        "errors": run.problem.judge(setup, result.grid),
        "residual": mean_square_residual(result, setup),
        "train_error": train_error(result, setup),
        "sigma_ratio": sigma_ratio(result, setup) if result.model.predicts_variance else None,
        "history": history(result),
    }


def training_for(run: Run, method: Method, scale: Scale) -> Training:
    """The settings of a recipe, in equal time or equal steps."""
    if not method.trained:
        return Training(seconds=None if run.preset == "smoke" else CLOSED_SECONDS, hold_out=0.0)
    ours = run.recipe != "authors"
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
    polish_seconds = scale.share_for(run.recipe) * scale.seconds
    if polish_seconds:
        options["polish"] = _polish(run, polish_seconds)
    # Every method is trained by its optimiser first, as long as its share of the seconds lasts.
    return Training(steps=FIRST_ORDER_STEPS, seconds=scale.seconds - polish_seconds, **options)


def _polish(run: Run, seconds: float) -> Polish:
    """On heat at so many points; on the wake at as many as suit the weights."""
    tiny, on_heat = run.preset == "smoke", run.problem.kind == "heat"
    return Polish(
        iterations=2 if tiny else 10**6,
        seconds=seconds,
        points=16 if tiny else 2500 if on_heat else None,
        patience=10**6,
        # Told that there is noise, as the Gaussian process is: the equation is exact, they are not.
        evidence=run.problem.noise > 0,
        equation_weight=5.0 if run.problem.noise else 1.0,
        memory=NEWTON_MEMORY,
    )


def _hold_out(run: Run) -> float:
    """Clean readings are all fitted, as in the paper; in the wake held-out ones tell the noise. Kernels
    are compared with as many readings with noise as without."""
    # Not in smoke: with one number of fitted readings its runs share their compiled programs.
    noisy = run.problem.kind == "wake" and run.preset != "smoke"
    return 0.1 if noisy and (run.problem.noise > 0 or run.method in GAMMA) else 0.0


_costs: dict[tuple, dict] = {}


def _cost(run: Run, task: Task) -> dict:
    """The cost of a step; the same for all seeds and noise levels, so asked once."""
    readings = len(task.problem.observations) + len(task.held_out)
    key = (run.preset, run.method, run.recipe, run.problem.kind, readings, len(task.networks))
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
