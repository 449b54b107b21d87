"""All tables of docs/results.md by one command, on a machine with a GPU and many cores.

    python benchmarks/paper_tables.py OUT --budget 420       # again: continues with what is missing
    python benchmarks/paper_tables.py OUT --budget 60 --tiny # does it run?
    python benchmarks/paper_tables.py OUT --list             # what is there, and what is missing

Runs on the GPU are compiled side by side and timed in a few lanes, always full, so that every method has
the same share of the card; records say how many. The heat equation is fitted beside them, one core for
each run. Runs that differ by their seeds are trained at once (pgt_bench/batched_seeds.py). What matters
most comes first; nothing begins that would end after the budget.
"""

import argparse
import contextlib
import fcntl
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
SEEDS = (0, 1, 2)
COMPILING, ENDING = 25.0, 15.0  # seconds before a run is timed, and after it
PROBE = "import jax; print(jax.devices()[0].platform, jax.numpy.ones(9).sum())"


# ------------------------------------------------------------------------------------ what is run


def bundles(device: str, preset: str | None = None) -> list[list]:
    """Runs that one process makes one after the other, in the order of their importance."""
    from pgt_bench.experiments import runs

    def of(table: str, **wanted) -> list:
        found = [
            run
            for kind, where in (("heat", "cpu"), ("wake", "gpu"))
            for run in runs(table, preset or where, seeds=SEEDS)
            if run.problem.kind == kind
        ]
        return [run for run in found if all(getattr(run, k) == v for k, v in wanted.items())]

    ordered = _on_cpu(of) if device == "cpu" else _on_gpu(of)
    chosen: dict = {}
    for key, run in ordered:
        chosen.setdefault(key, []).append(run)
    return list(chosen.values())


def _on_gpu(of):
    """(what belongs together, run); networks only."""
    from pgt_bench.experiments import has_recipe

    tables = [
        *of("wake", recipe="ours", budget="seconds"), *of("ablation"), *of("noise"),
        *of("wake", recipe="newton"), *of("wake", recipe="authors", budget="seconds"),
        *sorted(of("gamma"), key=lambda r: -r.problem.readings),
        *of("wake", recipe="authors", budget="steps"), *of("wake", recipe="ours", budget="steps"),
    ]  # fmt: skip
    hidden = [run for run in tables if getattr(run.problem, "hidden", ())]
    seen = [run for run in tables if run not in hidden]
    for run in dict.fromkeys([*seen, *hidden]):
        if has_recipe(run.method) and run.problem.kind == "wake":
            noisy = run.problem.noise > 0 and run.budget == "seconds"
            yield (run.method, run.recipe, run.budget, _shape(run.problem), noisy), run


def _shape(problem) -> tuple:
    return problem.kind, problem.readings, getattr(problem, "hidden", ())


def _on_cpu(of):
    """Heat, one bundle for the seeds of a run; what needs no training on the wake."""
    from pgt_bench.experiments import has_recipe

    kernels = [run for run in of("gamma") if run.problem.kind == "heat"]
    heat = list(dict.fromkeys([*of("heat"), *kernels]))
    wake = [run for run in of("wake") if not has_recipe(run.method)]
    ours = [run for run in heat if has_recipe(run.method) and run.recipe == "ours"]
    closed = [run for run in heat if not has_recipe(run.method)]
    authors = [run for run in heat if run.recipe == "authors"]
    sines = [run for run in wake if run.method == "features"]
    others = [run for run in wake if run.method != "features"]
    for run in [*sines, *closed, *ours, *authors, *others]:
        alone = run.seed if run in wake else None
        yield (run.method, run.recipe, run.problem, alone), run


# ----------------------------------------------------------------------------------- one process


def work(arguments) -> None:
    """Take bundles nobody has taken yet, until there is no time for another."""
    if arguments.core is not None:
        os.sched_setaffinity(0, arguments.core)
    from pgt_bench.runner import groups, record_path, sweep
    from pgt_bench.stored import write_record

    shared = {"lanes": arguments.lanes, "mps": arguments.mps} if arguments.worker == "gpu" else {}

    def tell(run, record):
        if record is not None and "shared" not in record:
            write_record(record_path(arguments.out, run), record | {"shared": shared})
            print(_line(run, record), flush=True)

    def gate():
        if arguments.worker == "cpu":
            return contextlib.nullcontext()
        return lane(arguments.out, arguments.lanes)

    for number, bundle in enumerate(bundles(arguments.worker, "smoke" if arguments.tiny else None)):
        missing = [run for run in bundle if not record_path(arguments.out, run).exists()]
        if not missing or not claimed(arguments.out, f"{arguments.worker}{number}"):
            continue
        for group in groups(missing, arguments.out):
            if time.time() + _expected(group[0]) > arguments.until:
                return
            try:
                sweep(group, arguments.out, tell, gate)
            except Exception as error:  # one that fails is not to end the others
                print(f"{group[0].name}: {type(error).__name__}: {error}"[:300], flush=True)


def _expected(run) -> float:
    from pgt_bench.presets import scale_of

    if run.preset == "smoke":
        return 0.0
    seconds = scale_of(run.problem.kind, run.preset).seconds
    return seconds + ENDING + (COMPILING if run.problem.kind == "wake" else 0.0)


def _line(run, record: dict) -> str:
    if "failed" in record:
        return f"{run.name}: failed: {record['failed'][:100]}"
    error = record["errors"]["volume"]["overall"]["stacked"] or float("nan")
    spent = record["seconds"].get("all") or 0.0
    steps = record.get("steps", 0), record.get("polish_iterations", 0)
    return f"{run.name:60} {error:.2e}  {spent:5.1f} s  {steps[0]} + {steps[1]} steps"


@contextlib.contextmanager
def lane(folder: Path, count: int):
    """Holds one of so many lanes of the card."""
    for number in itertools.cycle(range(count)):
        with (folder / f"lane{number}").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.05)
                continue
            yield
            return


def claimed(folder: Path, name: str) -> bool:
    """Whether this process is the first to ask."""
    try:
        (folder / "claims" / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


# ------------------------------------------------------------------------------------ all of them


def lead(arguments) -> None:
    """Start the processes, and end those that are left when the budget is spent."""
    until = time.time() + arguments.budget
    arguments.out.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(arguments.out / "claims", ignore_errors=True)
    (arguments.out / "claims").mkdir()
    cores = sorted(os.sched_getaffinity(0))
    pinned = cores[len(cores) - arguments.cpu_workers :]
    rest = cores[: len(cores) - arguments.cpu_workers] or cores
    with shared_card(arguments.share) as mps:
        started = [_started(arguments, "cpu", until, {core}, None) for core in pinned]
        started += [
            _started(arguments, "gpu", until, set(rest), mps) for _ in range(arguments.gpu_workers)
        ]
        while any(p.poll() is None for p in started) and time.time() < until:
            time.sleep(0.5)
        for process in started:
            process.kill()
            process.wait()
    for name in ("claims", *(f"lane{k}" for k in range(arguments.lanes))):
        path = arguments.out / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    tell_missing(arguments)


def _started(arguments, device: str, until: float, cores: set[int], mps: dict | None):
    environment = os.environ | (mps or {}) | {
        "PYTHONPATH": str(ROOT), "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "TF_CPP_MIN_LOG_LEVEL": "3",
    }  # fmt: skip
    if device == "cpu":
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "JAX_PLATFORMS": "cpu"}
    words = [sys.executable, __file__, str(arguments.out), "--worker", device]
    words += ["--until", str(until), "--lanes", str(arguments.lanes)]
    words += ["--cores", ",".join(map(str, sorted(cores)))]
    words += ["--mps"] * (mps is not None) + ["--tiny"] * arguments.tiny
    return subprocess.Popen(words, env=environment)


@contextlib.contextmanager
def shared_card(wanted: bool):
    """Let processes compute on the card at the same moment, where its driver offers that (MPS); what
    they need to know of it, None where it does not."""
    control = shutil.which("nvidia-cuda-mps-control") if wanted else None
    if control is None:
        yield None
        return
    with tempfile.TemporaryDirectory() as name:
        known = {"CUDA_MPS_PIPE_DIRECTORY": name, "CUDA_MPS_LOG_DIRECTORY": name}
        environment = os.environ | known | {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
        subprocess.run([control, "-d"], env=environment, timeout=20, check=False)
        try:
            found = subprocess.run(
                [sys.executable, "-c", PROBE], env=environment, timeout=45, capture_output=True
            ).stdout
        except subprocess.TimeoutExpired:
            found = b""
        works = found.startswith((b"gpu", b"cuda"))
        print(f"several at a time on the card: {'yes' if works else 'no'}", flush=True)
        try:
            yield known if works else None
        finally:
            subprocess.run([control], input=b"quit\n", env=environment, timeout=20, check=False)


def tell_missing(arguments) -> None:
    """How many runs of each kind have a record."""
    from pgt_bench.runner import record_path

    for device in ("gpu", "cpu"):
        found = bundles(device, "smoke" if arguments.tiny else None)
        runs = list(itertools.chain.from_iterable(found))
        there = sum(record_path(arguments.out, run).exists() for run in runs)
        print(f"{device}: {there} of {len(runs)} runs have a record", flush=True)
        for bundle in found:
            absent = [r.name for r in bundle if not record_path(arguments.out, r).exists()]
            if absent and arguments.list:
                print(f"  missing: {absent[0]} and {len(absent) - 1} more")


def main() -> None:
    parser = argparse.ArgumentParser(description="all tables of docs/results.md")
    parser.add_argument("out", type=Path)
    parser.add_argument("--budget", type=float, default=420.0, help="seconds")
    parser.add_argument("--lanes", type=int, default=3, help="runs timed at once on the GPU")
    parser.add_argument("--gpu-workers", type=int, default=7)
    parser.add_argument("--cpu-workers", type=int, default=9)
    parser.add_argument("--share", action=argparse.BooleanOptionalAction, default=True,
                        help="ask the driver to compute for several at the same moment")  # fmt: skip
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--worker", choices=("gpu", "cpu"), help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
    parser.add_argument("--mps", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--cores", dest="core", help=argparse.SUPPRESS,
                        type=lambda text: {int(core) for core in text.split(",")})  # fmt: skip
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    if arguments.worker:
        work(arguments)
    elif arguments.list:
        tell_missing(arguments)
    else:
        lead(arguments)


if __name__ == "__main__":
    main()
