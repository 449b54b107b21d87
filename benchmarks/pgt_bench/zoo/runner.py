"""One run of one method on one problem, from its description to a stored record."""

import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import jax

from pgt.core.provenance import provenance
from pgt_bench.stored import read_record, write_record
from pgt_bench.zoo import judge
from pgt_bench.zoo.answers import Answer, Asked
from pgt_bench.zoo.catalogue import get, names
from pgt_bench.zoo.methods import METHODS, installed, require_methods

Tell = Callable[["ZooRun", dict | None], None]


@dataclass(frozen=True)
class ZooRun:
    """`seconds` is the budget that a method is given; its record says how long it took."""

    problem: str
    method: str
    seconds: float = 60.0
    seed: int = 0

    @property
    def name(self) -> str:
        return f"{self.problem}.{self.method}.{self.seconds:g}s.seed{self.seed}"


def runs(
    problems: Sequence[str] = (),
    methods: Sequence[str] = (),
    *,
    seconds: float = 60.0,
    group: str | None = None,
    seeds: Sequence[int] = (0,),
) -> list[ZooRun]:
    """What is asked for, problem by problem; where none is named all, by all methods that can run."""
    methods = tuple(methods) or installed()
    require_methods(methods)
    wanted = [get(name).name for name in problems or names()]
    within = set(names(group))
    return [
        ZooRun(problem, method, seconds, seed)
        for problem in wanted
        if problem in within
        for seed in seeds
        for method in methods
    ]


def sweep(todo: Iterable[ZooRun], folder: Path, tell: Tell) -> None:
    """Run what has no record yet; `tell` hears of every run, with None before it starts."""
    for run in todo:
        path = folder / f"{run.name}.json"
        if path.exists():
            tell(run, read_record(path))
            continue
        tell(run, None)
        record = execute(run)
        write_record(path, record)
        tell(run, record)


def execute(run: ZooRun) -> dict:
    """The record of a run. A method that fails has a record like any other, which says how."""
    problem = get(run.problem)
    record = {"run": asdict(run), "kind": problem.kind, "group": problem.group}
    record |= provenance()
    asked = Asked(problem, problem.load(run.seed), run.seconds, run.seed)
    return record | answered(run.method, asked)[0]


def answered(method: str, asked: Asked) -> tuple[dict, Answer | None]:
    """What a method's answer is worth and how long it took, and the answer; None where it failed."""
    jax.clear_caches()  # everybody pays for what is compiled
    began = time.monotonic()
    try:
        answer = METHODS[method].answer(asked)
    except Exception as error:  # so that a long sweep goes on
        lines = str(error).splitlines() or [""]
        failed = f"{type(error).__name__}: {lines[0]}"
        place = traceback.extract_tb(error.__traceback__)[-1]
        at = f"{Path(place.filename).name}:{place.lineno}"
        return {"failed": failed, "failed_at": at, "took": time.monotonic() - began}, None
    took = time.monotonic() - began
    covered = None if answer.band is None else judge.coverage(asked.problem, answer.band)
    errors = judge.errors(asked.problem, answer.fields)
    return {"errors": errors, "took": took, "coverage": covered} | answer.about, answer
