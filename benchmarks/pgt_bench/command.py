"""`pgt bench`: the paper's tables, one command each."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from pgt.cli.console import console, mistakes_are_messages, stoppable

bench = typer.Typer(
    help="The paper's tables, ours beside theirs: one command each.",
    no_args_is_help=True,
    add_completion=False,
)
RECORDS, ZOO = Path("benchmarks/results/tables"), Path("benchmarks/results/zoo")
TABLES = {  # the same names as in pgt_bench.experiments, without waiting for JAX
    "heat": "Table 1: heat equation, 100 to 500 readings.",
    "wake": "Table 2: the cylinder wake; networks, sines and two interpolations.",
    "ablation": "Table 3: PGT with one thing taken away at a time.",
    "noise": "Table 4: u and v corrupted, PGT and PGT-UW.",
    "gamma": "Where does the attention bias help? Kernels, readings and noise.",
}
STOPPED = "Stopped. The same command continues with the run that was interrupted."
Records = Annotated[Path, typer.Option("--records", help="Folder of the stored runs.")]


def _command(name: str) -> Callable:
    def run(
        preset: Annotated[
            str,
            typer.Option(
                help="cpu (two cores), gpu, or smoke (checks that it runs, trains nothing)."
            ),
        ] = "cpu",
        models: Annotated[
            str, typer.Option(help="Only these methods, separated by commas: pgt,pinn.")
        ] = "",
        seeds: Annotated[int, typer.Option(min=1, help="How many seeds: 0, 1, ...")] = 1,
        records: Records = RECORDS,
    ) -> None:
        _sweep(name, preset, tuple(filter(None, models.split(","))), seeds, records)

    run.__doc__ = f"""{TABLES[name]}

    Every run leaves one file in RECORDS/PRESET; what is there already is not run again, so an
    interrupted sweep continues where it stopped. The preset smoke checks that the programs run: its
    networks are not trained, and its errors compare nothing.
    """
    return run


for _name in TABLES:
    bench.command(_name)(_command(_name))


def _sweep(table: str, preset: str, models: tuple[str, ...], seeds: int, records: Path) -> None:
    from pgt_bench.experiments import runs
    from pgt_bench.presets import SMOKE
    from pgt_bench.runner import sweep

    with mistakes_are_messages(), stoppable(lambda: STOPPED):
        todo = runs(table, preset, models, tuple(range(seeds)))
        rows = _watched(table, todo, records, sweep)
    console().print(_summary(rows, f"pgt bench {table}, preset {preset}", preset == SMOKE))


def _watched(title: str, todo: list, folder: Path, sweep: Callable) -> list[tuple[str, dict]]:
    """Sweep with a progress bar; the name and the record of every run."""
    rows = []
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console(stderr=True)) as progress:
        task = progress.add_task(title, total=len(todo))

        def tell(run, record):
            progress.update(task, description=run.name)
            if record is not None:
                progress.advance(task)
                rows.append((run.name, record))

        sweep(todo, folder, tell)
    return rows


UNTRAINED = "a check that the programs run, not a comparison"


def _summary(rows: list[tuple[str, dict]], title: str, is_smoke: bool) -> Table:
    from pgt_bench.records import has_diverged

    caption = "error: relative L2 over all points and fields of the truth"
    if is_smoke:
        title = f"{title}: {UNTRAINED}"
        caption += (
            ". The networks are tiny and not trained, so that the errors say nothing about the "
        )
        caption += "methods; --preset cpu trains them for a comparison"
    table = Table(title=title, caption=caption)
    table.add_column("run", overflow="fold")
    for name in ("error, untrained" if is_smoke else "error", "residual", "seconds"):
        table.add_column(name, justify="right")
    for name, record in rows:
        if "failed" in record:
            table.add_row(name, f"failed: {record['failed']}", "", "")
            continue
        error = record["errors"]["volume"]["overall"]["stacked"]
        residual, seconds = record.get("residual"), record["seconds"]["all"]
        table.add_row(
            name,
            "diverged" if has_diverged(record) or error is None else f"{error:.2e}",
            "" if residual is None else f"{residual:.1e}",
            f"{seconds:.3g}",
        )
    return table


@bench.command()
def zoo(
    folder: Annotated[Path, typer.Option("--out", "-o", help="Folder of the stored runs.")] = ZOO,
    problem: Annotated[
        list[str] | None, typer.Option(help="Only this problem; may be given again.")
    ] = None,
    method: Annotated[
        str, typer.Option(help="Only these methods, separated by commas: ours,gp.")
    ] = "",
    seconds: Annotated[float, typer.Option(min=0.01, help="The budget of every run.")] = 60.0,
    group: Annotated[
        str, typer.Option(help="Only the group that is tuned, held-back or later.")
    ] = "",
    seed: Annotated[list[int] | None, typer.Option(help="May be given again.")] = None,
    page: Annotated[
        Path | None, typer.Option(help="A page whose tables are rewritten, such as docs/zoo.md.")
    ] = None,
    stored: Annotated[
        bool, typer.Option("--stored", help="Run nothing: summarise what is stored.")
    ] = False,
) -> None:
    """Problems with known truth, defaults only, beside rivals.

    Every run leaves one file in the folder; what is there already is not run again. A table and
    figures of all that is there are written beside them.
    """
    from pgt_bench.zoo.page import write
    from pgt_bench.zoo.runner import runs, sweep

    with mistakes_are_messages(), stoppable(lambda: STOPPED):
        methods = tuple(filter(None, method.split(",")))
        todo = runs(
            problem or (), methods, seconds=seconds, group=group or None, seeds=seed or (0,)
        )  # fmt: skip
        _watched("zoo", [] if stored else todo, folder, sweep)
        text, written = write(folder, page)
    typer.echo(text)
    for path in written:
        typer.echo(path)


@bench.command()
def results(
    records: Records = RECORDS,
    document: Annotated[Path, typer.Option(help="The page whose tables are rewritten.")] = Path(
        "docs/results.md"
    ),
    figures: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("docs/figures"),
) -> None:
    """Write tables and figures of docs/results.md from the stored runs."""
    from pgt_bench.results import write

    with mistakes_are_messages():
        written = write(records, document, figures)
    for path in written:
        typer.echo(path)


@bench.command()
def audit() -> None:
    """The residual of the reference data itself: the floor no method can pass honestly."""
    from pgt_bench.problems import audited

    table = Table(
        caption="mean square of each equation by differences of 8th order, data's own units"
    )
    for name in ("data set", "equation", "mean square"):
        table.add_column(name)
    for name, found in audited():
        for equation, square in found.items():
            table.add_row(name, equation, f"{square:.1e}")
    console().print(table)
