"""No public name answers a wrong argument with a raw error, or never: a few hundred calls of many.

WRONG_CALLS=10000 makes more of them.
"""

import os
from pathlib import Path

import fresh_python

FUZZER = Path(__file__).parent / "common" / "wrong_arguments.py"


def test_wrong_arguments_are_refused_in_words():
    count = int(os.environ.get("WRONG_CALLS", "400"))
    done = fresh_python.run(FUZZER, "--calls", count)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 places" in done.stdout
