"""Ours beside rivals on problems that are drawn from seeds.

    python benchmarks/generated.py --seeds 0:20 --seconds 30 -o runs/generated.jsonl
    python benchmarks/generated.py --seeds 1000:1050 --seconds 30 --rivals gp,rbf -o runs/reported.jsonl

Every seed adds one line to the file; what stands there is not run again. Seeds below 1000 are for tuning,
those from 1000 on for reporting.
"""

import argparse
import sys
from pathlib import Path

from pgt.core.errors import InputError
from pgt_bench.generator.comparison import Line, compare, report, seeds_of


def main() -> None:
    asked = _arguments()
    rivals = tuple(filter(None, asked.rivals.split(",")))
    try:
        records = compare(seeds_of(asked.seeds), asked.seconds, asked.out, rivals, _tell)
    except InputError as error:
        sys.exit(f"generated.py: {error}")
    print(f"\n{report(records)}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", default="0:20", help="such as 0:20 or 3,7,1000:1010")
    parser.add_argument("--seconds", type=float, default=30.0, help="for each fit")
    parser.add_argument("--rivals", default="", help="such as gp,jinns; all that are installed")
    parser.add_argument("-o", "--out", type=Path, default=Path("runs/generated.jsonl"))
    return parser.parse_args()


def _tell(record: dict) -> None:
    line = Line(record)
    seed, kind, _, _, error, best, ratio, stated, pace, *_ = line.cells()
    print(
        f"{seed} {kind}: {error} against {best} ({ratio}); stated/true {stated}; {pace}", flush=True
    )


if __name__ == "__main__":
    main()
