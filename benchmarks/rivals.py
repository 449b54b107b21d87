"""The networks that the paper compares with, each trained as `examples/rivals.py` trains it.

    python benchmarks/rivals.py [--only PINNsFormer]

Every network in a process of its own that finds nothing compiled, so that its processor time has all of
what a first user waits for. Leaves `rivals.json`; networks that are not run keep their rows.
"""

import argparse
import json
import multiprocessing
import os
import runpy
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from pgt.core.provenance import provenance

HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "rivals.py"
FILE = HERE / "results" / "rivals.json"


def row(name: str) -> dict:
    """What the example finds, and where it was measured."""
    return runpy.run_path(str(EXAMPLE))["trained"](name) | provenance()


def main() -> None:
    example = runpy.run_path(str(EXAMPLE))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=example["SIZES"], default=[])
    asked = parser.parse_args().only or list(example["SIZES"])
    record = json.loads(FILE.read_text()) if FILE.exists() else {"rows": {}}
    record |= {"case": "rivals"}
    os.environ["PGT_NO_CACHE"] = "1"
    for name in asked:
        spawn = multiprocessing.get_context("spawn")  # JAX does not survive a fork
        with ProcessPoolExecutor(1, mp_context=spawn) as pool:
            record["rows"][name] = pool.submit(row, name).result()
        print(name, {k: record["rows"][name][k] for k in ("rel_l2", "cpu_seconds")}, flush=True)
        FILE.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
