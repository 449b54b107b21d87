"""The line of every key in a TOML text: `tomllib` gives the values, but not where they stood."""

import bisect
import re
import tomllib
from collections.abc import Callable

Key = tuple[str | int, ...]

# No key of a run file has more parts.
MAX_KEY_PARTS = 12

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_PART = re.compile(r"""[A-Za-z0-9_-]+|"(?:\\.|[^"\\])*"|'[^']*'""")
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\])*"'
    r"|'[^']*'",
    re.DOTALL,
)
_PLAIN = re.compile(r"[^,\]}#\n]+")  # numbers, dates (which may hold a space), true and false


def key_lines(text: str) -> dict[Key, int]:
    """Every key of a TOML text that `tomllib` accepts, with the line on which it first stands.

    Items of an array count from 0, as in `("conditions", 0, "kind")`.

    >>> key_lines("[training]\\nsteps = 100")
    {('training',): 1, ('training', 'steps'): 2}
    """
    return _Scan(text).document()


def split_key(text: str) -> tuple[Key, str] | None:
    """The parts of the key before the first `=`, and what follows; None where there is no key."""
    if not _PART.match(text.strip()):
        return None
    scan = _Scan(text)
    parts = scan.key()
    found = parts and scan.next() == "="
    return (parts, text[scan.at + 1 :]) if found else None


class _Scan:
    """One walk over the text. It trusts `tomllib` to have refused whatever is not TOML."""

    def __init__(self, text: str):
        self.text = text
        self.at = 0
        self.breaks = [match.start() for match in re.finditer("\n", text)]
        self.lines: dict[Key, int] = {}
        self.last: dict[Key, int] = {}  # index of the newest item of each array of tables

    def document(self) -> dict[Key, int]:
        table: Key = ()
        while self.next():
            if self.next() == "[":
                table = self.header()
            else:
                self.pair(table)
        return self.lines

    def next(self) -> str:
        """The next character that is neither blank nor in a comment; empty at the end."""
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at
        return self.text[self.at : self.at + 1]

    def note(self, key: Key, start: int) -> None:
        self.lines.setdefault(key, bisect.bisect_left(self.breaks, start) + 1)

    def header(self) -> Key:
        start, many = self.at, self.text.startswith("[[", self.at)
        self.at += 1 + many
        path: Key = ()
        for part in self.key():
            path += (self.last[path],) if path in self.last else ()
            path += (part,)
            self.note(path, start)
        self.next()
        self.at += 1 + many
        if many:
            self.last[path] = self.last.get(path, -1) + 1
        if path in self.last:
            path += (self.last[path],)
            self.note(path, start)
        return path

    def pair(self, path: Key) -> None:
        self.next()
        start = self.at
        for part in self.key():
            path += (part,)
            self.note(path, start)
        self.next()
        self.at += 1  # the `=`
        self.value(path)

    def key(self) -> tuple[str, ...]:
        parts = []
        while self.next() and (match := _PART.match(self.text, self.at)):
            self.at = match.end()
            parts.append(_unquoted(match.group()))
            if self.next() != ".":
                break
            self.at += 1
        return tuple(parts[:MAX_KEY_PARTS])

    def value(self, path: Key) -> None:
        first = self.next()
        if first == "[":
            self.items("]", lambda index: self.item((*path, index)))
        elif first == "{":
            self.items("}", lambda index: self.pair(path))
        elif match := _STRING.match(self.text, self.at) or _PLAIN.match(self.text, self.at):
            self.at = match.end()

    def item(self, path: Key) -> None:
        self.next()
        self.note(path, self.at)
        self.value(path)

    def items(self, closing: str, one: Callable[[int], None]) -> None:
        """The inside of an array or an inline table."""
        self.at += 1
        index = 0
        while self.next() not in (closing, ""):
            one(index)
            index += 1
            if self.next() == ",":
                self.at += 1
        self.at += 1


def _unquoted(part: str) -> str:
    return tomllib.loads(f"key = {part}")["key"] if part[0] in "\"'" else part
