"""`python -m pgt`, where the command `pgt` is not on the path."""

from pgt.cli import start

start()
