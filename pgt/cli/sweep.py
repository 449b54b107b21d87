"""`pgt sweep`: many fits of one run file."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pgt.cli.console import console, mistakes_are_messages, stoppable
from pgt.core.doubt import INCOMPLETE
from pgt.core.numbers import percent


def sweep(
    sweep_file: Annotated[Path, typer.Argument(help="A sweep file: base, files, seeds, [grid].")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for everything.")] = Path(
        "runs/sweep"
    ),
    workers: Annotated[
        int | None, typer.Option(min=1, help="Processes on this machine; default: one per core.")
    ] = None,
    address: Annotated[
        str | None, typer.Option(help="A running Dask scheduler: tcp://10.0.0.1:8786.")
    ] = None,
    retries: Annotated[
        int, typer.Option(min=0, help="How often a fit is tried again after an error.")
    ] = 2,
) -> None:
    """Fit once for every combination of settings, files and seeds; the same command continues."""
    printed = console()
    with mistakes_are_messages(), stoppable(lambda: "Stopped; the same command continues."):
        from pgt.sweep.cluster import FINISHED, TABLE, rows_of, run_sweep

        records = run_sweep(sweep_file, output, address=address, workers=workers, retries=retries)
    printed.print(_table(rows_of(records)))
    failed = [record for record in records if record["status"] != FINISHED]
    reasons = Counter(record.get("error", record["status"]) for record in failed)
    printed.print(f"{output / TABLE}: {len(records)} fits", soft_wrap=True)
    for reason, count in reasons.items():
        said = f"pgt: {count} of {len(records)} fits failed: {reason}"
        console(stderr=True).print(said, style="red", soft_wrap=True)
    if failed:
        raise typer.Exit(INCOMPLETE)


def _table(rows: list[dict]) -> Table:
    """What differs between the fits, and how well each went."""
    hidden = {"name", "status", "error", "converged"}
    names = [name for name in dict.fromkeys(n for row in rows for n in row) if name not in hidden]
    table = Table(*names)
    for row in rows:
        table.add_row(*(_shown(name, row.get(name, "")) for name in names))
    return table


def _shown(name: str, value: object) -> str:
    if isinstance(value, float):
        return percent(value) if " error of " in name else f"{value:.4g}"
    return str(value)
