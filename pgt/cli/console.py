"""Messages of one line: errors of the input, doubts, and interrupts."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from pgt.cli.interrupt import INTERRUPTED, saying
from pgt.core.errors import DoubtWarning, InputError


def console(*, stderr: bool = False) -> Console:
    """A console that prints names and paths unchanged, without markup and emoji."""
    return Console(stderr=stderr, markup=False, emoji=False)


@contextmanager
def mistakes_are_messages() -> Iterator[None]:
    """A context in which bad input ends the command with one line on standard error and exit code 2."""
    try:
        with doubts_are_messages():
            yield
    except (InputError, OSError) as error:
        console(stderr=True).print(f"pgt: {_in_words(error)}", style="red", soft_wrap=True)
        raise typer.Exit(2) from None


@contextmanager
def doubts_are_messages() -> Iterator[None]:
    """A context that prints each doubt of the library once, without its place in the code.

    A command may read a file twice, and would otherwise repeat the doubt.
    """
    show_other, printed = warnings.showwarning, set()

    def show(message, category, *place):
        if issubclass(category, DoubtWarning) and str(message) in printed:
            return
        if issubclass(category, DoubtWarning):
            printed.add(str(message))
            console(stderr=True).print(f"pgt: {message}", style="yellow", soft_wrap=True)
        else:
            show_other(message, category, *place)

    with warnings.catch_warnings():
        warnings.simplefilter("always", DoubtWarning)
        warnings.showwarning = show
        yield


def _in_words(error: InputError | OSError) -> str:
    if isinstance(error, OSError) and error.filename and error.strerror:
        return f"{error.filename}: {error.strerror}; make room, or name another place with -o."
    return str(error)


@contextmanager
def stoppable(words: Callable[[], str]) -> Iterator[None]:
    """A context in which an interrupt ends the command with one sentence, also inside another program."""
    try:
        with saying(words):
            yield
    except KeyboardInterrupt:
        typer.echo(f"\n{words()}")
        raise typer.Exit(INTERRUPTED) from None
