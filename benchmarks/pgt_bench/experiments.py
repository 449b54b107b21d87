"""Which runs make which table."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from pgt.core.errors import InputError
from pgt_bench.methods import METHODS, REFERENCES
from pgt_bench.presets import require_preset
from pgt_bench.problems import ONE_MODE, THREE_MODES, HeatProblem, Problem, WakeProblem

WAKE_METHODS = (
    "pgt-anchors", "pgt", "pinn", "siren", "siren-pde", "wire", "wire-pde", "fno", "deeponet",
    "pinnsformer",
)  # fmt: skip
HEAT_METHODS = ("pgt", "pgt-anchors", "pinn", "siren", "siren-pde")
WITH_PHYSICS = tuple(method for method in WAKE_METHODS if METHODS[method].physics)
ABLATION = (
    "pgt-anchors", "no-pde", "no-bias", "no-physics", "decoder-siren", "decoder-film-mlp",
    "decoder-mlp",
)  # fmt: skip
NOISE = ("pgt-anchors", "pgt-uw")
GAMMA = ("gamma-none", "gamma-heat", "gamma-learnable", "gamma-drift", "gamma-both-ways")
LEVELS = (0.0, 0.01, 0.02, 0.05, 0.10, 0.20)
FEW_TO_MANY = (75, 150, 500, 1500)
# Smoke takes as long as its programs take to compile. One number of readings for all tables lets them
# share programs; every method is shown once, and the authors' recipe by two that compile quickly.
SMOKE_READINGS = 20
SMOKE_AUTHORS = ("pinn", "siren")
SMOKE_NEWTON = ("pinn",)


@dataclass(frozen=True)
class Run:
    """One fit of one method to one problem; `name` says which, also as the name of its file, so that
    tables share the runs they have in common.

    `recipe`: "ours" (SOAP, and on heat Gauss–Newton after it), "newton" (on the wake: the same with
    networks small enough for second-order steps) or "authors" (Adam at the learning rate they
    recommend). `budget`: "seconds" or "steps", the same for every method.
    """

    preset: str
    problem: Problem
    method: str
    recipe: str = "ours"
    budget: str = "seconds"
    seed: int = 0

    @property
    def name(self) -> str:
        parts = [_described(self.problem), self.method]
        if has_recipe(self.method):
            parts += [self.recipe, self.budget]
        return ".".join([*parts, f"seed{self.seed}"])


def has_recipe(method: str) -> bool:
    """Whether a method is trained at all."""
    return method in METHODS and METHODS[method].trained


def _described(problem: Problem) -> str:
    words = [problem.kind, str(problem.readings)]
    if isinstance(problem, HeatProblem):
        words += ["modes"] if problem.modes == THREE_MODES else []
        words += [] if problem.known else ["free"]
    else:
        words += [f"no-{name}" for name in problem.hidden]
    words += [f"noise{round(100 * problem.noise)}"] if problem.noise else []
    return "-".join(words)


# ------------------------------------------------------------------------------- the tables


def heat(preset: str) -> Iterator[dict]:
    """Table 1, and the problems it leaves out: more modes, nothing but readings, noise."""
    smoke = preset == "smoke"
    few = SMOKE_READINGS if smoke else 100
    tables = [HeatProblem(m) for m in ((few,) if smoke else (100, 200, 500))]
    others = [
        HeatProblem(few, THREE_MODES, known=False, noise=0.05),
        HeatProblem(few, THREE_MODES, known=False),
        HeatProblem(few, THREE_MODES),
        HeatProblem(few, ONE_MODE, known=False),
    ][: 1 if smoke else None]
    for problem in tables:
        yield from _closed(problem)
        for recipe in ("ours", "authors"):
            methods = SMOKE_AUTHORS if smoke and recipe == "authors" else HEAT_METHODS
            yield from ({"problem": problem, "method": m, "recipe": recipe} for m in methods)
    for problem in others:
        yield from _closed(problem)
        for method in HEAT_METHODS[: 1 if smoke else None]:
            if method != "pgt-anchors":  # a hundred readings need none
                yield {"problem": problem, "method": method}


def wake(preset: str) -> Iterator[dict]:
    """Table 2, and a column in which the pressure is never observed."""
    smoke = preset == "smoke"
    readings = SMOKE_READINGS if smoke else 1500
    problem, hidden = WakeProblem(readings), WakeProblem(readings, hidden=("p",))
    yield from _closed(problem)
    for (recipe, budget), methods in (SMOKE_WAYS if smoke else WAYS).items():
        for method in methods:
            yield {"problem": problem, "method": method, "recipe": recipe, "budget": budget}
    for method in WITH_PHYSICS[: 1 if smoke else None]:
        yield {"problem": hidden, "method": method}


# By recipe and budget. With exact attention second-order steps would tune the same decoder.
WAYS = {
    ("ours", "seconds"): WAKE_METHODS,
    ("newton", "seconds"): tuple(method for method in WITH_PHYSICS if method != "pgt"),
    ("authors", "seconds"): WAKE_METHODS,
    ("ours", "steps"): WAKE_METHODS,
    ("authors", "steps"): WAKE_METHODS,
}
SMOKE_WAYS = {
    ("ours", "seconds"): WAKE_METHODS,
    ("newton", "seconds"): SMOKE_NEWTON,
    ("authors", "steps"): SMOKE_AUTHORS,
}


def ablation(preset: str) -> Iterator[dict]:
    """Table 3: one thing taken away at a time."""
    problem = WakeProblem(SMOKE_READINGS if preset == "smoke" else 1500)
    yield from ({"problem": problem, "method": method} for method in ABLATION)


def noise(preset: str) -> Iterator[dict]:
    """Table 4: u and v corrupted."""
    smoke = preset == "smoke"
    readings, levels = (SMOKE_READINGS, (0.0, 0.10)) if smoke else (1500, LEVELS)
    for level, method in itertools.product(levels, NOISE):
        yield {"problem": WakeProblem(readings, noise=level), "method": method}


def gamma(preset: str) -> Iterator[dict]:
    """Ours: where does Γ help? Equal numbers of steps: a kernel costs next to nothing."""
    smoke = preset == "smoke"
    for count, level in itertools.product(
        (SMOKE_READINGS,) if smoke else FEW_TO_MANY, (0.05,) if smoke else (0.0, 0.05)
    ):
        for problem in (
            HeatProblem(count, THREE_MODES, known=False, noise=level),
            WakeProblem(count, noise=level),
        ):
            for method in _kernels(problem.kind, smoke):
                yield {"problem": problem, "method": method, "budget": "steps"}


def _kernels(kind: str, smoke: bool) -> tuple[str, ...]:
    """Nothing drifts in the heat equation; smoke shows the others there, and this one on the wake."""
    if kind == "heat":
        return tuple(method for method in GAMMA if method != "gamma-drift")
    return ("gamma-drift",) if smoke else GAMMA


TABLES = {"heat": heat, "wake": wake, "ablation": ablation, "noise": noise, "gamma": gamma}


def _closed(problem: Problem) -> Iterator[dict]:
    """What needs no training."""
    methods = (*REFERENCES, *(name for name, method in METHODS.items() if not method.trained))
    yield from ({"problem": problem, "method": method} for method in methods)


def runs(
    table: str, preset: str, methods: tuple[str, ...] = (), seeds: tuple[int, ...] = (0,)
) -> list[Run]:
    """All runs of a table, one seed after the other: after the first the table is complete."""
    if table not in TABLES:
        raise InputError(f"there is no table {table!r}; choose one of {', '.join(TABLES)}.")
    require_preset(preset)
    unknown = sorted(set(methods) - set(METHODS) - set(REFERENCES))
    if unknown:
        raise InputError(
            f"no method is called {', '.join(unknown)}; the methods are "
            f"{', '.join([*REFERENCES, *METHODS])}."
        )
    return [
        Run(preset, **row, seed=seed)
        for seed in seeds
        for row in TABLES[table](preset)
        if not methods or row["method"] in methods
    ]
