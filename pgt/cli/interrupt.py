"""Ctrl-C ends a command at once, with one sentence and exit code 130.

Python raises KeyboardInterrupt where its main thread next runs Python code. In a callback of the compiler
the exception is swallowed, and elsewhere the interpreter ends while threads of the compiler still run,
which crashes. So a thread waits for the signal and ends the process at once. No work is lost: files are
written atomically (core/files.py), and a lock ends with its process.
"""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

INTERRUPTED = 130
SHOW_CURSOR = "\x1b[?25h"  # a progress bar hides it
_MAX_FLUSH_SECONDS = 0.5
_words: list[Callable[[], str]] = [lambda: "Stopped."]
_asked: list[tuple[threading.Event, str]] = []


def end_at_once() -> None:
    """Let Ctrl-C end the process; for the `pgt` command alone, not for programs that import it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return  # a shell started it in the background, where Ctrl-C is meant for others
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    signal.set_wakeup_fd(theirs.detach(), warn_on_full_buffer=False)
    signal.signal(signal.SIGINT, lambda number, frame: None)
    threading.Thread(target=_wait, args=(ours,), daemon=True).start()


@contextmanager
def saying(words: Callable[[], str]) -> Iterator[None]:
    """A context with a message for interrupts; `words` runs in another thread and imports nothing."""
    _words.append(words)
    try:
        yield
    finally:
        _words.remove(words)


@contextmanager
def finishing(words: str) -> Iterator[Callable[[], bool]]:
    """Whether an interrupt asked to come to an end: while inside, the first one says these words and
    does nothing else, and the second one ends the process."""
    asked = threading.Event()
    _asked.append((asked, words))
    try:
        yield asked.is_set
    finally:
        _asked.remove((asked, words))


def _wait(received: socket.socket) -> None:
    while content := received.recv(64):  # the numbers of signals
        if signal.SIGINT not in content:
            continue
        if not _asked or _asked[-1][0].is_set():
            _end()
        asked, words = _asked[-1]
        asked.set()
        os.write(2, f"\n{words}\n".encode())


def _end() -> None:
    # What was printed before comes first; the main thread may hold the lock of its stream for ever.
    flush = threading.Thread(target=sys.stdout.flush, daemon=True)
    flush.start()
    flush.join(_MAX_FLUSH_SECONDS)
    shown = SHOW_CURSOR if os.isatty(2) else ""
    os.write(2, f"{shown}\n{_words[-1]()}\n".encode())
    os._exit(INTERRUPTED)
