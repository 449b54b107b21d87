"""The registry of the parts that a run file may name, by kind and name.

The library registers its own where they are defined, and others do the same. A run file chooses
among what is registered; it never names code to import.
"""

import inspect
import re
import warnings
from collections.abc import Callable
from functools import cache
from importlib import metadata
from typing import Any, TypeVar

from pgt.core.checked import checked
from pgt.core.errors import InputError

KINDS = (
    "equation", "condition", "kernel", "model", "sampler", "weighting", "optimiser", "error bars",
    "reader", "shape", "family",
)  # fmt: skip
GROUP = "pgt.parts"  # the group of entry points by which installed packages provide parts

Part = TypeVar("Part", bound=Callable)

_parts: dict[str, dict[str, Any]] = {kind: {} for kind in KINDS}


def register(*names: str, kind: str | None = None) -> Callable[[Part], Part]:
    """A decorator that registers a part under the names that it has in run files.

    A decorator for subclasses of `AbstractPDE`, `AbstractKernel`, `AbstractFieldModel`,
    `AbstractSampler`, `AbstractWeighting` and `AbstractCondition`: what their signature takes becomes
    the keys of their table in a run file. `pgt.families.get` finds subclasses of `AbstractFamily` by
    it. For functions, say the `kind`:

    "optimiser"
        Options in, an Optax transformation out: the direction of a step, before the learning rate.
    "reader"
        `(path, coords, others)` in, `pgt.io.Columns` out; its names are endings such as ".jsonl".

    An installed package registers its parts by an entry point of the group "pgt.parts" that names the
    module in which they are.

    >>> import pgt
    >>> @pgt.extend.register("nearby")
    ... class Nearby(pgt.extend.AbstractKernel):
    ...     reach: float
    ...
    ...     def log_influence(self, receiver, source, resolution):
    ...         return -((receiver - source) ** 2).sum()[None] / self.reach**2
    >>> # in a run file: [model] kernel = {name = "nearby", reach = 0.5}
    """

    def keep(part: Part) -> Part:
        family = kind or getattr(part, "part", None)
        _check(part, family, names)
        for name in names:
            _parts[str(family)][name] = part
        made: Any = part
        return checked(made) if inspect.isclass(part) else made

    return keep


def parts(kind: str) -> dict[str, Any]:
    """The registered parts of a kind by name, including those of installed packages."""
    _load_installed()
    return _parts[kind]


def snapshot() -> tuple[tuple[str, str, Any], ...]:
    """All parts that are registered now, as (kind, name, part)."""
    _load_installed()
    return tuple((kind, *item) for kind, family in _parts.items() for item in family.items())


def registered_classes() -> tuple[type, ...]:
    """Every class that is registered, of whatever kind."""
    _load_installed()
    found = (part for family in _parts.values() for part in family.values())
    return tuple(part for part in found if isinstance(part, type))


@cache
def _load_installed() -> None:
    """Import the parts of installed packages, once; a package that fails is left out with a warning."""
    for point in metadata.entry_points(group=GROUP):
        try:
            point.load()
        except Exception as error:  # whatever an import of someone else's code may raise
            reason = f"{type(error).__name__}: {error}"
            warnings.warn(
                f"the parts of '{point.name}' ({point.value}) are left out: {reason}", stacklevel=3
            )


def _check(part: Any, kind: str | None, names: tuple[str, ...]) -> None:
    shown = getattr(part, "__name__", repr(part))
    if kind not in KINDS:
        raise InputError(
            f"register: what kind of part is {shown}? Derive a class from one of pgt's abstract "
            f"classes, or say kind=..., one of {', '.join(map(repr, KINDS))}."
        )
    if inspect.isabstract(part):
        missing = ", ".join(sorted(part.__abstractmethods__))
        raise InputError(f"register: {shown} is not complete; write its {missing}.")
    wanted, example = (r"\.\w+", ".jsonl") if kind == "reader" else (r"[a-z]\w*", "fisher")
    for name in names or ("",):
        if not re.fullmatch(wanted, name):
            raise InputError(f"register({name!r}): give {shown} a name such as {example!r}.")
        taken = _parts[kind].get(name, part)
        if _full_name(taken) != _full_name(part):
            raise InputError(
                f"register({name!r}): {'.'.join(_full_name(taken))} has that name already; give "
                f"{shown} another."
            )


def _full_name(part: Any) -> tuple[str, str]:
    """The full name of a part, which stays the same when a notebook defines it again."""
    return part.__module__, part.__qualname__
