"""The commands of `pgt`. They import JAX when they run, so that `--help` is fast."""

from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
import typer.core
import typer.main

from pgt.cli import families, runs
from pgt.cli.console import mistakes_are_messages
from pgt.cli.discover import discover
from pgt.cli.live import live
from pgt.cli.sweep import sweep
from pgt.core.errors import InputError
from pgt.core.provenance import __version__

PLUGINS = "pgt.commands"  # the group of entry points under which other packages offer commands
UNPUBLISHED_COMMANDS = {  # commands of packages that are not published: how to install them
    "bench": "`pgt bench` is not installed; install it with `pip install ./benchmarks` in a clone of "
    "the repository."
}


class Commands(typer.core.TyperGroup):
    """The commands of this package, and those of installed packages that offer some.

    Installed packages are looked through only where a command is not found here, and for the help.
    """

    def list_commands(self, ctx) -> list[str]:
        """The names of all commands, as the help shows them."""
        own = super().list_commands(ctx)
        return [*own, *sorted(_offered().keys() - set(own))]

    def get_command(self, ctx, cmd_name: str):
        """The command with this name, or None."""
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            return command
        offered = _offered().get(cmd_name)
        with mistakes_are_messages():
            if offered is not None:
                return _loaded(offered)
            if cmd_name in UNPUBLISHED_COMMANDS:
                raise InputError(UNPUBLISHED_COMMANDS[cmd_name])
        return None


def _offered() -> dict[str, Any]:
    return {entry.name: entry for entry in entry_points(group=PLUGINS)}


def _loaded(offered: Any):
    try:
        command = typer.main.get_command(offered.load())
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"the command {offered.name!r} is installed, but {offered.value} cannot be loaded: {error}; "
            "install its package again, or remove it."
        ) from None
    command.name = offered.name
    return command


app = typer.Typer(
    name="pgt",
    cls=Commands,
    help="Continuous physical fields from scattered sensor readings and a governing equation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for _command in (
    runs.init,
    runs.check,
    runs.fit,
    discover,
    runs.predict,
    runs.compare,
    runs.report,
    runs.info,
    families.pretrain,
    sweep,
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
