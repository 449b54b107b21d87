"""What an annotation asks for, in words."""

import collections.abc
import inspect
import numbers
import os
import re
import types
from collections.abc import Callable
from math import isfinite
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pgt.core.arguments import InUnits, Limits, OneOf, PartOf

TITLES = {
    "GradientTransformation": "Optax transformation",
    "Unknown": "pgt.Unknown(...) to learn it",
}


def wanted(hint: Any, value: Any = None) -> str:
    """What fits a hint, in words; `value` is what was given instead.

    >>> wanted(Annotated[int, Limits(at_least=2)] | None)
    'a whole number from 2 up, or None'
    >>> wanted(Literal["all", "decoder"])
    "'all' or 'decoder'"
    """
    *most, last = dict.fromkeys(_ways(hint, value, ()))
    comma = "," if any(" " in way for way in (*most, last)) else ""
    return f"{', '.join(most)}{comma} or {last}" if most else last


def choices(marks: tuple) -> list[tuple]:
    """The words among which to choose, by mark: those listed, and the names of parts of a kind."""
    listed = [mark.choices for mark in marks if isinstance(mark, OneOf)]
    return listed + [tuple(known_parts(m.kind)) for m in marks if isinstance(m, PartOf)]


def known_parts(kind: str) -> dict[str, Any]:
    """The registered parts of a kind by name."""
    from pgt.core.registry import parts  # which has the arguments of parts checked

    return parts(kind)


def required(part: Callable) -> list[str]:
    """The arguments that must be given."""
    parameters = inspect.signature(part).parameters.values()
    spread = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in spread]


def is_record(hint: Any) -> bool:
    """Whether it is made of settings that all have a default."""
    named = set(getattr(hint, "__dataclass_fields__", ()))
    if not named or hasattr(hint, "part") or required(hint):
        return False
    return set(inspect.signature(hint).parameters) == named


def _ways(hint: Any, value: Any, marks: tuple) -> list[str]:
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _ways(inside[0], value, (*marks, *hint.__metadata__))
    if origin in (Union, types.UnionType):
        # Whole numbers are numbers; nobody needs to hear of both.
        parts = [part for part in inside if part is not int or float not in inside]
        return [way for part in parts for way in _ways(part, value, marks)]
    if origin is Literal:
        return list(map(repr, inside))
    if origin in (collections.abc.Sequence, tuple, list):
        return [f"a list of {_many(wanted(inside[0]))}"]
    if origin in (collections.abc.Mapping, dict):
        return ["a dict" if inside[1] is Any else f"a dict of {_many(wanted(inside[1]))}"]
    if origin is collections.abc.Callable or hint is Callable:
        return ["a function"]
    if hint is str and any(isinstance(mark, InUnits) for mark in marks):
        return [InUnits.said]
    if written := getattr(hint, "written_as", None):  # what nobody makes by hand
        return [written]
    if hint in (str, int) and (known := choices(marks)):
        return list(map(repr, known[0]))
    return [_of_class(types.NoneType if hint is None else hint, value, marks)]


def _of_class(hint: Any, value: Any, marks: tuple) -> str:
    plain = {types.NoneType: "None", bool: "True or False", str: "text", os.PathLike: "a path"}
    if hint in plain:
        return plain[hint]
    if isinstance(hint, type) and issubclass(hint, numbers.Number):
        plain = (
            "a finite number" if isinstance(value, float) and not isfinite(value) else "a number"
        )
        kind = "a whole number" if issubclass(hint, numbers.Integral) else plain
        return " ".join([kind, *_bounds(marks, value)])
    if kind := getattr(hint, "part", None):
        return f"{_a(kind)} {_examples(kind)}"
    return _a(_title(hint)) + (" or a dict of its arguments" if is_record(hint) else "")


def _examples(kind: str) -> str:
    """The parts, where a name alone stands for each of them; else the first that needs more."""
    parts = known_parts(kind)
    more = [part for part in parts.values() if not _has_defaults(part)]
    if more:
        return f"such as {public_name(kind, more[0])}(...)"
    return f"({', '.join(map(repr, parts))})"


# The public modules of parts that are not in `pgt` itself.
MODULES = {
    "kernel": "pgt.kernels",
    "shape": "pgt.shapes",
    "sampler": "pgt.training",
    "weighting": "pgt.training",
}


def public_name(kind: str, part: Any) -> str:
    """A part of the library as a user writes it.

    >>> from pgt.kernels import HeatKernel
    >>> public_name("kernel", HeatKernel)
    'pgt.kernels.HeatKernel'
    """
    return f"{MODULES.get(kind, 'pgt')}.{part.__name__}"


def _has_defaults(part: Callable) -> bool:
    parameters = inspect.signature(part).parameters.values()
    return all(p.default is not p.empty for p in parameters)


def _bounds(marks: tuple, value: Any) -> list[str]:
    """The limits of a number; of a far upper one nobody hears who stays below."""
    limits = next((mark for mark in marks if isinstance(mark, Limits)), Limits())
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    low, high = limits.at_least, limits.at_most
    if low is not None and limits.below is not None:
        return [f"in [{low:g}, {limits.below:g})"]
    said = [f"above {limits.above:g}"] if limits.above is not None else []
    if limits.below is not None and is_number and value >= limits.below:
        return [" and ".join([*said, f"below {limits.below:g}"])]
    if high is not None and is_number and value > high:
        return [*said, f"up to {high:g}"]
    return said if low is None else [*said, f"from {low:g} up"]


def _title(hint: Any) -> str:
    name = getattr(hint, "__name__", str(hint))
    module = getattr(hint, "__module__", "").partition(".")[0]
    return TITLES.get(name, f"{module}.{name}")


def _many(words: str) -> str:
    """Several of what one is called.

    >>> _many("a number above 0"), _many("text"), _many("a pgt.Domain")
    ('numbers above 0', 'texts', 'pgt.Domain')
    >>> _many("a dict of numbers"), _many("a list of texts")
    ('dicts of numbers', 'lists of texts')
    """
    if words == "text":
        return "texts"
    if found := re.fullmatch(r"a (dict|list)( of .*)?", words):
        return f"{found[1]}s{found[2] or ''}"
    one = words.removeprefix("an ").removeprefix("a ")
    return one.replace("number", "numbers", 1).replace(" such as", "s such as", 1)


def _a(noun: str) -> str:
    if noun.endswith("bars"):
        return noun
    return f"an {noun}" if noun[0] in "aeioxO" else f"a {noun}"
