"""The tables of a run file that describe parts, derived from the signatures of their classes.

A part is declared once, in Python. Its arguments become keys, and their annotations, which are plain
types and the marks of `core/arguments.py`, determine the allowed values.
"""

import dataclasses
import inspect
import types
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    NoReturn,
    Union,
    get_args,
    get_origin,
)

import equinox as eqx
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    model_validator,
)

from pgt.config.condition_text import Curve, Formula, PositiveUnknown, UnknownCoefficient
from pgt.config.schema import NO_SUCH, Section, Text, by_name, table, wrong
from pgt.config.source import toml
from pgt.core.arguments import (
    CURVE,
    FORMULA,
    MAX_NUMBER,
    InUnits,
    Keyed,
    Limits,
    OneOf,
    PartOf,
    Written,
    metadata_of,
)
from pgt.core.registry import KINDS, parts, snapshot
from pgt.core.unknown import Unknown
from pgt.physics.condition_values import Writable
from pgt.physics.interpolation_table import Table

TOML = {dict: "table", list: "array", str: "text", bool: "flag", int: "number", float: "number"}
# The order of ways to write a value; messages suggest the first one.
ORDER = ("number", "part", "table", "text", "array", "flag")
UNKNOWN = "unknown"  # the name and the key of a table for a value that is learned


class Way(NamedTuple):
    """One way to write a value: its TOML type, its check, and its name in messages."""

    toml: str
    check: Any
    called: str


def number(cls: type, limits: Limits) -> Way:
    """The way to write a number between limits; without limits, of at most the largest usable size."""
    largest = MAX_NUMBER if cls is float else 10**9
    at_least = -largest if limits.at_least is None and limits.above is None else limits.at_least
    at_most = largest if limits.at_most is None and limits.below is None else limits.at_most
    bounds: dict[str, Any] = {"ge": at_least, "gt": limits.above, "le": at_most, "lt": limits.below}
    options = {name: bound for name, bound in bounds.items() if bound is not None}
    if cls is float:
        options["allow_inf_nan"] = False
    return Way("number", Annotated[cls, Field(**options)], "number")


def choice(choices: Sequence[str | int | bool]) -> Way:
    """The way to write one of some words or numbers, or the flag false."""
    toml = TOML[type(choices[0])]
    return Way(toml, Literal[tuple(choices)], "false" if toml == "flag" else toml)


def array(item: Any, count: int | None) -> Way:
    """The way to write a list of equal items: at least one, or exactly `count`."""
    length = Field(strict=False, min_length=count or 1, max_length=count)
    return Way("array", Annotated[tuple[item, ...], length], "array")


def one_of(ways: Iterable[Way]) -> Any:
    """The check that accepts any of the ways; None without a way.

    The TOML type of a value chooses the way, so that there is one error. Of two tables, one has the key
    `unknown`. A way for all numbers replaces one for whole numbers.
    """
    found: dict[str, Way] = {}
    for way in ways:
        kind = UNKNOWN if way.called == UNKNOWN else way.toml
        if kind not in found or float in getattr(way.check, "__args__", ()):
            found[kind] = way
    known = sorted(found.values(), key=lambda way: ORDER.index(way.toml))
    if len(known) <= 1:
        return known[0].check if known else None
    tags = {kind: _tag(way, known) for kind, way in found.items()}
    union = Union[tuple(Annotated[way.check, Tag(_tag(way, known))] for way in known)]  # noqa: UP007
    first = _tag(known[0], known)
    return Annotated[union, Discriminator(lambda value: tags.get(_kind(value, tags), first))]


def _kind(value: Any, kinds: Collection[str]) -> str:
    """The key of the way for the TOML type of a value."""
    kind = TOML.get(type(value), "")
    is_unknown = kind == "table" and UNKNOWN in kinds and (kind not in kinds or UNKNOWN in value)
    return UNKNOWN if is_unknown else kind


def _tag(way: Way, known: list[Way]) -> str:
    """The tag of a way, with its type and the names of the others: "<number|unknown>".

    Angle brackets distinguish tags from keys, so that error_messages.py can leave them out.
    """
    return f"<{'|'.join([way.toml, *(other.called for other in known if other is not way)])}>"


def refused(why: str) -> Any:
    """A check that refuses every value, for the given reason."""

    def refuse(value: Any) -> NoReturn:
        wrong(why)

    return Annotated[Any, BeforeValidator(refuse)]


# The arguments of each kind of part that the run supplies, so that a run file does not give them.
FROM_THE_RUN = {"equation": ("coords",), "model": ("scaling", "seed", "domain")}
BY_KIND = ("condition", "shape")  # chosen by their kind: the name of a shape is that of its wall
EXAMPLES = {"equation": "heat", "model": "pgt", "shape": "disk"}  # the names that messages suggest
OF_SHAPES: dict[str, Any] = {
    "x": [0, 1], "y": [0, 1], "z": [0, 1], "corners": [[0, 0], [1, 0], [0, 1]],
    "text": "sqrt(x^2 + y^2) - 1", "path": "vessel.stl",
    "shape": "disk", "shapes": ["disk"], "whole": "disk", "holes": ["disk"],
}  # fmt: skip
# Kernels of kernels of kernels are allowed in [model], no deeper.
MAX_KERNEL_DEPTH = 3


class PartSection(Section):
    """The table of a part: `builds` makes the part from what is given."""

    builds: ClassVar[Any]  # a class or a function


# ------------------------------------------------------------------------------- one argument


def written(hint: Any, depth: int = 0) -> Any:
    """The check of a value in a run file for the annotation `hint`; None if no value can be written.

    >>> from collections.abc import Callable
    >>> written(bool | Callable | None)
    <class 'bool'>
    """
    return one_of(_ways(hint, depth))


def _ways(hint: Any, depth: int, marks: tuple = ()) -> list[Way]:
    """All ways to write an argument with this annotation; functions and arrays have none."""
    origin, inside = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _marked(inside[0], depth, (*marks, *hint.__metadata__))
    if origin in (Union, types.UnionType):
        return [way for part in inside for way in _ways(part, depth, marks)]
    if origin is Literal:
        return [choice(inside)]
    if origin in (tuple, list, Sequence) and (item := written(inside[0], depth)):
        several = len(inside) > 1 and inside[-1] is not Ellipsis
        return [array(item, len(inside) if several else None)]
    if origin in (dict, Mapping) and (item := written(inside[1], depth)):
        return [Way("table", dict[str, item], "table")]
    return _of_class(hint, depth, marks) if isinstance(hint, type) else []


def _marked(hint: Any, depth: int, marks: tuple) -> list[Way]:
    if other := _mark(marks, Written):
        return _ways(other.type, depth)
    if part := _mark(marks, PartOf):
        return [Way("part", chosen(part.kind, depth), "part")]
    return _ways(hint, depth, marks)


def _of_class(cls: type, depth: int, marks: tuple) -> list[Way]:
    limits, one_of = _mark(marks, Limits) or Limits(), _mark(marks, OneOf)
    if one_of and cls in (str, int):
        return [choice(one_of.choices)]
    if cls is str and _mark(marks, InUnits):
        return []  # parts.py has converted all amounts, so any remaining text is none
    if cls is str:
        return [Way("text", *((Formula, "formula") if FORMULA in marks else (Text, "text")))]
    if cls in (int, float):
        return [number(cls, limits)]
    if cls is bool:
        return [Way("flag", bool, "flag")]
    if cls is Unknown:
        above_zero = limits.above == 0
        return [Way("table", PositiveUnknown if above_zero else UnknownCoefficient, "unknown")]
    if (cls is tuple and CURVE in marks) or cls is Table:
        return [Way("table", Curve, "curve")]
    if (kind := getattr(cls, "part", None)) in KINDS:
        return [Way("part", chosen(str(kind), depth), "part")]
    if dataclasses.is_dataclass(cls) and not issubclass(cls, eqx.Module):
        return [Way("table", section_of(cls), "table")]
    return []


def _mark(marks: tuple, kind: type) -> Any:
    return next((mark for mark in marks if isinstance(mark, kind)), None)


# ------------------------------------------------------------------------------- one part


if TYPE_CHECKING:  # computed at run time, which no static checker follows
    FieldValue = Any
else:
    FieldValue = written(Writable | Unknown)


class FieldsSection(PartSection):
    """A condition in which every key that is no argument is a field with its value."""

    model_config = ConfigDict(extra="allow")
    chosen_by: ClassVar[str] = "kind"
    __pydantic_extra__: dict[str, FieldValue] = Field(init=False)

    @model_validator(mode="before")
    @classmethod
    def _check_fields(cls, data):
        fields = [name for name in data if name not in cls.model_fields]
        if not fields and cls.builds.names_fields:
            wrong('the field and its value are missing; add for example u = 0 or u = "sin(pi*x)"')
        for name in fields:
            if not name.isidentifier() or name == "self":
                wrong(f"'{name}' cannot be the name of a field.", name)
        return data


class ConditionSection(PartSection):
    """A condition without values of fields, or a shape."""

    chosen_by: ClassVar[str] = "kind"


def section_of(target: Any, kind: str = "", name: str = "", depth: int = 0) -> type[PartSection]:
    """The section of a class or function; with a `name`, which chooses it among its kind."""
    parameters = inspect.signature(target, eval_str=True).parameters.values()
    base = PartSection
    if kind == "condition":
        spread = any(p.kind is p.VAR_KEYWORD for p in parameters)
        base = FieldsSection if spread else ConditionSection
    if kind == "shape":
        base = ConditionSection
    keys: dict[str, Any] = {base.chosen_by: (Literal[name], ...)} if name else {}
    for parameter in parameters:
        inline = base is FieldsSection and parameter.kind is parameter.VAR_KEYWORD
        if not inline and parameter.name not in FROM_THE_RUN.get(kind, ()):
            keys |= _key(parameter, target, kind, depth)
    section = table(target.__name__, base, keys)
    section.builds = staticmethod(target)
    return section


def _key(parameter: inspect.Parameter, target: Any, kind: str, depth: int) -> dict[str, Any]:
    """The key of an argument; empty where a run file cannot give it and need not."""
    check = written(_hint(parameter), depth)
    # The equation gives the arguments of a kernel that are left out.
    of_kernel = "kernel" in (kind, parameter.name)
    required = parameter.default is parameter.empty and not of_kernel
    if check is None:
        if not required:
            return {}
        check = refused(f"a run file cannot give this argument of {target.__name__}.")
    if parameter.kind is parameter.VAR_POSITIONAL:
        check = array(check, None).check
    if parameter.kind is parameter.VAR_KEYWORD:
        check, required = _by_name(check, parameter, target), False
    if not required:
        return {parameter.name: (check | None, None)}
    example = f"{parameter.name} = {toml(_example(parameter, target, kind))}"
    return {parameter.name: (Annotated[check, Field(examples=[example])], ...)}


def _hint(parameter: inspect.Parameter) -> Any:
    """The annotation; without one, any plain value of the default's type."""
    if parameter.annotation is not parameter.empty:
        return parameter.annotation
    default = parameter.default
    return float | str if default in (None, parameter.empty) else type(default)


def _by_name(check: Any, parameter: inspect.Parameter, target: Any) -> Any:
    """A table with any names, where Python takes any keywords."""
    keyed = _mark(getattr(parameter.annotation, "__metadata__", ()), Keyed)
    what, example = (keyed.what, keyed.example) if keyed else ("argument", "{a = 1}")
    others = set(inspect.signature(target).parameters) - {parameter.name} | {"self"}

    def check_names(table: dict[str, Any]) -> dict[str, Any]:
        for name in table:
            if not name.isidentifier() or name in others:
                wrong(f"no {what} is called so; write for example {example}", name)
        return table

    return Annotated[dict[str, check], AfterValidator(check_names)]


def _example(parameter: inspect.Parameter, target: Any, kind: str) -> Any:
    """A valid value: the one that the class gives as an example, or any that fits."""
    if kind == "shape":
        return OF_SHAPES[parameter.name]
    about = getattr(target, "about", None)
    if about is not None and parameter.name in about.coefficients:
        return about.coefficients[parameter.name]
    toml_type, check, _ = next(
        iter(_ways(_hint(parameter), MAX_KERNEL_DEPTH + 1)), Way("number", float, "")
    )
    if get_origin(check) is Literal:
        return get_args(check)[0]
    return {"text": "u", "flag": True, "array": [1]}.get(toml_type, 1)


# ------------------------------------------------------------------------------- one kind of part


class NoSuchPart(Section):
    """The section of an unknown part; its errors name the known ones."""

    model_config = ConfigDict(extra="ignore")


def chosen(kind: str, depth: int = 0, **others: type[Section]) -> Any:
    """The type of one of the registered parts of a kind: a table with its name, or the name alone.

    `others` are sections that need no name: the key itself, such as `equations`, chooses them.
    """
    if depth > MAX_KERNEL_DEPTH:
        return refused(f"a {kind} cannot be nested deeper; leave it out here.")
    return _chosen(kind, depth, tuple(others.items()), snapshot())


@lru_cache(maxsize=64)
def _chosen(kind: str, depth: int, others: tuple[tuple[str, type[Section]], ...], _: tuple) -> Any:
    known = parts(kind)
    if kind == "shape" and depth == MAX_KERNEL_DEPTH:  # at the last level, only simple shapes
        known = {name: part for name, part in known.items() if not _is_made_of_others(part)}
    sections = {name: section_of(part, kind, name, depth + 1) for name, part in known.items()}
    key = "kind" if kind in BY_KIND else "name"
    examples = [f'{key} = "{EXAMPLES.get(kind, next(iter(sections)))}"']
    examples += [
        str((section.model_fields[name].examples or [name])[0]) for name, section in others
    ]
    names = Annotated[Literal[tuple(sections)], Field(examples=[" or ".join(examples)])]
    missing = table(f"NoSuch_{kind}", NoSuchPart, {key: (names, ...)})
    tagged = [*sections.items(), *others, (NO_SUCH, missing)]
    union = Union[tuple(Annotated[part, Tag(f"<{name}>")] for name, part in tagged)]  # noqa: UP007
    return Annotated[union, by_name(key, sections, dict(others)), _name_alone(key)]


def _is_made_of_others(part: Any) -> bool:
    hints = (p.annotation for p in inspect.signature(part, eval_str=True).parameters.values())
    return any(metadata_of(hint, PartOf) for hint in hints)


def _name_alone(key: str) -> BeforeValidator:
    """A name alone stands for a table with that name and nothing else."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)
