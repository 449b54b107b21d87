"""The text of a run file, its values, and the line of every key."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pgt.core.errors import InputError

Key = tuple[str | int, ...]  # items of an array count from 0, as in ("conditions", 0, "kind")

# Larger files are refused; a run file has some hundreds of bytes.
MAX_BYTES = 100_000
# Lines with more dots are refused, because `tomllib` needs n² steps for a key with n dots.
MAX_DOTS = 2000
OVERRIDE = "--set"

_WORDS = re.compile(r"[^\s\"'\[{}\]#=][^\"\[{}\]#\n]*")  # neither quoted nor a table or an array
_COMMA = re.compile(r"=\s*([+-]?\d+),(\d+(?:[eE][+-]?\d+)?)\s*(?:#|$)")
_POSITION = re.compile(r"\(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)")


class LocatedError(InputError):
    """An error that names its place in the run file already."""


LocatedError.__module__ = "pgt"


@dataclass(frozen=True)
class Source:
    """A run file; `places` has for each key its line, "line 12", or "--set" for the command line."""

    path: Path
    text: str
    data: dict[str, Any]
    places: Mapping[Key, str]
    overrides: tuple[str, ...]

    def error(self, key: Key, message: str) -> "LocatedError":
        """An error at a key, or where the key is absent at the nearest table around it."""
        known = [key[:n] for n in range(len(key), 0, -1) if key[:n] in self.places]
        place = self.places[known[0]] if known else "line 1"
        name = f", {dotted(key)}" if key else ""
        return LocatedError(f"{self.path}, {place}{name}: {message}")

    def order(self, key: Key) -> int:
        """The line of a key, by which the first mistake is chosen; settings of --set come last."""
        place = next(
            (p for n in range(len(key), 0, -1) if (p := self.places.get(key[:n]))), "line 0"
        )
        return int(place.removeprefix("line ")) if place.startswith("line ") else MAX_BYTES


def read_source(path: str | Path, overrides: Sequence[str] = ()) -> Source:
    """The plain data of a run file, with the overrides applied."""
    path = Path(path)
    text = _text(path)
    for line, content in enumerate(text.split("\n"), 1):
        if content.count(".") > MAX_DOTS:
            raise InputError(
                f"{path}, line {line}: more than {MAX_DOTS} dots on one line; break a long array over "
                "several lines."
            )
    try:
        data = tomllib.loads(text)
        places = {key: f"line {line}" for key, line in key_lines(text).items()}
    except RecursionError:
        raise InputError(
            f"{path}, line 1: brackets are nested too deeply; a run file needs three levels at most."
        ) from None
    except ValueError as error:  # of which tomllib.TOMLDecodeError is one
        raise _syntax_error(path, text, error) from None
    for override in overrides:
        _apply_override(path, data, places, override)
    return Source(path, text, data, places, tuple(overrides))


def dotted(key: Key) -> str:
    """The key as it is written in TOML and after --set."""
    return ".".join(
        str(part) if re.fullmatch(r"[\w-]+", str(part), re.ASCII) else _quoted(str(part))
        for part in key
    )


def toml(value: Any) -> str:
    """A value as TOML writes it.

    >>> toml({"kind": "initial", "u": [1, 0.5]})
    '{kind = "initial", u = [1, 0.5]}'
    """
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{dotted((n,))} = {toml(v)}' for n, v in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return _quoted(value) if isinstance(value, str) else json.dumps(value)


def _quoted(text: str) -> str:
    """Text in quotation marks, as JSON writes it but for DEL, which TOML does not allow."""
    try:
        text.encode()
    except UnicodeEncodeError:  # the name of a file in another encoding
        raise InputError(f"{text!r} is no text that a run file can hold; rename it.") from None
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def commented(text: str) -> str:
    """A comment of one line, whatever the text holds."""
    shown = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return f"# {''.join(shown)}"


def _text(path: Path) -> str:
    try:
        if path.is_dir():
            raise InputError(
                f"{path} is a folder; name the run file in it, a file such as run.toml."
            )
        if not path.is_file():
            raise InputError(
                f"there is no run file {path}; check the path, or write one with `pgt init heat`."
            )
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a path that no system can have
        if isinstance(error, InputError):
            raise
        raise InputError(f"the run file {path} cannot be read: {error}.") from None
    if len(raw) > MAX_BYTES:
        raise InputError(
            f"{path}, line 1: the file has more than {MAX_BYTES} bytes: is it the table of readings? "
            "Name the run file here, and the readings in it: [observations] file = ..."
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {line}: byte {raw[error.start]:#04x} is not UTF-8 text; save the file as "
            "UTF-8."
        ) from None


def _syntax_error(path: Path, text: str, error: ValueError) -> InputError:
    message = str(error)
    found = _POSITION.search(message)
    if found is None:  # from Python's own reading of a number
        place = "line 1"
    elif found["line"]:
        place = f"line {found['line']}, column {found['column']}"
    else:
        place = f"line {text.rstrip().count(chr(10)) + 1}"
    reason = _POSITION.sub("", message).strip().rstrip(".")
    lines = text.splitlines()[int(found["line"]) - 1 :] if found and found["line"] else []
    comma = _COMMA.search(lines[0]) if lines else None
    hint = f" A decimal has a point: {comma[1]}.{comma[2]}." if comma else ""
    return InputError(
        f"{path}, {place}: this is not TOML: {reason}. Write `key = value` with text in quotes, "
        f"tables as [name], and a # before comments.{hint}"
    )


def _apply_override(path: Path, data: dict, places: dict[Key, str], override: str) -> None:
    """Set one value in `data`, and make the tables around it; its place becomes --set."""

    def wrong(why: str) -> InputError:
        return InputError(f"{path}, {OVERRIDE} {override}: {why}")

    key, value = _parse_override(override, wrong)
    here: Any = data
    full: Key = ()
    for part in key[:-1]:
        part = _index(here, part, wrong)
        if isinstance(here, dict):
            here.setdefault(part, {})
        here, full = here[part], (*full, part)
        places.setdefault(full, OVERRIDE)
        if not isinstance(here, dict | list):
            raise wrong(f"{dotted(full)} is not a table, so it has no keys of its own.")
    last = _index(here, key[-1], wrong)
    here[last] = value
    full = (*full, last)
    for old in [place for place in places if place[: len(full)] == full]:
        del places[old]
    places[full] = OVERRIDE


def key_lines(text: str) -> dict[Key, int]:
    """Every key of a valid TOML text, with the line on which its statement begins.

    >>> key_lines("[training]\\nsteps = 100")
    {('training',): 1, ('training', 'steps'): 2}
    """
    lines: dict[Key, int] = {}
    newest: dict[Key, int] = {}  # the index of the last item of each array of tables
    table: Key = ()
    statement, start = "", 1
    for number, line in enumerate(text.split("\n"), 1):
        statement += f"{line}\n"
        try:
            found = tomllib.loads(statement)
        except ValueError:  # the statement goes on in the next line
            continue
        if statement.lstrip().startswith("["):
            *keys, table = _header_keys(found, newest)
        else:
            keys = [(*table, *key) for key in _keys(found)]
        for key in (*keys, table):
            lines.setdefault(key, start)
        statement, start = "", number + 1
    lines.pop((), None)
    return lines


def _keys(value: Any, above: Key = ()) -> Iterator[Key]:
    """The keys of a value and of all that it contains."""
    if isinstance(value, dict | list):
        for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*above, key)
            yield from _keys(inside, (*above, key))


def _header_keys(found: Any, newest: dict[Key, int]) -> Iterator[Key]:
    """The keys of a header such as [a.b] or [[a]], the table itself last."""
    path: Key = ()
    while found:
        path += (newest[path],) if path in newest else ()
        name, found = next(iter(found.items()))
        path += (name,)
        yield path
        if isinstance(found, list):
            newest[path] = newest.get(path, -1) + 1
            yield (*path, newest[path])
            return


def split_key(text: str) -> tuple[Key, str] | None:
    """The parts of the key before the first `=`, and the text behind it; None without a key."""
    for sign in re.finditer("=", text):
        try:
            found = tomllib.loads(f"{text[: sign.start()]}= 0")
        except ValueError:  # the sign is inside of a quoted key
            continue
        keys = list(_keys(found))
        return (keys[-1], text[sign.end() :]) if keys else None
    return None


def _parse_override(override: str, wrong: Callable[[str], InputError]) -> tuple[Key, Any]:
    example = f"write for example {OVERRIDE} training.steps=500"
    try:
        found = None if "\n" in override.strip() else split_key(override)
        if found is None:
            raise wrong(f"a setting is one key and its value; {example}.")
        return found[0], _value(found[1])
    except InputError:
        raise
    except (ValueError, RecursionError):
        raise wrong(f"the value is not TOML; {example}, or {OVERRIDE} pde.name=heat.") from None


def _value(text: str) -> Any:
    """The value of a text in TOML; text that is clearly not TOML is the value itself.

    A shell removes the quotes that TOML would need.
    """
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        if not _WORDS.fullmatch(text.strip()):
            raise
        return text.strip()


def _index(here: Any, part: str | int, wrong: Callable[[str], InputError]) -> Any:
    """A key of a table, or the position in an array."""
    if isinstance(here, dict):
        return part
    if not (str(part).isdecimal() and int(part) < len(here)):
        raise wrong(
            f"{part!r} is not a position in this array; they count from 0 to {len(here) - 1}."
        )
    return int(part)
