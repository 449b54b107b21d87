"""A family of a user's own that is written in a file of Python."""

import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any

from pgt.families.family import AbstractFamily
from pgt.ground.errors import InputError


def family_in_file(path: Path, name: str = "") -> AbstractFamily:
    """The family that a file has, with the settings that it begins with; of several, the one named.

    The file is run, as `python` would.
    """
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}; give one that has a family.")
    found = {family.name: family for family in map(_made, _classes(path))}
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


def _classes(path: Path) -> list[type[AbstractFamily]]:
    """The families that the file itself writes."""
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


def _made(family: Any) -> AbstractFamily:
    try:
        return family()
    except TypeError as error:
        raise InputError(
            f"{family.__name__}() needs settings, {error}: give its fields defaults."
        ) from error
