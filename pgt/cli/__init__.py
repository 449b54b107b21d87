"""The `pgt` command: parse, call, print."""

import os
from typing import TYPE_CHECKING

from pgt.cli.interrupt import end_at_once

if TYPE_CHECKING:
    from pgt.cli.main import app as app


def start() -> None:
    """Run the command; modules that take long to import follow the handler of Ctrl-C."""
    end_at_once()
    # Warnings of the compiler ("file a bug") do not help users; its errors are raised.
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    __getattr__("app")()


def __getattr__(name: str):
    if name != "app":
        raise AttributeError(f"module 'pgt.cli' has no attribute {name!r}")
    from pgt.cli.main import app

    return app
