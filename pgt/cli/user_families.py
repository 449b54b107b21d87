"""Families of the user, from a file of Python or a folder of simulations, for `pgt pretrain`."""

import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pgt.core.errors import InputError
from pgt.core.parser import suggestion
from pgt.core.registry import parts
from pgt.families.family import AbstractFamily
from pgt.families.simulations import Simulations
from pgt.physics.equation import Equation
from pgt.physics.pde import AbstractPDE


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
