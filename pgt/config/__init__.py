"""Run files: TOML in, everything that a fit needs out; nothing in them is run as code.

source              the text, its values, and the line of every key
run, schema         the sections of a run file, and what all tables have in common
derive              tables of parts from the signatures of their classes
descriptions        the tables that describe parts of the library
condition_text      values that are written as tables
error_messages      the errors of pydantic in plain words
parts               the library's objects from the sections
template, from_data a commented run file to start from
"""

from pgt.config.run import RunFile as RunFile
from pgt.config.run import load_run as load_run
