"""`pgt demo`: worked examples that leave field, figures, numbers and a report in a folder."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from pgt.cli.console import console, mistakes_are_messages

demo = typer.Typer(help="Worked examples that leave figures, numbers and a report in a folder.")
Output = Annotated[
    Path, typer.Option("--output", "-o", help="Folder for figures, numbers and the field.")
]
Quick = Annotated[
    bool, typer.Option("--quick", help="A few steps only: shows that it works, not how well.")
]
Seed = Annotated[int, typer.Option(help="The only source of randomness.")]
Seconds = Annotated[float, typer.Option("--seconds", min=1.0, help="Train for this long.")]
THREE_MINUTES = 150.0  # of training; compiling, comparing and drawing take the rest


@demo.command()
def heat(output: Output = Path("runs/heat"), quick: Quick = False, seed: Seed = 0) -> None:
    """Reconstruct the heat equation from 100 readings, beside the paper's numbers."""
    from pgt.demo import run_heat_demo, table

    with mistakes_are_messages():
        numbers = run_heat_demo(output, quick=quick, seed=seed, say=_say())
    console().print(_beside_others(table(numbers), numbers))


@demo.command()
def wake(
    output: Output = Path("runs/wake"),
    seconds: Seconds = THREE_MINUTES,
    quick: Quick = False,
    seed: Seed = 0,
) -> None:
    """Reconstruct the wake of a cylinder from 1500 samples of u, v and p."""
    _flow(output, True, seconds, quick, seed)


@demo.command()
def pressure(
    output: Output = Path("runs/pressure"),
    seconds: Seconds = THREE_MINUTES,
    quick: Quick = False,
    seed: Seed = 0,
) -> None:
    """Infer the pressure behind a cylinder from 1500 samples of the velocity alone."""
    _flow(output, False, seconds, quick, seed)


def _flow(output: Path, pressure: bool, seconds: float, quick: bool, seed: int) -> None:
    from pgt.demo import run_wake_demo

    with mistakes_are_messages():
        numbers = run_wake_demo(
            output, pressure=pressure, seconds=seconds, quick=quick, seed=seed, say=_say()
        )
    console().print(_against_truth(numbers))


def _say() -> Callable[[str], None]:
    printed = console()
    return lambda line: printed.print(line, soft_wrap=True, highlight=False)


def _against_truth(numbers: dict) -> Table:
    measured, errors = numbers["measured"], numbers["errors"]
    hidden = "" if "p" in measured else "; p less its mean over each snapshot"
    caption = (
        f"against the truth at {numbers['snapshots']} snapshots of 5000 points{hidden}; "
        f"{numbers['steps']} steps in {numbers['seconds']:.0f} s on {numbers['device']}"
    )
    table = Table(
        title=f"Cylinder wake from 1500 samples of {', '.join(measured)}", caption=caption
    )
    for name in ("field", "relative L2", "rms error", "largest error"):
        table.add_column(name, justify="left" if name == "field" else "right")
    for name, error in errors["relative_l2"].items():
        kind = name if name in measured else f"{name}, never measured"
        row = (error, errors["rmse"][name], errors["max_error"][name])
        table.add_row(kind, *(f"{value:.1e}" for value in row))
    return table


def seconds_in_words(numbers: dict) -> str:
    """Of the run that the first row shows: compiling, the fit, and all of it."""
    fit = numbers["train_seconds"] + numbers["polish_seconds"]
    first, every, device = (numbers[name] for name in ("first_step_seconds", "seconds", "device"))
    return (
        f"This run took {every:.1f} s on {device.partition(':')[0].upper()}, from the call to the "
        f"result: {fit:.1f} s for the fit, of which {first:.1f} s until its first step was compiled and "
        f"done; {max(every - fit, 0.0):.1f} s to set up the problem and to estimate the error. Compiled "
        "programs are kept, so that a second run is faster."
    )


def _beside_others(rows, numbers: dict) -> Table:
    tried = numbers["interpolation"]["readings only"]["kernels_tried"]
    caption = (
        "rel L2: relative error on the 101 × 101 grid. "
        f"{seconds_in_words(numbers)} The paper's seconds are those it prints, on its machine. "
        f"RBF: the best of {tried} kernels, chosen by the true error."
    )
    title = "Heat equation from 100 readings"
    if numbers["quick"]:
        title += ", --quick: checks that everything runs, compares nothing"
    table = Table(title=title, caption=caption)
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
