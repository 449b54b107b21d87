"""`pgt pretrain`: one network for a family of systems."""

import importlib.util
import inspect
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table

from pgt.cli.console import console, mistakes_are_messages
from pgt.core.errors import InputError
from pgt.core.parser import suggestion
from pgt.core.registry import parts
from pgt.families.family import AbstractFamily
from pgt.families.simulations import Simulations
from pgt.physics.equation import Equation
from pgt.physics.pde import AbstractPDE

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
    from pgt.cli.families import family_in_file, family_in_folder
    from pgt.core.errors import InputError
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
    from pgt.core.errors import InputError

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


def family_in_file(path: Path, name: str = "") -> AbstractFamily:
    """The family that a file of Python defines, with its default settings; `name` chooses among several.

    The file is run, as `python` would.
    """
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; give one that has a family.")
    found = {family.name: family for family in map(_instance, _classes_in(path))}
    listed = ", ".join(found) or "none"
    if name and name not in found:
        raise InputError(f"{path} has no family {name!r}; it has {listed}.")
    if not name and len(found) != 1:
        raise InputError(
            f"{path} has {len(found)} families, {listed}; write {path}:NAME."
            if found
            else f"{path} has no family: a subclass of `pgt.families.AbstractSolved` with all its parts."
        )
    return found[name] if name else next(iter(found.values()))


def family_in_folder(
    folder: Path,
    equation: str | None,
    coefficients: Sequence[str] = (),
    periodic: Sequence[str] = (),
    crop: Mapping[str, int] | None = None,
) -> Simulations:
    """The simulations of a folder; `equation` is a name of the library, or text with a `=`."""
    if equation is None:
        raise InputError(
            f"{folder} is a folder of simulations: say which equation they solve, by its name, "
            '--equation heat, or as text, --equation "u_t = diffusivity*u_xx".'
        )
    return Simulations(folder, _equation_of(equation), coefficients, crop, periodic)


def _equation_of(text: str) -> Callable[..., AbstractPDE]:
    if "=" in text:
        return partial(Equation, text)
    known = parts("equation")
    if text not in known:
        raise InputError(
            f"there is no equation called {text!r}.{suggestion(text, known)} An equation as "
            'text has a `=`, as in "u_t = diffusivity*u_xx".'
        )
    return known[text]


def _classes_in(path: Path) -> list[type[AbstractFamily]]:
    """The concrete families that the file itself defines."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    try:
        spec.loader.exec_module(module)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{path} does not run: {type(error).__name__}: {error}.") from error
    return [
        part
        for part in vars(module).values()
        if inspect.isclass(part)
        and issubclass(part, AbstractFamily)
        and part.__module__ == path.stem
        and not inspect.isabstract(part)
    ]


def _instance(family: Any) -> AbstractFamily:
    try:
        return family()
    except TypeError as error:
        raise InputError(
            f"{family.__name__}() needs settings, {error}: give its fields defaults."
        ) from error
