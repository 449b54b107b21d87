"""The `pgt` command: parse, call, print."""

from pgt.cli.main import app as app
