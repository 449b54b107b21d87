"""The `pgt` command: parse, call, print."""

import os
from typing import TYPE_CHECKING

from pgt.cli.interrupt import end_at_once

if TYPE_CHECKING:
    from pgt.cli.main import app as app


def start() -> None:
    """The command as a terminal starts it. What it takes to parse is imported when Ctrl-C is safe."""
    end_at_once()
    # The compiler's own alarms ("file a bug") are no messages to a user; its errors are raised.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    __getattr__("app")()


def __getattr__(name: str):
    if name != "app":
        raise AttributeError(f"module 'pgt.cli' has no attribute {name!r}")
    from pgt.cli.main import app

    return app
