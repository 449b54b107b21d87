"""What went wrong, or was stopped, is one line."""

import pytest
import typer
from rich.table import Table

import pgt
from pgt.cli.console import console, mistakes_are_messages, stoppable
from pgt.cli.interrupt import INTERRUPTED


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (pgt.InputError("[bold] is not markup"), "pgt: [bold] is not markup"),
        (
            OSError(28, "No space left", "out/field.nc"),
            "pgt: out/field.nc: No space left; make room",
        ),
        (OSError("broken"), "pgt: broken"),
    ],
)
def test_what_the_user_can_mend_is_a_line_on_standard_error(error, message, capsys):
    with pytest.raises(typer.Exit) as end, mistakes_are_messages():
        raise error
    assert end.value.exit_code == 2
    out, err = capsys.readouterr()
    assert err.startswith(message)
    assert not out


def test_text_from_users_is_neither_markup_nor_emoji(capsys):
    table = Table("field[/b]", title="dd[/a].toml")
    table.add_row("[red]u[/]", caption := ":smile:")
    console().print(table)
    console().print("dd[/a].toml", caption)
    shown = capsys.readouterr().out
    assert all(text in shown for text in ("field[/b]", "[red]u[/]", caption))
    assert shown.count("dd[/a].toml") == 2


def test_a_bug_is_no_mistake_of_the_user():
    with pytest.raises(ZeroDivisionError), mistakes_are_messages():
        _ = 1 / 0


def test_an_interrupt_is_one_sentence(capsys):
    with pytest.raises(typer.Exit) as end, stoppable(lambda: "Stopped; go on with --resume."):
        raise KeyboardInterrupt
    assert end.value.exit_code == INTERRUPTED
    assert capsys.readouterr().out == "\nStopped; go on with --resume.\n"
