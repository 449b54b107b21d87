"""Records of a zoo that nobody ran: every method on every problem, errors from its name."""

from pgt_bench.stored import write_record
from pgt_bench.zoo.catalogue import ALL


def record(problem: str, method: str, error: float | None, **more) -> dict:
    run = {"problem": problem, "method": method, "seconds": 60.0, "seed": more.pop("seed", 0)}
    about = {"run": run, "kind": ALL[problem].kind, "group": ALL[problem].group}
    if error is None:
        return about | {"failed": "ValueError: no", "took": 1.0}
    hidden = dict.fromkeys(ALL[problem].readings.hidden, 2 * error)
    fields = dict.fromkeys(ALL[problem].measured, error)
    errors = {"measured": error, "fields": fields, "hidden": hidden}
    return about | {"errors": errors, "took": 1.0, "coverage": None} | more


def write(folder, records) -> None:
    for index, one in enumerate(records):
        write_record(folder / f"{index}.json", one)
