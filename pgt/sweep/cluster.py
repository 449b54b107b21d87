"""The fits of a sweep on a Dask cluster: each is run once, recorded on disk, and listed in one table.

A fit whose record says "finished" is never run again: not by another call, and not when Dask repeats a
task because a worker was lost with its results. A fit whose worker was killed runs again, from its
checkpoint where its method has one. Dask decides where fits run; all machines see the same folders.
"""

import csv
import json
import os
import socket
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgt.config.source import toml
from pgt.core.errors import DoubtWarning, InputError
from pgt.core.files import in_one_piece, make_folder
from pgt.core.folder_lock import lock_folder
from pgt.core.progress import ProgressBar
from pgt.sweep.cases import Case, read_sweep, require_cases

if TYPE_CHECKING:
    from distributed import Client, Future

FITS, TABLE = "fits", "table.csv"
FINISHED, FAILED = "finished", "failed"
# The number of times that a fit is tried again after an error that is not one of its input, such as a
# full disk.
RETRIES = 2
# The seconds until a scheduler counts as not there.
CONNECT_SECONDS = 20
# What a record keeps of the numbers that `pgt fit` writes.
KEPT = ("model", "converged", "reason", "doubt_kinds", "coefficients", "field_error", "held_out")

Record = dict[str, Any]
Run = Callable[[Case, Path], Record]


def run_sweep(
    path: str | Path,
    folder: str | Path,
    *,
    address: str | None = None,
    workers: int | None = None,
    retries: int = RETRIES,
    progress: bool | None = None,
) -> list[Record]:
    """The records of all fits of a sweep file, after running those that are not finished.

    Parameters
    ----------
    path
        The sweep file; see `pgt.sweep.read_sweep`.
    folder
        Where everything is written: `table.csv`, and for each fit the folder of `pgt fit` and its record.
    address
        Of a Dask scheduler that runs, such as "tcp://10.0.0.1:8786". Default: processes on this machine.
    workers
        The number of processes on this machine. Default: its number of cores.
    retries
        How often a fit is tried again after an error that is not one of its input.
    progress
        Whether to show a progress bar; default: if standard error is a terminal.
    """
    cases = read_sweep(path)
    return run_cases(cases, Path(folder), _fit_case, address, workers, retries, progress)


def map_files(
    fit: Callable[[Any], Any], files: Iterable[Any], *, client: "Client | None" = None
) -> "list[Future]":
    """The futures of `fit(file)` for all files, on a Dask cluster; `future.result()` waits for one.

    `client` is a `distributed.Client`. Default: the last one that was made, or else a new one with one
    process per core of this machine. A script that starts processes needs `if __name__ == "__main__":`.

    >>> import pgt.sweep
    >>> def fit(file):
    ...     return pgt.reconstruct(pgt.io.read(file), "u_t = 0.1*u_xx", {"x": (0, 1), "t": (0, 1)})
    >>> pgt.sweep.map(fit, [])
    []
    """
    files = list(files)
    if not files:
        return []
    distributed = _distributed()
    if client is None:
        try:
            client = distributed.default_client()
        except ValueError:  # there is none
            client = distributed.Client(_local_cluster(os.cpu_count() or 1))
    assert client is not None
    return client.map(fit, files, pure=False, retries=RETRIES)


def run_cases(
    cases: list[Case],
    folder: Path,
    run: Run,
    address: str | None = None,
    workers: int | None = None,
    retries: int = RETRIES,
    progress: bool | None = None,
) -> list[Record]:
    """The records of all cases, after `run(case, folder of its files)` of those that are not finished."""
    require_cases(cases)
    make_folder(folder / FITS)
    with lock_folder(folder / FITS):
        due = [case for case in cases if not _is_finished(folder, case)]
        if due:
            with _connected(address, min(workers or os.cpu_count() or 1, len(due))) as client:
                _run_due(client, due, folder.resolve(), run, retries, progress)
        records = [_read_record(folder, case) or _no_record(case) for case in cases]
        with in_one_piece(folder / TABLE) as path:
            _write_table(path, records)
    return records


def _run_due(
    client: "Client", due: list[Case], folder: Path, run: Run, retries: int, progress: bool | None
) -> None:
    """Run the cases, and record the failure of those that ended without a record of their own."""
    from distributed import as_completed

    futures = {
        client.submit(
            run_once, case, folder, run, key=f"pgt-{case.name}", pure=False, retries=retries
        ): case
        for case in due
    }
    with ProgressBar(progress) as bar:
        bar.update(f"0 of {len(due)} fits", 0.0, {})
        for done, future in enumerate(as_completed(list(futures)), 1):
            case = futures.pop(future)
            if future.status != "finished" and not _is_finished(folder, case):
                _write_record(folder, case, {"status": FAILED, "error": _why_failed(future)})
            bar.update(f"{done} of {len(due)} fits", done / len(due), {})
            future.release()


def run_once(case: Case, folder: Path, run: Run) -> str:
    """The status of a case, after running it unless its record says that it is finished."""
    if _is_finished(folder, case):
        return FINISHED
    began = time.time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DoubtWarning)  # the record has the doubts
            found = {"status": FINISHED} | run(case, folder / FITS / case.name)
    except InputError as error:  # another try would fail as this one did
        found = {"status": FAILED, "error": str(error)}
    found |= {"seconds": time.time() - began, "host": socket.gethostname(), "process": os.getpid()}
    _write_record(folder, case, found)
    return found["status"]


def _fit_case(case: Case, folder: Path) -> Record:
    """What `pgt fit` found, and its outputs in the folder."""
    from pgt.config import load_run
    from pgt.runs.fit import fit
    from pgt.runs.folder import METRICS, is_begun

    run = load_run(case.run_file, case.overrides)
    make_folder(folder)
    fit(run, folder, resume=is_begun(folder), seconds=None, say=lambda line: None)
    found = json.loads((folder / METRICS).read_text(encoding="utf-8"))
    return {name: found[name] for name in KEPT}


# ------------------------------------------------------------------------------- records


def _record_path(folder: Path, case: Case) -> Path:
    return folder / FITS / f"{case.name}.json"


def _read_record(folder: Path, case: Case) -> Record | None:
    path = _record_path(folder, case)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise InputError(f"{path}: damaged ({error}); delete it to run this fit again.") from None


def _is_finished(folder: Path, case: Case) -> bool:
    record = _read_record(folder, case)
    return record is not None and record.get("status") == FINISHED


def _write_record(folder: Path, case: Case, found: Record) -> None:
    record = {"name": case.name, "values": case.values} | found
    with in_one_piece(_record_path(folder, case)) as path:
        path.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def _no_record(case: Case) -> Record:
    return {"name": case.name, "values": case.values, "status": "not run"}


def _why_failed(future: "Future") -> str:
    if future.status == "cancelled":
        return "the scheduler ended"
    error = future.exception()
    return f"{type(error).__name__}: {error}"


# ------------------------------------------------------------------------------- table


def rows_of(records: list[Record]) -> list[dict[str, Any]]:
    """The records as rows of a table: settings, status, and the numbers of each field and coefficient."""
    return [_row(record) for record in records]


def _row(record: Mapping[str, Any]) -> dict[str, Any]:
    row = {"name": record["name"], "status": record["status"]}
    for key, value in record["values"].items():
        row[key] = toml(value) if isinstance(value, dict | list) else value
    for name, error in record.get("field_error", {}).items():
        row[f"stated error of {name}"] = error["value"]
    for name, error in record.get("held_out", {}).items():
        row[f"held-out error of {name}"] = error["of_spread"]
    row |= record.get("coefficients", {})
    for key in ("model", "converged", "seconds", "error"):
        if key in record:
            row[key] = record[key]
    if "doubt_kinds" in record:
        row["doubts"] = " ".join(record["doubt_kinds"])
    return row


def _write_table(path: Path, records: list[Record]) -> None:
    rows = rows_of(records)
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names, restval="")
        writer.writeheader()
        writer.writerows(rows)


# ------------------------------------------------------------------------------- Dask


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise InputError(
            "several fits at once need Dask: pip install 'physics-guided-transformer[sweep]'."
        ) from None
    return distributed


@contextmanager
def _connected(address: str | None, workers: int) -> Iterator["Client"]:
    """A client of the scheduler at the address, or of processes on this machine."""
    distributed = _distributed()
    if address is None:
        with _local_cluster(workers) as cluster, distributed.Client(cluster) as client:
            yield client
        return
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise InputError(
            f"--address {address}: no Dask scheduler answers there ({error}); start one with "
            "`dask scheduler`, or leave the address out."
        ) from None
    with client:
        yield client


def _local_cluster(workers: int) -> Any:
    """So many processes on this machine, each with its share of the cores."""
    share = str(max((os.cpu_count() or 1) // workers, 1))
    return _distributed().LocalCluster(
        n_workers=workers, threads_per_worker=1, memory_limit=0, dashboard_address=None,
        env={"OMP_NUM_THREADS": share, "NPROC": share, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"},
    )  # fmt: skip
