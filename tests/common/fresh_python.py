"""A new interpreter, as a user would start it: without the shape checker of the tests."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def run(*arguments, folder: Path = ROOT) -> subprocess.CompletedProcess:
    """`python ARGUMENTS` in `folder`; the compiler does little, since little is computed."""
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "JAX_DISABLE_MOST_OPTIMIZATIONS": "1"},
        capture_output=True,
        text=True,
    )
