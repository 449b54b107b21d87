"""The zoo where only the core of the library is installed, as on a rented GPU.

    python benchmarks/zoo.py FOLDER --method ours,rbf,gp --seconds 60 --group held-back
    python benchmarks/zoo.py FOLDER --problem blob --problem vortices

The same runs and records as `pgt bench zoo`; what is stored already is not run again.
"""

import argparse
from pathlib import Path


def main() -> None:
    asked = _arguments()
    from pgt_bench.zoo.runner import runs, sweep

    methods = tuple(filter(None, asked.method.split(",")))
    todo = runs(
        asked.problem,
        methods,
        seconds=asked.seconds,
        group=asked.group or None,
        seeds=asked.seed or (0,),
    )
    sweep(todo, asked.folder, _tell)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--problem", action="append", default=[])
    parser.add_argument("--method", default="")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--group", default="")
    parser.add_argument("--seed", type=int, action="append", default=[])
    return parser.parse_args()


def _tell(run, record) -> None:
    if record is None:
        return
    errors = record.get("errors")
    said = record.get("failed") if errors is None else f"{errors['measured']} {errors['hidden']}"
    stated = (record.get("stated") or {}).get("value")
    print(f"{run.name}: {said} stated {stated} in {record['took']:.1f} s", flush=True)


if __name__ == "__main__":
    main()
