"""Readings that arrive while the page is open, from a growing file or from standard input."""

import csv
import math
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import sleep

import numpy as np

from pgt.core.errors import InputError
from pgt.core.numbers import listed, number
from pgt.live.rig import AbstractRig

WINDOW = 1024  # The number of the newest readings that are answered.
MAX_NAMED = 5  # The number of bad lines that are reported in words.
POLL_SECONDS = 0.2  # between two reads of a file
MAX_POLLS = 5  # A last line without an end counts as complete after so many reads.


class Stream:
    """The newest readings, and the errors of bad lines. One thread writes, others read."""

    def __init__(
        self, rig: AbstractRig, window: int = WINDOW, say: Callable[[str], None] = lambda _: None
    ):
        self.rig, self.say = rig, say
        self.rows: deque[np.ndarray] = deque(maxlen=window)
        self.bad: deque[str] = deque(maxlen=MAX_NAMED)
        self.lines = self.count = self.bad_count = 0
        self.heading: StreamHeading | None = None
        self.trouble: str | None = None  # the reason why no more lines are read
        self.ended = False
        self.changed = threading.Condition()

    def start(self, lines: Iterable[bytes]) -> threading.Thread:
        """Read in the background."""
        thread = threading.Thread(target=self.read, args=(lines,), daemon=True)
        thread.start()
        return thread

    def read(self, lines: Iterable[bytes]) -> None:
        """Take lines until they end, or until the heading is unusable."""
        try:
            for line in lines:
                self.take(line)
                if self.trouble:
                    break
        except OSError as error:
            self._give_up(f"the readings can no longer be read: {error.strerror or error}.")
        with self.changed:
            self.ended = True
            self.changed.notify_all()

    def take(self, line: bytes) -> None:
        """One line: a reading or a bad line."""
        with self.changed:
            self.lines += 1
            try:
                self._take(line)
            except InputError as error:
                if self.heading is None:
                    self._give_up(str(error))
                else:
                    self._name(f"line {self.lines}: {error}")
            self.changed.notify_all()

    def _take(self, line: bytes) -> None:
        if self.heading is None:
            if line.strip():
                self.heading = StreamHeading(line, self.rig.axes, self.rig.fields)
        elif (row := self.heading.read(line)) is not None:
            self.rows.append(row)
            self.count += 1

    def _name(self, sentence: str) -> None:
        self.bad.append(sentence)
        self.bad_count += 1
        if self.bad_count <= MAX_NAMED:
            more = "; further ones are counted on the page" if self.bad_count == MAX_NAMED else ""
            self.say(f"{sentence}{more}.")

    def _give_up(self, sentence: str) -> None:
        self.trouble = sentence
        self.say(sentence)

    def readings(self) -> tuple[np.ndarray, np.ndarray]:
        """Points (n, d) and values (n, c), oldest first."""
        width = len(self.rig.axes)
        with self.changed:
            rows = np.array(self.rows, float).reshape(-1, width + len(self.rig.fields))
        return rows[:, :width], rows[:, width:]

    def state(self, seen: int = -1, seconds: float = 0.0) -> dict:
        """The counts, once there are more lines than `seen` or after some seconds."""
        with self.changed:
            self.changed.wait_for(lambda: self.lines > seen or self.ended, seconds)
            return {
                "lines": self.lines, "readings": self.count, "bad": self.bad_count,
                "named": list(self.bad), "trouble": self.trouble, "ended": self.ended,
            }  # fmt: skip


def whole_lines(readline: Callable[[int], bytes], more: Callable[[], bool]) -> Iterator[bytes]:
    """Lines as they are completed; at the end `more` waits and says whether others may follow.

    Only the beginning of a line that is too long is kept.
    """
    begun, looks = b"", 0
    while True:
        part = readline(MAX_LINE_BYTES)
        begun = (begun + part)[: MAX_LINE_BYTES + 1]
        if part.endswith(b"\n") or (begun and looks >= MAX_POLLS and not part):
            yield begun
            begun, looks = b"", 0
        elif part:
            looks = 0
        elif more():
            looks += 1
        else:
            if begun:
                yield begun
            return


def follow(path: Path, pause: float = POLL_SECONDS) -> Iterator[bytes]:
    """The lines of a file and those that are appended later; a truncated file is read again."""
    with path.open("rb") as file:

        def more() -> bool:
            sleep(pause)
            if os.stat(path).st_size < file.tell():
                file.seek(0)
            return True

        yield from whole_lines(file.readline, more)


def source_of(name: str, standard_input: Callable[[int], bytes]) -> Iterator[bytes]:
    """Lines of the file with this name; of standard input for `-`."""
    if name == "-":
        return whole_lines(standard_input, lambda: False)
    path = Path(name).absolute()
    if not path.is_file():
        raise InputError(f"{name}: there is no such file of readings; write - for standard input.")
    return follow(path)


# ------------------------------------------------------------------------------- lines of text


MAX_LINE_BYTES = 10_000
SEPARATORS = ",;\t"
MAX_SHOWN = 40  # characters of a bad text in a message
MISSING_VALUES = ("", "nan", "na", "null", "none", "-")


class StreamHeading:
    """The columns of a table; reads its lines."""

    def __init__(self, line: bytes, axes: Mapping[str, np.ndarray], fields: Sequence[str]):
        text = _text(line)
        self.separator = next((mark for mark in SEPARATORS if mark in text), ",")
        self.names = [name.strip() for name in self._cells(text)]
        self.axes, self.fields = axes, fields
        if missing := [axis for axis in axes if axis not in self.names]:
            raise InputError(
                f"the heading {_shown(text)} lacks {listed(missing)}; columns of this model are "
                f"{listed([*axes, *fields])}."
            )
        if not set(fields) & set(self.names):
            raise InputError(f"the heading {_shown(text)} has none of {listed(fields)}.")
        if twice := [name for name in self.names if self.names.count(name) > 1]:
            raise InputError(f"the heading {_shown(text)} names {twice[0]} twice.")

    def read(self, line: bytes) -> np.ndarray | None:
        """Coordinates, then fields; None for an empty line and for a repeated heading."""
        text = _text(line)
        cells = [cell.strip() for cell in self._cells(text)]
        if not any(cells) or cells == self.names:
            return None
        if len(cells) != len(self.names):
            raise InputError(f"{len(cells)} cells instead of {len(self.names)}")
        by_name = dict(zip(self.names, cells, strict=True))
        place = [self._coordinate(axis, by_name[axis]) for axis in self.axes]
        values = [_value(name, by_name.get(name, "")) for name in self.fields]
        if all(map(math.isnan, values)):
            raise InputError("no field has a value")
        return np.array([*place, *values])

    def _cells(self, text: str) -> list[str]:
        try:
            return next(csv.reader([text], delimiter=self.separator), [])
        except csv.Error as error:
            raise InputError(str(error)) from None

    def _coordinate(self, axis: str, cell: str) -> float:
        value = _number(axis, cell)
        low, high = float(self.axes[axis][0]), float(self.axes[axis][-1])
        if not low <= value <= high:
            bounds = f"{number(low)} to {number(high)}"
            raise InputError(f"{axis} = {_shown(cell)} lies outside of {bounds}")
        return value


def _value(name: str, cell: str) -> float:
    return math.nan if cell.lower() in MISSING_VALUES else _number(name, cell)


def _number(name: str, cell: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{name} = {_shown(cell)} is not a finite number")
    return value


def _text(line: bytes) -> str:
    if len(line) > MAX_LINE_BYTES:
        raise InputError(f"it is longer than {MAX_LINE_BYTES} bytes")
    return line.decode("utf-8-sig", "replace").strip("\r\n")


def _shown(text: str) -> str:
    return repr(text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…")
