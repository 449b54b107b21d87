"""`pgt pretrain`: one network for a family of systems."""

import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.table import Table

from pgt.cli.console import console, mistakes_are_messages
from pgt.core.errors import InputError

if TYPE_CHECKING:  # the help does not wait for JAX
    from pgt.families import Pretrained
    from pgt.families.family import AbstractFamily
    from pgt.physics.pde import AbstractPDE

EXAMPLE_READINGS = 64  # the number of readings of the system in the figure


def pretrain(
    family: Annotated[
        str,
        typer.Argument(help="The name of a family, such as heat, or a folder of simulations."),
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
        from pgt.families import Pretraining
        from pgt.families import pretrain as train

        drawn = _family(family, equation, coefficients, periodic, crop)
        target = output or Path(f"{Path(family).name}.safetensors")
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


def _family(
    name: str, equation: str | None, coefficients: str, periodic: str, crop: str
) -> "AbstractFamily":
    """The registered family of that name, or the simulations in a folder."""
    from pgt.families import Simulations, get

    if not Path(name).is_dir():
        if equation or coefficients or periodic or crop:
            raise InputError(
                f"there is no folder {name!r}; --equation, --coefficients, --periodic and --crop are for "
                "simulations in a folder."
            )
        return get(name)
    if equation is None:
        raise InputError(
            f"{name} is a folder of simulations: say which equation they solve, by its name, "
            '--equation heat, or as text, --equation "u_t = diffusivity*u_xx".'
        )
    names, axes, counts = (
        text.replace(",", " ").split() for text in (coefficients, periodic, crop)
    )
    return Simulations(Path(name), _equation_of(equation), names, _counts(counts), axes)


def _equation_of(text: str) -> "Callable[..., AbstractPDE]":
    """The class of a registered equation, or one that makes an equation from text with a `=`."""
    from pgt.core.parser import suggestion
    from pgt.core.registry import parts
    from pgt.physics.equation import Equation

    if "=" in text:
        return partial(Equation, text)
    known = parts("equation")
    if text not in known:
        raise InputError(
            f"there is no equation called {text!r}.{suggestion(text, known)} An equation as "
            'text has a `=`, as in "u_t = diffusivity*u_xx".'
        )
    return known[text]


def _counts(words: list[str]) -> dict[str, int]:
    """The number of nodes by axis, from words such as "t=20"."""
    found = {}
    for word in words:
        axis, _, count = word.partition("=")
        if not count.isdigit():
            raise InputError(f"--crop {word}: write an axis and its number of nodes, as in t=20.")
        found[axis] = int(count)
    return found


def _draw(trained: "Pretrained", path: Path) -> None:
    from pgt import plots

    truth, answer, readings = _example(trained)
    plots.save(plots.compare(truth, answer, sensors=readings), path)


def _example(trained: "Pretrained") -> tuple:
    """Truth, answer and readings of a system that neither the training nor the card used."""
    import jax

    from pgt.data.observations import sample
    from pgt.families.networks.card import HELD_OUT, SYSTEMS

    family, card, fields = trained.family, trained.card, list(trained.family.fields)
    key = jax.random.fold_in(jax.random.key(card.seed + HELD_OUT), SYSTEMS)
    system = family.draw(key)
    truth = family.dataset(system)
    readings = sample(truth, n=min(EXAMPLE_READINGS, card.sensing.max_readings), seed=0)
    known = {name: float(value) for name, value in system.coefficients.items()}
    answer = trained(readings, known).grid(**family.axes)
    return truth[fields], answer[fields], readings


def _show(card, target: Path) -> None:
    table = Table("readings", "median error", "worst tenth", "with 5 % noise", "worst tenth")
    for count, row in card.errors.items():
        table.add_row(count, *(f"{100 * value:.2g} %" for value in row.values()))
    printed = console()
    printed.print(table)
    printed.print(f"{target}: {card.family}, {card.steps} steps, unseen systems above.")
    printed.print(f"{target.with_suffix('.png')}: the answer for a system that it has not seen.")
