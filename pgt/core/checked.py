"""A decorator that checks and converts the arguments of a call by their annotations.

The signature declares the arguments once, with plain types and the marks of `arguments.py`. Run files and
calls in Python are checked against it. A value that does not fit is an `InputError`. A value with a clear
meaning is converted: the name of a part becomes the part, a dict of arguments becomes a record such as
`Training`, one item becomes a list of one, and 1e4 becomes a whole number.
"""

import collections.abc
import dataclasses
import functools
import inspect
import math
import numbers
import os
import re
import types
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pgt.core.arguments import Form, InUnits, Limits, OneOf, PartOf, metadata_of
from pgt.core.errors import InputError

TITLES = {
    "GradientTransformation": "Optax transformation",
    "Unknown": "pgt.Unknown(...) to learn it",
}


def wanted(hint: Any, value: Any = None) -> str:
    """The values that fit a hint, in words; `value` is what was given instead.

    >>> wanted(Annotated[int, Limits(at_least=2)] | None)
    'a whole number from 2 up, or None'
    >>> wanted(Literal["all", "decoder"])
    "'all' or 'decoder'"
    """
    *most, last = dict.fromkeys(_ways(hint, value, ()))
    comma = "," if any(" " in way for way in (*most, last)) else ""
    return f"{', '.join(most)}{comma} or {last}" if most else last


def choices(marks: tuple) -> list[tuple]:
    """The allowed words by mark: those of `OneOf`, and the names of the parts of a kind."""
    listed = [mark.choices for mark in marks if isinstance(mark, OneOf)]
    return listed + [tuple(known_parts(m.kind)) for m in marks if isinstance(m, PartOf)]


def known_parts(kind: str) -> dict[str, Any]:
    """The registered parts of a kind by name."""
    from pgt.core.registry import parts  # here, because the registry imports this module

    return parts(kind)


def required(part: Callable) -> list[str]:
    """The names of the arguments without a default."""
    parameters = inspect.signature(part).parameters.values()
    spread = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in spread]


def is_record(hint: Any) -> bool:
    """Whether a class is a dataclass of settings that all have a default."""
    named = set(getattr(hint, "__dataclass_fields__", ()))
    if not named or hasattr(hint, "part") or required(hint):
        return False
    return set(inspect.signature(hint).parameters) == named


def _ways(hint: Any, value: Any, marks: tuple) -> list[str]:
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _ways(inside[0], value, (*marks, *hint.__metadata__))
    if origin in (Union, types.UnionType):
        # Whole numbers are numbers, so the message names only the latter.
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
    if written := getattr(
        hint, "written_as", None
    ):  # a class that users do not construct themselves
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
    """The names of all parts of a kind, or an example of a part that needs arguments."""
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
    """The limits of a number in words; a large upper limit is named only if the value exceeds it."""
    limits = next((mark for mark in marks if isinstance(mark, Limits)), Limits())
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    low, high = limits.at_least, limits.at_most
    if low is not None and limits.below is not None:
        return [f"in [{low:g}, {limits.below:g})"]
    shown_limits = [f"above {limits.above:g}"] if limits.above is not None else []
    if limits.below is not None and is_number and value >= limits.below:
        return [" and ".join([*shown_limits, f"below {limits.below:g}"])]
    if high is not None and is_number and value > high:
        return [*shown_limits, f"up to {high:g}"]
    return shown_limits if low is None else [*shown_limits, f"from {low:g} up"]


def _title(hint: Any) -> str:
    name = getattr(hint, "__name__", str(hint))
    module = getattr(hint, "__module__", "").partition(".")[0]
    return TITLES.get(name, f"{module}.{name}")


def _many(words: str) -> str:
    """The plural of a description.

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


REFUSED: Any = object()  # the result of `read` for a value that does not fit
# Larger whole numbers are refused.
MAX_INTEGER = 2**63
# The largest number of characters of a value in an error.
MAX_SHOWN_LENGTH = 60

Target = TypeVar("Target", bound=Callable)


def checked(target: Target) -> Target:
    """The function, or class, with arguments that are checked and converted before the call.

    >>> @checked
    ... def count(steps: Annotated[int, Limits(at_least=1)], name: str | None = None):
    ...     return steps
    >>> count(1e4)
    10000
    >>> count(2.5)
    Traceback (most recent call last):
    ...
    pgt.InputError: count(steps=2.5): steps must be a whole number from 1 up.
    """
    made: Any = target
    if not inspect.isclass(target):
        return _reading(made)
    if not hasattr(made.__init__, "reads_arguments"):
        made.__init__ = _reading(made.__init__)
    return made


def _reading(function: Callable) -> Any:
    is_constructor = function.__name__ == "__init__"
    signature = inspect.signature(function)

    @functools.wraps(function)
    def read_first(*given, **named):
        try:
            bound = signature.bind(*given, **named)
        except TypeError:
            return function(*given, **named)  # Python's own error says what is missing or unknown
        owner = type(given[0]).__name__ if is_constructor else function.__qualname__
        for name, value in bound.arguments.items():
            bound.arguments[name] = _argument(owner, signature.parameters[name], value)
        return function(*bound.args, **bound.kwargs)

    known: Any = read_first
    known.reads_arguments = True
    return known


def _argument(owner: str, parameter: inspect.Parameter, value: Any) -> Any:
    hint = parameter.annotation
    # Formulas and curves are checked where they are used.
    if hint is parameter.empty or metadata_of(hint, Form):
        return value
    if parameter.kind is parameter.VAR_POSITIONAL:
        return tuple(_one(owner, parameter.name, hint, item) for item in value)
    if parameter.kind is parameter.VAR_KEYWORD:
        return {name: _one(owner, name, hint, item) for name, item in value.items()}
    return _one(owner, parameter.name, hint, value)


def _one(owner: str, name: str, hint: Any, value: Any) -> Any:
    found = read(hint, value)
    if found is REFUSED:
        raise InputError(f"{owner}({name}={shown(value)}): {name} must be {wanted(hint, value)}.")
    return found


def shown(value: Any) -> str:
    """The representation of a value if it is short, and else its type.

    >>> shown([1, 2]), shown("a" * 100)
    ('[1, 2]', '<str>')
    """
    try:
        text = repr(value)
    except Exception:  # `repr` of a foreign class may raise anything
        text = "\n"
    return (
        text if len(text) <= MAX_SHOWN_LENGTH and "\n" not in text else f"<{type(value).__name__}>"
    )


# ------------------------------------------------------------------------------- what fits


def read(hint: Any, value: Any, marks: tuple = ()) -> Any:
    """The value converted to the type of `hint`, or REFUSED.

    >>> read(int | None, 3.0), read(list[str], "u"), read(Literal["a"], "b") is REFUSED
    (3, ('u',), True)
    """
    origin, inside = get_origin(hint), get_args(hint)
    if hint is Any or isinstance(hint, str | TypeVar):
        return value
    if origin is Annotated:
        return read(inside[0], value, (*marks, *hint.__metadata__))
    if origin in (Union, types.UnionType):
        return _read_one_of(inside, value, marks)
    if origin is Literal:
        return value if any(type(value) is type(c) and value == c for c in inside) else REFUSED
    if origin in (collections.abc.Sequence, tuple, list):
        return _read_list(inside, value, marks)
    if origin in (collections.abc.Mapping, dict):
        return _read_dict(inside, value)
    if origin is collections.abc.Callable or hint is Callable:
        return value if callable(value) else REFUSED
    return _read_class(types.NoneType if hint is None else hint, value, marks)


def _read_one_of(hints: tuple, value: Any, marks: tuple) -> Any:
    if (
        value is True and Literal[False] in hints
    ):  # False means none, so True means the default settings
        return next((hint() for hint in hints if is_record(hint)), REFUSED)
    if str in hints and isinstance(value, str):  # the function itself reads names
        return read(str, value, marks)
    found = (read(hint, value, marks) for hint in hints)
    return next((one for one in found if one is not REFUSED), REFUSED)


def _read_list(inside: tuple, value: Any, marks: tuple) -> Any:
    item, several = inside[0], len(inside) > 1 and inside[-1] is not Ellipsis
    if getattr(getattr(value, "dtype", None), "kind", "-") in "iuf" and _is_number(item):
        if getattr(value, "ndim", 0) != 1:
            return REFUSED
        if not several:
            return value
        value = tuple(map(float, value))  # each number has a meaning of its own and is checked
    if not _is_listed(value):
        single = REFUSED if several or _is_number(item) else read(item, value, marks)
        return REFUSED if single is REFUSED else (single,)
    hints = inside if several else (item,) * len(value)
    if len(hints) != len(value):
        return REFUSED
    found = [read(hint, one, marks) for hint, one in zip(hints, value, strict=True)]
    if any(one is REFUSED for one in found):
        return REFUSED
    return found if isinstance(value, list) else tuple(found)


def _is_listed(value: Any) -> bool:
    single = isinstance(value, str | bytes | Mapping | type) or not isinstance(value, Iterable)
    if single or not hasattr(value, "__len__") or hasattr(value, "data_vars"):
        return False
    return getattr(value, "ndim", 1) == 1


def _is_number(hint: Any) -> bool:
    """Whether a hint accepts a number, in which case a single number does not stand for a list."""
    if get_origin(hint) in (Annotated, Union, types.UnionType):
        return any(map(_is_number, get_args(hint)))
    return isinstance(hint, type) and issubclass(hint, numbers.Number)


def _read_dict(inside: tuple, value: Any) -> Any:
    if not isinstance(value, Mapping):
        return REFUSED
    keys = [read(inside[0], key) for key in value]
    items = [read(inside[1], one) for one in value.values()]
    if any(one is REFUSED for one in (*keys, *items)):
        return REFUSED
    return dict(zip(keys, items, strict=True))


def _read_class(hint: type, value: Any, marks: tuple) -> Any:
    if isinstance(hint, type) and issubclass(hint, numbers.Number) and hint is not bool:
        return _read_number(int if issubclass(hint, numbers.Integral) else float, value, marks)
    if hint is bool:
        flag = isinstance(value, bool) or _kind(value) == "b"
        return bool(value) if flag and getattr(value, "ndim", 0) == 0 else REFUSED
    if hint is str:
        return value if isinstance(value, str) and _is_chosen(value, marks) else REFUSED
    if isinstance(value, str) and isinstance(getattr(hint, "part", None), str):
        return _named_part(hint, value)
    if isinstance(value, Mapping) and is_record(hint):
        return _record(hint, value)
    try:
        return value if isinstance(value, hint) else REFUSED
    except TypeError:  # a hint that is not a type cannot be checked
        return value


def _is_chosen(value: Any, marks: tuple) -> bool:
    return all(value in known for known in choices(marks)) and "\0" not in str(value)


def _kind(value: Any) -> str:
    """NumPy's code for the kind of a NumPy or JAX scalar; "-" for other values."""
    return getattr(getattr(value, "dtype", None), "kind", "-") if _is_scalar(value) else "-"


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, type) and getattr(value, "shape", None) == ()


def _read_number(hint: type, value: Any, marks: tuple) -> Any:
    if isinstance(value, bool) or not (isinstance(value, numbers.Real) or _kind(value) in "iuf"):
        return REFUSED
    try:
        number = value if isinstance(value, int) else float(value)
        most = MAX_INTEGER if hint is int or isinstance(value, int) else math.inf
        fits = abs(number) < most
    except OverflowError:
        return REFUSED
    except Exception:  # a JAX tracer has no value to check
        return value
    limits = [mark for mark in marks if isinstance(mark, Limits)]
    if not fits or not all(_within(number, one) for one in limits):
        return REFUSED
    if hint is int:
        whole = number == int(number) and _is_chosen(int(number), marks)
        return int(number) if whole else REFUSED
    is_jax = _is_scalar(value) and not hasattr(value, "__array_interface__")
    return value if isinstance(value, int) or is_jax else number


def _within(number: float, limits: Limits) -> bool:
    return (
        (limits.at_least is None or number >= limits.at_least)
        and (limits.above is None or number > limits.above)
        and (limits.at_most is None or number <= limits.at_most)
        and (limits.below is None or number < limits.below)
    )


def _named_part(hint: Any, name: str) -> Any:
    """The registered part of that name with its default arguments."""
    known = known_parts(hint.part)
    if name not in known:
        return REFUSED
    missing = required(known[name])
    if missing:
        title = public_name(hint.part, known[name])
        raise InputError(f"'{name}' needs its {missing[0]}: write {title}({missing[0]}=...).")
    return known[name]()


def _record(hint: Any, table: Mapping) -> Any:
    known = [one.name for one in dataclasses.fields(hint) if one.init]
    for name in table:
        if name not in known:
            raise InputError(
                f"{hint.__name__} has no argument {name!r}; its arguments are {', '.join(known)}."
            )
    return hint(**table)
