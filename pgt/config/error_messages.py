"""The errors of pydantic in plain words: what is wrong, and what to write instead."""

import ast
import datetime
import difflib
from collections.abc import Mapping
from typing import Any

from pgt.config.source import Key, toml

# The required value in words, by the type of pydantic's error.
_WANTED = {
    "float_type": "a number, such as 0.1",
    "int_type": "a whole number, such as 10",
    "int_from_float": "a whole number, such as 10",
    "string_type": 'text in quotes, such as "u"',
    "bool_type": "true or false",
    "tuple_type": "an array in square brackets, such as [...]",
    "dict_type": "a table, such as {u = ...}",
    "model_type": "a table: [name] on a line of its own, or {key = value}",
    "model_attributes_type": "a table: [name] on a line of its own, or {key = value}",
    "finite_number": "a finite number",
}
_LIMITS = {
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "below"),
    "less_than_equal": ("le", "at most"),
}
# The alternatives in words, by the names in the tag of the way that was tried (derive.py).
_OR = {
    "number": "a number",
    "text": "text in quotes",
    "table": "a table",
    "array": "an array of them",
    "flag": "true or false",
    "false": "false for none",
    "unknown": "{unknown = true, initial = 0.05} to have it learnt",
    "formula": 'a formula in quotes, such as "sin(pi*x)"',
    "curve": 'a table such as {at = [0, 1], values = [2, 3]} or {file = "series.csv", value = "u"}',
    "column": "the name of a column in quotes",
    "positions": "an array of positions",
    "name": "its name in quotes",
    "dates": 'dates, such as ["2024-03-01", "2024-03-08"]',
}


def explain(error: Mapping[str, Any]) -> tuple[Key, str]:
    """The key at fault, and a sentence that says what is wrong and what to write instead."""
    context = error.get("ctx", {})
    key = tuple(part for part in error["loc"] if not _is_tag(part))
    if error["type"] == "wrong":
        return key + tuple(context["key"]), context["message"]
    tags = [part for part in error["loc"] if _is_tag(part)]
    return key, _sentence(error["type"], context, error["input"], tags[-1] if tags else "")


def _is_tag(part: str | int) -> bool:
    return isinstance(part, str) and part.startswith("<") and part.endswith(">")


def _sentence(kind: str, context: Mapping, value: Any, tag: str) -> str:
    if kind == "tuple_type" and isinstance(value, dict):
        return "one table does not fit here; write an array of tables, as in [[conditions]]."
    if kind in _WANTED:
        return f"{shown(value)} does not fit here; write {_WANTED[kind]}{_others(tag)}."
    if kind == "greater_than":
        return f"{shown(value)} is not above {context['gt']:g}; write a number above {context['gt']:g}."
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return f"{shown(value)} is out of range; write a number {words} {context[name]:g}."
    if kind == "literal_error":
        return f"{_one_of(context['expected'], value)}{_others(tag)}."
    if kind in ("too_short", "too_long"):
        limit = context.get("min_length", context.get("max_length"))
        words = "at least" if kind == "too_short" else "at most"
        return f"{context['actual_length']} entries do not fit; write {words} {limit}."
    return f"{shown(value)} does not fit here."


def _others(tag: str) -> str:
    """`, or false for none` after what was tried: "<table|false>"."""
    _, *others = tag.strip("<>").split("|")
    return "".join(f", or {_OR[other]}" for other in others)


def _one_of(expected: str, value: Any) -> str:
    known = expected.replace("True", "true").replace("False", "false").replace("'", '"')
    close = difflib.get_close_matches(shown(value), known.replace(" or ", ", ").split(", "), n=1)
    hint = f" (did you mean {close[0]}?)" if close else ""
    return f"{shown(value)} is not known here{hint}; write {known}"


def shown(value: Any) -> str:
    """A value as TOML writes it, cut short."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{printable(value if len(value) <= 40 else value[:37] + "...")}"'
        case dict():
            return "a table"
        case list() | tuple():
            return "an array"
        case datetime.date() | datetime.time():
            return f"the date or time {value}"
        case int() if abs(value) >= 10**20:
            return "a whole number of more than 20 digits"
        case _:
            return str(value)


def as_toml(key: str, code: str) -> str | None:
    """An argument of the library as a key of a run file; None where it cannot be one.

    >>> as_toml("columns", '{"x": "X [m]"}'), as_toml("dialect", 'pgt.io.Dialect(decimal=",")')
    ('`columns = {x = "X [m]"}`', '`dialect = {decimal = ","}`')
    """
    try:
        node = ast.parse(code, mode="eval").body
        if isinstance(node, ast.Call):
            value = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
        else:
            value = ast.literal_eval(node)
        return f"`{key} = {toml(value)}`"
    except (SyntaxError, ValueError, TypeError):
        return None


def printable(text: str) -> str:
    """The text on one line."""
    return "".join(c if c.isprintable() else "?" for c in text)
