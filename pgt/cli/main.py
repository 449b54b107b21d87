"""Every command of `pgt`. JAX is imported inside the commands, so that `--help` answers at once."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from pgt._errors import InputError
from pgt._version import __version__
from pgt.cli import runs
from pgt.cli.bench import bench

app = typer.Typer(
    name="pgt",
    help="Continuous physical fields from scattered sensor readings and a governing equation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
demo = typer.Typer(help="Worked examples that leave figures and numbers in a folder.")
app.add_typer(demo, name="demo", no_args_is_help=True)
app.add_typer(bench, name="bench", no_args_is_help=True)
for _command in (
    runs.init,
    runs.check,
    runs.fit,
    runs.predict,
    runs.compare,
    runs.report,
    runs.info,
):
    app.command()(_command)


def _version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"pgt {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Continuous physical fields from scattered sensor readings and a governing equation."""


@demo.command()
def heat(
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for figures, numbers and the field.")
    ] = Path("runs/heat"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A few steps only: shows that it works, not how well.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The only source of randomness.")] = 0,
) -> None:
    """Reconstruct the heat equation from 100 readings, beside the paper's numbers."""
    from pgt.demo import heat_demo, table

    console = Console()
    try:
        numbers = heat_demo(output, quick=quick, seed=seed, say=lambda line: _say(console, line))
    except (InputError, OSError) as error:
        Console(stderr=True).print(f"pgt: {error}", style="red", soft_wrap=True, markup=False)
        raise typer.Exit(2) from None
    console.print(_as_table(table(numbers), numbers))


def _say(console: Console, line: str) -> None:
    console.print(line, soft_wrap=True, markup=False, highlight=False)


def _as_table(rows, numbers: dict) -> Table:
    caption = (
        f"relative L2 error on the 101 × 101 grid; this run on {numbers['device']}, of which "
        f"{numbers['first_step_seconds']:.0f} s until the first step; RBF: best of "
        f"{numbers['interpolation']['readings only']['kernels_tried']} kernels, with hindsight"
    )
    table = Table(title="Heat equation from 100 readings", caption=caption)
    table.add_column("method")
    for name in ("rel L2", "seconds", "parameters"):
        table.add_column(name, justify="right")
    for index, (method, error, seconds, parameters) in enumerate(rows):
        table.add_row(
            method,
            f"{error:.1e}",
            "" if seconds is None else f"{seconds:.3g}",
            "" if parameters is None else f"{parameters:,}",
            style="bold" if index == 0 else "",
        )
    return table
