"""The text of a run file and its overrides. Damaged files are refused in words, and every key is found
in its line."""

import re
import time
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_files import HEAT, build_all, loader

from pgt import InputError
from pgt.config import load_run
from pgt.config.source import key_lines, read_source


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    return loader(tmp_path_factory.mktemp("run"))


def test_missing_files(tmp_path):
    with pytest.raises(InputError, match=r"there is no run file .*none.toml"):
        load_run(tmp_path / "none.toml")
    with pytest.raises(InputError, match="is a folder"):
        load_run(tmp_path)
    with pytest.raises(InputError):
        load_run("a\0b")


@pytest.mark.parametrize(
    ("override", "value"),
    [
        ("observations.file=sensors.csv", "sensors.csv"),
        ("observations.file='sensors.csv'", "sensors.csv"),
        ("observations.file=my data/2024-01-02.csv", "my data/2024-01-02.csv"),
        ("observations.file=3.csv", "3.csv"),
        ("observations.file=../it's.csv", "../it's.csv"),
        ("pde.text=u_t = 0.1*u_xx", "u_t = 0.1*u_xx"),
        ("training.steps=500", 500),
        ("training.polish=false", False),
        ("training.rate=1e-3", 1e-3),
        ("domain.x=[0, 1]", [0, 1]),
    ],
)
def test_a_bare_word_is_text(tmp_path, override, value):
    """A shell takes away the quotes that TOML needs."""
    path = tmp_path / "run.toml"
    path.write_text(HEAT)
    section, key = override.partition("=")[0].split(".")
    assert read_source(path, [override]).data[section][key] == value


@pytest.mark.parametrize(
    "value", ["[1, 2", "{a = 1", '"open', "'open", "", " ", "a # b", "1\n2", "]", 'a"b']
)
def test_what_was_meant_to_be_toml_and_is_none_is_refused(tmp_path, value):
    path = tmp_path / "run.toml"
    path.write_text(HEAT)
    with pytest.raises(InputError, match="--set"):
        read_source(path, [f"observations.file={value}"])


def test_overrides(load):
    overrides = [
        "training.steps = 7",
        "pde.diffusivity={unknown=true, initial=0.1, bounds=[0.01, 1]}",
        "conditions.1.u=0",
        'output.formats=["csv"]',
        "training.polish=false",
    ]
    run = load(HEAT, overrides)
    assert build_all(run).training.steps == 7
    assert run.output.formats == ("csv",)
    assert run.overrides == tuple(overrides)
    assert build_all(run).training.polish is False
    assert build_all(run).pde.diffusivity.bounds == (0.01, 1)


@pytest.mark.parametrize(
    ("override", "message"),
    [
        (
            "training.stps=1",
            "run.toml, --set, training.stps: there is no such key; did you mean 'steps'",
        ),
        (
            "training.steps=-1",
            "--set, training.steps: -1 is out of range; write a number at least 0",
        ),
        ("training.steps", "--set training.steps: a setting is one key and its value"),
        ("training.steps=", "the value is not TOML"),
        ("model.name='siren", "not TOML; write for example --set training.steps=500"),
        ("seed.a=1", "seed is not a table"),
        ("conditions.7.u=1", "'7' is not a position in this array; they count from 0 to 1"),
        ("[training]", "a setting is one key"),
        ("", "a setting is one key"),
        ("seed=1\nseed=2", "a setting is one key"),
        ("=1", "a setting is one key"),
        ("a..b=1", "a setting is one key"),
        ("seed=" + "[" * 9999, "not TOML"),
    ],
)
def test_wrong_overrides(load, override, message):
    with pytest.raises(InputError, match=re.escape(message)):
        build_all(load(HEAT, [override]))


@pytest.mark.parametrize(
    "text",
    ["a" + ".a" * 49_000 + " = 1", "[" * 90_000, '"' * 99_000, "a=" + "[{a=" * 20_000,
     "a = [" + "1," * 49_000 + "]", "a={b=1}\n" * 10_000, "#" * 99_000]
)  # fmt: skip
def test_hostile_files_take_no_time(load, text):
    began = time.process_time()  # of this process: the machine may have other things to do
    with pytest.raises(InputError):
        load(text)
    assert time.process_time() - began < 10


def test_a_mistake_is_placed_at_the_nearest_table_around_it(tmp_path):
    path = tmp_path / "run.toml"
    path.write_text("seed = 1\n[pde]\nname = 2\n")
    source = read_source(path, ["pde.nu=3"])
    assert str(source.error(("pde", "absent"), "no")) == f"{path}, line 2, pde.absent: no"
    assert str(source.error(("pde", "nu"), "no")) == f"{path}, --set, pde.nu: no"
    assert str(source.error(("model",), "no")) == f"{path}, line 1, model: no"
    keys = [("pde", "nu"), ("pde", "name"), ("seed",)]
    assert sorted(keys, key=source.order) == keys[::-1]


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
        ("many", 1, "k", 0): 14,
        ("many", 1, "k", 1): 14,
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
