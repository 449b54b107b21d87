"""Every command of `pgt`. JAX is imported inside the commands, so that `--help` answers at once."""

from typing import Annotated

import typer

from pgt.cli import families, runs
from pgt.cli.bench import bench
from pgt.cli.demo import demo
from pgt.cli.live import live
from pgt.ground.version import __version__

app = typer.Typer(
    name="pgt",
    help="Continuous physical fields from scattered sensor readings and a governing equation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
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
    families.pretrain,
    live,
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
