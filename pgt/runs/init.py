"""`pgt init`: a run file from files of readings."""

import ast
import re
import shlex
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pgt.config.source import toml
from pgt.config.template import axes_of, fitting, is_of_the_library, measured_by, template_from
from pgt.core.dialect import Dialect
from pgt.core.errors import InputError
from pgt.io.headings import parse_heading
from pgt.io.survey import survey

_CODE = re.compile(r"`(columns|dialect|sensors)=([^`]+)`")


def from_files(
    files: Sequence[Path],
    words: Sequence[str],
    named: Sequence[str],
    output: Path,
    *,
    sensors: Path | None = None,
    columns: Sequence[str] = (),
    dialect: Sequence[str] = (),
) -> tuple[str, str]:
    """The text of a run file, and a message about it; a word that is the path of a file joins `files`."""
    files = [*files, *(Path(word) for word in words if Path(word).is_file())]
    texts = [*(word for word in words if not Path(word).is_file()), *named]
    pde = None if not texts else texts if len(texts) > 1 else texts[0]
    settings = Dialect(**_settings("--dialect", dialect)) if dialect else None
    try:
        found = survey(
            files,
            measured=measured_by(pde),
            sensors=sensors,
            columns=_settings("--columns", columns),
            dialect=settings,
            axes=axes_of(pde),
            axes_in_order=is_of_the_library(pde),
        )
        found = fitting(found, pde)
        text = template_from(found, output.resolve().parent, pde)
    except InputError as error:
        raise InputError(_CODE.sub(_as_option, str(error))) from None
    notes = [f"{len(found.table)} rows of {', '.join(found.fields)} over {', '.join(found.coords)}"]
    own = {n: heading for n in found.fields if (heading := found.columns.get(n))}
    notes += [f"{n} is {h!r}" for n, h in own.items() if parse_heading(h).name != n]
    notes += found.table.notes
    if found.repeated:
        notes.append(f"{found.repeated} readings that repeat a place and time are averaged")
    notes += [f"not used: {' and '.join(found.unused)}"] if found.unused else []
    if found.lacks_places:
        notes.append("no positions (if each column is one sensor, give a table: --sensors FILE)")
    return text, f"{', '.join(notes)}. {_to_do(text) if pde else 'Write your equation in it'}"


def _to_do(text: str) -> str:
    """The advice to write the coefficients, which no file of readings gives."""
    table = tomllib.loads(text)["pde"]
    names = [name for name, value in table.items() if isinstance(value, int | float)]
    return f"Write your {' and '.join(names)} in it" if names else "Look it over"


def _settings(option: str, words: Sequence[str]) -> dict[str, Any]:
    """The settings in words such as decimal=",", as in TOML; text needs no quotes."""
    found: dict[str, Any] = {}
    for word in words:
        if (several := _inline(word)) is not None:
            found |= several
            continue
        key, equals, value = word.partition("=")
        if not equals or not key.strip():
            raise InputError(f'{option} {word}: write a name and a value, such as x="pos. 1".')
        found[key.strip()] = value.strip()
    if option == "--dialect":
        known = Dialect.__dataclass_fields__
        for key in found:
            if key not in known:
                raise InputError(f"--dialect {key}: write one of {', '.join(known)}.")
    return found


def _inline(word: str) -> dict[str, Any] | None:
    """One or several settings separated by commas, as in TOML; None where the word is not TOML."""
    try:
        found = tomllib.loads(f"value = {{{word}}}")["value"]
    except ValueError:
        return None
    return None if any(isinstance(value, dict) for value in found.values()) else found or None


def _as_option(code: re.Match) -> str:
    """An argument of the library as an option of the command."""
    option, node = code[1], ast.parse(code[2], mode="eval").body
    if option == "sensors":
        return f"`--sensors {ast.literal_eval(node)}`"
    if isinstance(node, ast.Call):
        pairs = {str(k.arg): ast.literal_eval(k.value) for k in node.keywords}
    else:
        pairs = ast.literal_eval(node)
    words = [f"--{option} {shlex.quote(f'{name}={toml(value)}')}" for name, value in pairs.items()]
    return f"`{' '.join(words)}`"
