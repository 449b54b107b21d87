"""`pgt pretrain`: one network for a family of systems."""

import shutil
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from pgt.cli.messages import mistakes_are_messages


def pretrain(
    family: Annotated[str, typer.Argument(help="Its name, such as heat or burgers.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write: FAMILY.safetensors.")
    ] = None,
    steps: Annotated[int, typer.Option(min=1, help="How many steps to train.")] = 20_000,
    seconds: Annotated[
        float | None, typer.Option(min=1.0, help="Train for this long instead.")
    ] = None,
    systems: Annotated[
        int | None, typer.Option(min=1, help="Train on so many systems only, not on new ones.")
    ] = None,
    kernel: Annotated[
        Literal["none", "equation"], typer.Option(help="equation: Γ guides the encoder.")
    ] = "none",
    seed: Annotated[int, typer.Option(help="The only source of randomness.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue what was killed.")] = False,
) -> None:
    """Train a network once over many systems; it then answers for new ones at once."""
    with mistakes_are_messages():
        from pgt.families import Pretraining, get
        from pgt.families import pretrain as train
        from pgt.ground.errors import InputError

        target = output or Path(f"{family}.safetensors")
        progress = target.with_suffix(".progress")
        if progress.exists() and not resume:
            raise InputError(
                f"{progress} holds training that is not finished: continue it with --resume, or "
                "delete the folder."
            )
        training = Pretraining(steps=steps, seconds=seconds, systems=systems, kernel=kernel)
        trained = train(get(family), training, seed=seed, checkpoint=progress)
        trained.save(target)
        _draw(trained, target.with_suffix(".png"))
        shutil.rmtree(progress, ignore_errors=True)  # kept in case of a kill
    _show(trained.card, target)


def _draw(trained, path: Path) -> None:
    """The error by number of readings, and three systems: beside the file."""
    from pgt import plots
    from pgt.families.examples import examples

    plots.save(plots.unseen(trained.card.errors, examples(trained)), path)


def _show(card, target: Path) -> None:
    table = Table("readings", "median error", "worst tenth", "with 5 % noise", "worst tenth")
    for count, row in card.errors.items():
        table.add_row(count, *(f"{100 * value:.2g} %" for value in row.values()))
    console = Console()
    console.print(table)
    console.print(f"{target}: {card.family}, {card.steps} steps, unseen systems above.")
    console.print(f"{target.with_suffix('.png')}: the same as a figure, and three systems.")
