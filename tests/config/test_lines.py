"""Damaged run files are refused in words, and every key is found in its line."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_files import HEAT, build_all, loader

from pgt import InputError
from pgt.config.lines import key_lines


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    return loader(tmp_path_factory.mktemp("run"))


ALL_KINDS = '''\
# a = 1
a = 1 # [b]
"quoted key".'other' = """
c = 3
\\""" d = 4"""""
[table . "sub.table"]   # [x]
inline = {one = 1, two.three = [1, {four = "}"}]}
[[many]]
k = 1979-05-27 07:32:00
[many.inner]
deep = \'\'\'
e = 5\'\'\'
[[many]]
k = [
  1,  # first
  # none
  2
  ,
]
[[many.more]]
z = 1
'''


def test_lines_of_keys():
    lines = key_lines(ALL_KINDS)
    assert lines == {
        ("a",): 2,
        ("quoted key",): 3,
        ("quoted key", "other"): 3,
        ("table",): 6,
        ("table", "sub.table"): 6,
        ("table", "sub.table", "inline"): 7,
        ("table", "sub.table", "inline", "one"): 7,
        ("table", "sub.table", "inline", "two"): 7,
        ("table", "sub.table", "inline", "two", "three"): 7,
        ("table", "sub.table", "inline", "two", "three", 0): 7,
        ("table", "sub.table", "inline", "two", "three", 1): 7,
        ("table", "sub.table", "inline", "two", "three", 1, "four"): 7,
        ("many",): 8,
        ("many", 0): 8,
        ("many", 0, "k"): 9,
        ("many", 0, "inner"): 10,
        ("many", 0, "inner", "deep"): 11,
        ("many", 1): 13,
        ("many", 1, "k"): 14,
        ("many", 1, "k", 0): 15,
        ("many", 1, "k", 1): 17,
        ("many", 1, "more"): 20,
        ("many", 1, "more", 0): 20,
        ("many", 1, "more", 0, "z"): 21,
    }
    assert set(lines) == set(paths(tomllib.loads(ALL_KINDS)))


def paths(data, path=()):
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from paths(value, (*path, key))


PIECES = st.sampled_from(
    ["=", "[", "]", "[[", "]]", "{", "}", ",", ".", '"', "'", '"""', "'''", "#", "\n", "\r", "\\",
     "x", "u", "pde", "name", "1e400", "nan", "-", "true", "\0", "\ufeff", "é", "1979-05-27", " ",
     "unknown = true", "\nsteps = 5\n", "\n[[conditions]]\n", "\n[model]\n", "{}", "[]", '""']
)  # fmt: skip


def right_or_refused(load, text, overrides=()):
    try:
        run = load(text, overrides)
        build_all(run)
    except InputError as error:
        message = str(error)
    else:
        return
    assert "run.toml, " in message


@given(at=st.floats(0, 1), cut=st.integers(0, 12), piece=PIECES)
def test_mutated_text(load, at, cut, piece):
    place = int(at * len(HEAT))
    text = HEAT[:place] + piece + HEAT[place + cut :]
    right_or_refused(load, text)
    try:
        data = tomllib.loads(text)
    except ValueError:
        return
    assert set(key_lines(text)) == set(paths(data))


@given(st.text(alphabet="ab.=[]{}\"'\\\n, 1#", max_size=30))
def test_lines_of_any_toml(text):
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    assert set(key_lines(text)) == set(paths(data))
