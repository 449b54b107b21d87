"""`pgt pretrain`: one network for a family of systems."""

import shutil
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.table import Table

from pgt.cli.console import console, mistakes_are_messages
from pgt.core.errors import InputError

EXAMPLE_READINGS = 64  # of each system in the figure


def pretrain(
    family: Annotated[
        str,
        typer.Argument(
            help="Its name, such as heat, a folder of simulations, or a file of your own: mine.py."
        ),
    ],
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
    model: Annotated[
        Literal["hypernetwork", "pgt"],
        typer.Option(help="pgt: the transformer, guided by a symmetric Γ."),
    ] = "hypernetwork",
    kernel: Annotated[
        Literal["none", "equation", "symmetric"] | None,
        typer.Option(help="Γ, which guides attention; default: as suits the model."),
    ] = None,
    equation: Annotated[
        str | None, typer.Option(help="Of a folder: a name, or text, which the simulations solve.")
    ] = None,
    coefficients: Annotated[
        str, typer.Option(help="Of a folder: the equation's, which every file has: speed,mixing.")
    ] = "",
    periodic: Annotated[str, typer.Option(help="Of a folder: axes that close: x,y.")] = "",
    crop: Annotated[
        str, typer.Option(help="Of a folder: how many nodes of an axis a system has: t=20.")
    ] = "",
    seed: Annotated[int, typer.Option(help="The only source of randomness.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Continue what was killed.")] = False,
) -> None:
    """Train a network once over many systems; it then answers for new ones at once."""
    with mistakes_are_messages():
        from pgt.core.errors import InputError
        from pgt.families import Pretraining
        from pgt.families import pretrain as train

        drawn = _family(family, equation, coefficients, periodic, crop)
        target = output or Path(f"{_stem(family)}.safetensors")
        progress = target.with_suffix(".progress")
        if progress.exists() and not resume:
            raise InputError(
                f"{progress} holds training that is not finished: continue it with --resume, or "
                "delete the folder."
            )
        training = Pretraining(steps=steps, seconds=seconds, systems=systems, kernel=kernel)
        trained = train(drawn, training, model=model, seed=seed, checkpoint=progress)
        trained.save(target)
        _draw(trained, target.with_suffix(".png"))
        shutil.rmtree(progress, ignore_errors=True)  # kept in case of a kill
    _show(trained.card, target)


def _stem(family: str) -> str:
    """`mine` of simulations/mine, mine.py and others.py:mine."""
    return Path(family).name.removesuffix(".py").rpartition(":")[2]


def _family(name: str, equation: str | None, *options: str):
    """The family of that name, the simulations in a folder, or what a file of Python has."""
    from pgt.cli.user_families import family_in_file, family_in_folder
    from pgt.families import get

    coefficients, periodic, crop = (text.replace(",", " ").split() for text in options)
    if Path(name).is_dir():
        return family_in_folder(Path(name), equation, coefficients, periodic, _counts(crop))
    if equation or coefficients or periodic or crop:
        raise InputError(
            f"there is no folder {name!r}; --equation, --coefficients, --periodic and --crop are for "
            "simulations in a folder."
        )
    file, _, chosen = name.partition(".py:") if ".py:" in name else (name, "", "")
    if chosen or name.endswith(".py"):
        return family_in_file(Path(file.removesuffix(".py") + ".py"), chosen)
    return get(name)


def _counts(words: list[str]) -> dict[str, int]:
    """t=20 as {"t": 20}."""

    found = {}
    for word in words:
        axis, _, count = word.partition("=")
        if not count.isdigit():
            raise InputError(f"--crop {word}: write an axis and its number of nodes, as in t=20.")
        found[axis] = int(count)
    return found


def _draw(trained, path: Path) -> None:
    """The error by number of readings, and three systems: beside the file."""
    from pgt import plots

    plots.save(plots.unseen(trained.card.errors, _examples(trained)), path)


def _examples(trained, count: int = 3) -> list[tuple]:
    """Truth, answer and readings of systems that neither training nor the card used."""
    import jax

    from pgt.data.observations import sample
    from pgt.families.networks.card import HELD_OUT, SYSTEMS

    family, card = trained.family, trained.card
    root, found, fields = jax.random.key(card.seed + HELD_OUT), [], list(family.fields)
    for k in range(count):
        system = family.draw(jax.random.fold_in(root, SYSTEMS + k))
        truth = family.dataset(system)
        readings = sample(truth, n=min(EXAMPLE_READINGS, card.sensing.max_readings), seed=k)
        known = {name: float(value) for name, value in system.coefficients.items()}
        answer = trained(readings, known).grid(**family.axes)
        found.append((truth[fields], answer[fields], readings))
    return found


def _show(card, target: Path) -> None:
    table = Table("readings", "median error", "worst tenth", "with 5 % noise", "worst tenth")
    for count, row in card.errors.items():
        table.add_row(count, *(f"{100 * value:.2g} %" for value in row.values()))
    printed = console()
    printed.print(table)
    printed.print(f"{target}: {card.family}, {card.steps} steps, unseen systems above.")
    printed.print(f"{target.with_suffix('.png')}: the same as a figure, and three systems.")
