"""`pgt live`: move sensors on a page of this machine, and see the field follow."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pgt.cli.console import mistakes_are_messages
from pgt.cli.interrupt import saying

if TYPE_CHECKING:  # help does not wait for numpy
    from pgt.live.session import Session

PORT = 8010


def live(
    model: Annotated[
        Path,
        typer.Argument(
            help="A name such as heat or burgers, of what is shipped, or the file of a model."
        ),
    ],
    stream: Annotated[
        str | None,
        typer.Option(help="Readings that arrive: a CSV file that grows, or - for standard input."),
    ] = None,
    window: Annotated[
        int, typer.Option(min=1, max=100_000, help="How many of the newest readings are answered.")
    ] = 1024,
    host: Annotated[str, typer.Option(help="Where to listen; others can then reach it.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = PORT,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """A page on this machine: drag sensors, add noise, drop some, turn a coefficient; the field, its
    error and the truth follow at once. With --stream the field follows readings that arrive."""
    from pgt.live.server import check_packages, listen, serve, warning_of

    with mistakes_are_messages():
        check_packages()
        with listen(host, port) as bound:  # before the model is waited for
            session = _session(model, stream, window)
            if (warning := warning_of(host)) is not None:
                _warn(warning)
            with saying(lambda: "Stopped."):
                serve(session, bound, host, _say, open_browser=browser)


def _session(model: Path, stream: str | None, window: int) -> "Session":
    from pgt.live.rig import open_model
    from pgt.live.session import Session
    from pgt.live.stream import Stream, source_of

    rig = open_model(model)
    if stream is None:
        return Session(rig)
    arriving = Stream(rig, window, lambda said: _warn(f"{stream}: {said}"))
    session = Session(rig, arriving)
    arriving.start(source_of(stream, sys.stdin.buffer.readline))
    return session


def _say(address: str) -> None:
    typer.echo(f"{address}  (stop with Ctrl-C)")


def _warn(sentence: str) -> None:
    typer.secho(f"pgt: {sentence}", fg="yellow", err=True)
