"""Fits that take no time, some of which end badly, in a module that worker processes can import."""

import os
import signal
import time

from pgt.core.errors import InputError

KILLED, BROKEN, WRONG = 4, 7, 11  # the numbers of fits that end so at first


def pretend(case, folder):
    """Counts itself at its start and end, and for some cases ends badly the first time."""
    number = case.values["seed"]
    folder.mkdir(exist_ok=True)
    starts = len(list(folder.glob("start-*")))
    (folder / f"start-{starts}").touch()
    time.sleep(0.02)
    if starts == 0 and number == KILLED:
        os.kill(os.getpid(), signal.SIGKILL)
    if starts == 0 and number == BROKEN:
        raise OSError("no space left")
    if number == WRONG and not (folder.parent / "mended").exists():
        raise InputError("the readings are wrong.")
    (folder / f"end-{starts}").touch()
    errors = {"u": {"value": 0.01 * number}}
    return {"field_error": errors, "coefficients": {"k": 2.0}, "doubt_kinds": ["a", "b"]}
