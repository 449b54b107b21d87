"""What pydantic checks for the ways in which a value may be written."""

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NoReturn, Union

from pydantic import BeforeValidator, Discriminator, Field, Tag

from pgt.config.schema import wrong
from pgt.core.arguments import LARGEST, Limits

TOML = {dict: "table", list: "array", str: "text", bool: "flag", int: "number", float: "number"}
# The first is what others are told to write.
ORDER = ("number", "part", "table", "text", "array", "flag")
UNKNOWN = "unknown"  # what a table that is to be learnt is called, and marked by


class Way(NamedTuple):
    """One way to write a value: its TOML type, what is checked, and what messages call it."""

    toml: str
    check: Any
    called: str


def number(cls: type, limits: Limits) -> Way:
    """A number between limits; without them, one with which can be computed."""
    largest = LARGEST if cls is float else 10**9
    at_least = -largest if limits.at_least is None and limits.above is None else limits.at_least
    at_most = largest if limits.at_most is None and limits.below is None else limits.at_most
    bounds: dict[str, Any] = {"ge": at_least, "gt": limits.above, "le": at_most, "lt": limits.below}
    options = {name: bound for name, bound in bounds.items() if bound is not None}
    if cls is float:
        options["allow_inf_nan"] = False
    return Way("number", Annotated[cls, Field(**options)], "number")


def choice(choices: Sequence[str | int | bool]) -> Way:
    """One of some words or numbers; the only flag there is to choose is false."""
    toml = TOML[type(choices[0])]
    return Way(toml, Literal[tuple(choices)], "false" if toml == "flag" else toml)


def array(item: Any, count: int | None) -> Way:
    """Items alike, one at least, or exactly `count`."""
    length = Field(strict=False, min_length=count or 1, max_length=count)
    return Way("array", Annotated[tuple[item, ...], length], "array")


def one_of(ways: Iterable[Way]) -> Any:
    """Any of the ways, told apart by the TOML type, so that there is one complaint; None for none. Of two
    tables, the one that is marked as unknown is.

    Where whole numbers and others are welcome, any number is.
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
    """As what a value was meant."""
    kind = TOML.get(type(value), "")
    is_unknown = kind == "table" and UNKNOWN in kinds and (kind not in kinds or UNKNOWN in value)
    return UNKNOWN if is_unknown else kind


def _tag(way: Way, known: list[Way]) -> str:
    """What is tried, and what else may be written: "<number|unknown>"; see messages.py.

    In angle brackets it never collides with a key, and is left out of what users read.
    """
    return f"<{'|'.join([way.toml, *(other.called for other in known if other is not way)])}>"


def refused(why: str) -> Any:
    """Nothing that may be written will do."""

    def refuse(value: Any) -> NoReturn:
        wrong(why)

    return Annotated[Any, BeforeValidator(refuse)]
