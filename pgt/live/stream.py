"""Readings that arrive while the page is open: from a file that grows, or from standard input."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from time import sleep

import numpy as np

from pgt.ground.errors import InputError
from pgt.live.rows import LONGEST, Heading
from pgt.live.source import Rig

WINDOW = 1024  # newest readings that are answered
NAMED = 5  # bad lines that are told in words
PAUSE = 0.2  # seconds between two looks at a file
PATIENCE = 5  # looks after which a last line without an end counts as whole


class Stream:
    """The newest readings, and what was wrong with the others. One thread writes, others read."""

    def __init__(self, rig: Rig, window: int = WINDOW, say: Callable[[str], None] = lambda _: None):
        self.rig, self.say = rig, say
        self.rows: deque[np.ndarray] = deque(maxlen=window)
        self.bad: deque[str] = deque(maxlen=NAMED)
        self.lines = self.count = self.bad_count = 0
        self.heading: Heading | None = None
        self.trouble: str | None = None  # why nothing more will be read
        self.ended = False
        self.changed = threading.Condition()

    def start(self, lines: Iterable[bytes]) -> threading.Thread:
        """Read in the background."""
        thread = threading.Thread(target=self.read, args=(lines,), daemon=True)
        thread.start()
        return thread

    def read(self, lines: Iterable[bytes]) -> None:
        """Take lines until they end, or until the heading is useless."""
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
        """One line: a reading, or one more that is bad."""
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
                self.heading = Heading(line, self.rig.axes, self.rig.fields)
        elif (row := self.heading.read(line)) is not None:
            self.rows.append(row)
            self.count += 1

    def _name(self, sentence: str) -> None:
        self.bad.append(sentence)
        self.bad_count += 1
        if self.bad_count <= NAMED:
            more = "; further ones are counted on the page" if self.bad_count == NAMED else ""
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
        """How far it is, as soon as more lines than those seen have come, or after some seconds."""
        with self.changed:
            self.changed.wait_for(lambda: self.lines > seen or self.ended, seconds)
            return {
                "lines": self.lines, "readings": self.count, "bad": self.bad_count,
                "named": list(self.bad), "trouble": self.trouble, "ended": self.ended,
            }  # fmt: skip


def whole_lines(readline: Callable[[int], bytes], more: Callable[[], bool]) -> Iterator[bytes]:
    """Lines as they are finished; `more` waits at the end, and says whether any may still come.

    Of a line that is too long only the beginning is kept.
    """
    begun, looks = b"", 0
    while True:
        part = readline(LONGEST)
        begun = (begun + part)[: LONGEST + 1]
        if part.endswith(b"\n") or (begun and looks >= PATIENCE and not part):
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


def follow(path: Path, pause: float = PAUSE) -> Iterator[bytes]:
    """The lines of a file and those that are added later; one that was emptied is read anew."""
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
