"""Run files: TOML in, everything a fit needs out. Nothing in them is run as code."""

from pgt.config.run import RunFile as RunFile
from pgt.config.run import load_run as load_run
