"""A sweep file as a list of fits."""

import pytest

from pgt.config.template import template
from pgt.core.errors import InputError
from pgt.sweep import read_sweep
from pgt.sweep.cases import require_cases


@pytest.fixture
def folder(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(f"x,t,u\n0.5,0.5,{ord(name)}\n")
    text = template("heat").replace('"sensors.csv"', '"a.csv"')
    (tmp_path / "run.toml").write_text(text)
    return tmp_path


def cases(folder, text):
    (folder / "sweep.toml").write_text(text)
    return read_sweep(folder / "sweep.toml")


def test_every_combination_is_one_case(folder):
    text = 'base = "run.toml"\nfiles = ["*.csv"]\nseeds = [3, 5]\n[grid]\ntraining.steps = [10, 20]'
    found = cases(folder, text)
    assert len({case.name for case in found}) == 8
    first = {"observations.file": "a.csv", "training.steps": 10, "seed": 3}
    assert found[0].values == first
    assert found[0].overrides[1:] == ("training.steps=10", "seed=3")
    assert found[0].name.startswith("a,steps=10,seed=3-")


def test_the_name_follows_what_is_fitted(folder):
    text = 'base = "run.toml"\n[grid]\nmodel = [{name = "pgt"}, {name = "siren"}]'
    before = [case.name for case in cases(folder, text)]
    assert [name.split("-")[0] for name in before] == ["model=pgt", "model=siren"]
    more = cases(folder, text.replace("[{", '[{name = "pinn"}, {'))
    assert [case.name for case in more][1:] == before  # a longer grid repeats nothing
    (folder / "a.csv").write_text("x,t,u\n0.5,0.5,1.5\n")
    assert not set(before) & {case.name for case in cases(folder, text)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seeds = 2", "base = "),
        ('base = "run.toml"\nfile = "a"', "did you mean 'files'"),
        ('base = "nowhere.toml"', "no run file"),
        ('base = "run.toml"\nfiles = ["*.dat"]', "there is no file '\\*.dat'"),
        ('base = "run.toml"\n[grid]\ntraining.steps = 10', "grid.training.steps: write the values"),
        ('base = "run.toml"\n[grid]\ntraining.steps = []', "write the values"),
        ('base = "run.toml"\nseeds = 2\n[grid]\nseed = [1]', "varied by seeds"),
        ('base = "run.toml"\nseeds = 9000\n[grid]\nmethod = ["solver", "x"]', "too many"),
        ('base = "run.toml"\n[grid]\nmethod = ["solve"]', "method"),
        ('base = "run.toml"\n[grid]\nseed = [2024-01-01]', "dates as text"),
    ],
)
def test_mistakes_are_messages(folder, text, message):
    with pytest.raises(InputError, match=message):
        cases(folder, text)


def test_a_value_that_is_written_twice_is_an_error(folder):
    with pytest.raises(InputError, match="two fits of the sweep are the same"):
        require_cases(cases(folder, 'base = "run.toml"\nseeds = [1, 1]'))
