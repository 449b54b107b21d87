"""Keys, types and defaults of a run file in words, read from the sections that check it."""

import inspect
import json
import types
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

import pgt
from pgt.config import RunFile, error_bars, models, pdes, schema, sections, training

Row = tuple[str, str, str]  # key, type, default
# In the order of a run file: heading on the page, section, and the class whose defaults it has.
Tables = dict[str, tuple[type[BaseModel], Any]]


def _chosen(heading: str, union: Any) -> Tables:
    """One table per class that a name chooses."""
    classes = [get_args(part)[0] for part in get_args(get_args(union)[0])]
    return {
        heading.format(_name(section)): (section, getattr(pgt, section.builds))
        for section in classes
        if hasattr(section, "builds")
    }


def _name(section: type[schema.Section]) -> str:
    return get_args(section.model_fields[section.chosen_by].annotation)[0]


def _tables() -> Tables:
    tables: Tables = {"At the top": (RunFile, None)}
    tables["[observations]"] = (sections.ObservationsSection, None)
    tables["[domain]"] = (sections.DomainSection, None)
    tables.update(_chosen("[pde] with name = {}", pdes.Pde))
    tables["[pde] with equations"] = (pdes.Equations, None)
    tables["A coefficient that is unknown"] = (schema.UnknownCoefficient, None)
    tables.update(_chosen("[[conditions]] with kind = {}", sections.Condition))
    tables["A table of values"] = (schema.Table, None)
    tables.update(_chosen("[model] with name = {}", models.Model))
    tables["[model] with name = pgt"] = (models.Pgt, None)  # `default_model` chooses, not the class
    tables["[training]"] = (training.TrainingSection, pgt.Training)
    tables["[training.polish]"] = (training.PolishSection, pgt.Polish)
    tables.update(_chosen("[training.sampler] with name = {}", training.Sampler))
    tables.update(_chosen("[training.weighting] with name = {}", training.Weighting))
    tables.update(_chosen("[error_bars] with name = {}", error_bars.ErrorBars))
    tables["[output]"] = (sections.OutputSection, None)
    return tables


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
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        short = (
            "name or " if any(getattr(m, "func", None) is training._named for m in parts) else ""
        )
        return short + words(parts[0]) + _limits(parts[1:])
    if origin is Literal:
        return _one_of([f"`{json.dumps(part)}`" for part in parts])
    if origin in (Union, types.UnionType):
        return _one_of([words(part) for part in parts if part is not type(None)])
    if origin is tuple:
        return f"array: {words(parts[0])}"
    if origin is dict:
        return f"table: {words(parts[1])}"
    return _PLAIN.get(annotation, "table")


_PLAIN = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    schema.UnknownCoefficient: "unknown",
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
        if getattr(part, "func", None) is schema._check_positive:
            found["gt"] = "0"
    says = {"ge": "from {}", "gt": "above {}", "le": "to {}", "lt": "below {}"}
    return "".join(f" {says[word].format(value)}" for word, value in found.items())


def _default(key: str, field: FieldInfo, target: Any) -> str:
    if field.is_required():
        return "required"
    value = field.get_default(call_default_factory=True)
    if value is None and target is not None:
        parameter = inspect.signature(target).parameters.get(key)
        value = parameter.default if parameter is not None else None
        if value is inspect.Parameter.empty or key == "dimension":  # that is told by the domain
            value = None
        if key in ("sampler", "weighting"):
            value = type(getattr(target(), key)).__name__.lower()
    if value is None or isinstance(value, BaseModel) or value in ((), {}):
        return "–"
    return f"`{json.dumps(value)}`"
