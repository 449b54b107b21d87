"""The lines of a table that grows, a few at a time: of a file, or of standard input.

A thread reads, so that waiting for a line never keeps the program from ending; it reads no further ahead
than a queue of limited size.
"""

import queue
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from pgt.config import RunFile, load_run
from pgt.config.parts import Parts
from pgt.config.source import toml
from pgt.data.observations import Observations

# The lines that are read ahead.
MAX_WAITING_LINES = 10_000
# The seconds between two looks at a file that does not grow, and those after which lines that came are
# used although they are fewer than asked for.
POLL_SECONDS, PAUSE_SECONDS = 0.1, 1.0
# The upper bounds of t while lines are read: a date, and so much after the lower bound.
END_OF_TIME, MAX_TIME = "2200-01-01", 1e12

Stop = Callable[[], bool]


def chunks(
    read_line: Callable[[], str],
    every: int,
    is_stopped: Stop,
    *,
    follows: bool,
    idle: float | None = None,
) -> Iterator[list[str]]:
    """Yield the lines that `read_line` gives, `every` at a time, or fewer where no more come.

    It ends when `is_stopped`, after `idle` seconds without a line, or with the source, unless that is a
    file that it `follows` while it grows.
    """
    lines: queue.Queue[str | None] = queue.Queue(MAX_WAITING_LINES)
    threading.Thread(
        target=_read, args=(read_line, lines, follows, is_stopped), daemon=True
    ).start()
    found: list[str] = []
    latest = time.monotonic()
    while not is_stopped():
        try:
            line = lines.get(timeout=POLL_SECONDS)
        except queue.Empty:
            waited = time.monotonic() - latest
            if found and waited > PAUSE_SECONDS:
                yield found
                found = []
                latest = time.monotonic()
            if idle is not None and waited > max(idle, PAUSE_SECONDS):
                return
            continue
        latest = time.monotonic()
        if line is None:
            break
        found.append(line)
        if len(found) >= every:
            yield found
            found, latest = [], time.monotonic()
    if found:
        yield found


def _read(
    read_line: Callable[[], str], lines: "queue.Queue[str | None]", follows: bool, is_stopped: Stop
) -> None:
    part = ""
    while not is_stopped():
        try:
            line = part + read_line()
        except ValueError:  # the source was closed
            break
        part = ""
        if line.endswith("\n"):
            if line.strip():
                lines.put(line)
        elif follows:  # the end so far, perhaps within a line
            part = line
            time.sleep(POLL_SECONDS)
        else:
            if line.strip():
                lines.put(f"{line}\n")
            break
    lines.put(None)


def read_lines(run: RunFile, heading: str, lines: list[str]) -> tuple[Parts, Observations]:
    """The parts of a run file, and the readings in some lines of a table with this heading, which are
    read as the run file describes its table. Its upper bound of t does not count."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "lines.csv")
        path.write_text("".join([heading, *lines]), encoding="utf-8")
        times = run.domain.axes.get("t")
        if times is None:
            raise run.error("the domain has no t; add for example t = [0, 1]", "domain")
        late = END_OF_TIME if isinstance(times[0], str) else times[0] + MAX_TIME
        overrides = [
            *run.overrides,
            f"observations.file={toml(str(path))}",
            f"domain.t={toml([times[0], late])}",
        ]
        parts = Parts(load_run(run.path, overrides))
        return parts, parts.observations
