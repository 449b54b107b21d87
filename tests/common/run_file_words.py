"""Keys, types and defaults of a run file in words, read from the sections that check it."""

import inspect
import json
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

import pgt
import pgt.models  # registers its parts
from pgt.config import RunFile, condition_text, run
from pgt.config.derive import NoSuchPart, section_of
from pgt.config.descriptions import Equations
from pgt.core.registry import parts

Row = tuple[str, str, str]  # key, type, default
# In the order of a run file: heading on the page, section, and the class whose defaults it has.
Tables = dict[str, tuple[type[BaseModel], Any]]
BY_THE_DOMAIN = ("dimension", "steady", "has_time")  # what these are by default, the domain tells


def _tables() -> Tables:
    return {
        "At the top": (RunFile, None),
        "[observations]": (run.ObservationsSection, None),
        "[observations.dialect]": (run.DialectSection, None),
        "[domain]": (run.DomainSection, None),
        "Equations as text": (Equations, None),
        "A coefficient that is unknown": (condition_text.UnknownCoefficient, None),
        "A table of values": (condition_text.Curve, None),
        "[training]": (section_of(pgt.Training), pgt.Training),
        "[training.polish]": (section_of(pgt.Polish), pgt.Polish),
        "[output]": (run.OutputSection, None),
    }


# Sections in which a name chooses a part of the library, by the kind of the part.
KINDS = {
    "[domain.shape]": "shape",
    "[pde]": "equation",
    "[[conditions]]": "condition",
    "[model]": "model",
    "[model.kernel]": "kernel",
    "[training.optimiser]": "optimiser",
    "[training.sampler]": "sampler",
    "[training.weighting]": "weighting",
    "[error_bars]": "error bars",
}


def parts_of(kind: str) -> dict[str, str]:
    """The keys of every part of a kind in one line: bold where required, with defaults."""
    own = {n: part for n, part in parts(kind).items() if part.__module__.startswith("pgt.")}
    return {
        # What PGT is by default is chosen by `PGT.for_problem`, and not by its class.
        name: _keys(section_of(part, kind, name, depth=1), None if name == "pgt" else part)
        for name, part in own.items()
    }


def _keys(section: type[BaseModel], target: Any) -> str:
    spoken = []
    for key, _, default in rows(section, target):
        name = key.strip("`")
        if default == "required":
            spoken.append(f"**{key}**")
        else:
            spoken.append(key if default == "–" else f"`{name} = {default.strip('`')}`")
    chosen = ("**`name`**", "**`kind`**")
    return ", ".join(word for word in spoken if word not in chosen) or "–"


TABLES = _tables()


def rows(section: type[BaseModel], target: Any) -> list[Row]:
    """What the page must say of every key of a section."""
    fields = section.model_fields.items()
    return [
        (f"`{key}`", words(_whole(field)), _default(key, field, target)) for key, field in fields
    ]


def _whole(field: FieldInfo) -> Any:
    return Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation


def words(annotation: Any) -> str:
    """A type as a reader of the page would say it."""
    origin, inside = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return words(inside[0]) + _limits(inside[1:])
    if origin is Literal:
        return _one_of([f"`{json.dumps(part, ensure_ascii=False)}`" for part in inside])
    if origin in (Union, types.UnionType):
        if any(_is_no_such(part) for part in inside):
            return "name or table"
        return _one_of([words(part) for part in inside if part is not type(None)])
    if origin is tuple:
        return f"array: {words(inside[0])}"
    if origin is dict:
        return "table" if inside[1] is Any else f"table: {words(inside[1])}"
    return _PLAIN.get(annotation, "table")


def _is_no_such(part: Any) -> bool:
    """Whether this is what answers a name there is not: one of several parts is then chosen by name."""
    plain = get_args(part)[0] if get_origin(part) is Annotated else part
    return isinstance(plain, type) and issubclass(plain, NoSuchPart)


_PLAIN = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    condition_text.UnknownCoefficient: "unknown",
}


def _one_of(kinds: list[str]) -> str:
    kinds = list(dict.fromkeys(kinds))
    return " or ".join(filter(None, [", ".join(kinds[:-1]), kinds[-1]]))


def _limits(metadata: tuple) -> str:
    """`, above 0` and the like; bounds that nobody meets are left out."""
    flat = [part for item in metadata for part in getattr(item, "metadata", [item])]
    found = {}
    for part in flat:
        for word in ("ge", "gt", "le", "lt"):
            value = getattr(part, word, None)
            if value is not None and abs(value) < 2**31 and not (word == "le" and value >= 10_000):
                found[word] = f"{value:g}"
    says = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "below {}"}
    return "".join(f" {says[word].format(value)}" for word, value in found.items())


def _default(key: str, field: FieldInfo, target: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None and target is not None:
        parameter = inspect.signature(target).parameters.get(key)
        value = parameter.default if parameter is not None else None
        if value is inspect.Parameter.empty or key in BY_THE_DOMAIN:
            value = None
        if key in ("sampler", "weighting"):
            value = type(getattr(target(), key)).__name__.lower()
    if value is None or isinstance(value, BaseModel) or value in ((), {}):
        return "–"
    return f"`{json.dumps(value, ensure_ascii=False)}`"
