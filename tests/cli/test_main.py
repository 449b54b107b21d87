"""The command line: fast help, commands of other packages, and every public name."""

from importlib.metadata import EntryPoint, EntryPoints

import fresh_python
import pytest
from typer.testing import CliRunner

import pgt
from pgt import cli
from pgt.cli import app, main


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_help_does_not_wait_for_jax():
    code = (
        "import sys\nfrom pgt.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit as end:\n    assert end.code == 0\n"
        "slow = {'jax', 'numpy', 'xarray', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported {slow}' if slow else 0)"
    )
    found = fresh_python.run("-c", code)
    assert found.returncode == 0, found.stderr
    assert "fit" in found.stdout


# ------------------------------------------------------------------------------- commands of others


@pytest.fixture
def offered(monkeypatch):
    """Installs commands: names, and what their packages offer by them."""

    def install(**commands):
        found = [EntryPoint(name, value, main.PLUGINS) for name, value in commands.items()]
        monkeypatch.setattr(
            main, "entry_points", lambda group: EntryPoints(found).select(group=group)
        )

    return install


def test_a_command_of_another_package_is_listed_and_runs(offered):
    offered(bench="pgt_bench.command:bench")
    assert " bench " in invoke("--help").output
    assert "audit" in invoke("bench", "--help").output
    mistaken = invoke("bench", "heat", "--preset", "huge")
    assert (mistaken.exit_code, "smoke, cpu, gpu" in mistaken.output) == (2, True)


def test_where_the_benchmarks_are_not_installed_one_sentence_says_how(offered):
    offered()
    assert " bench " not in invoke("--help").output
    missing = invoke("bench", "heat")
    assert missing.exit_code == 2
    assert "pip install ./benchmarks" in missing.output
    assert missing.output.count("\n") == 1


def test_a_command_that_cannot_be_loaded_is_named(offered):
    offered(odd="no_such_package.command:app")
    found = invoke("odd")
    assert found.exit_code == 2
    assert "'odd'" in found.output
    assert "no_such_package" in found.output
    assert found.exception is None or isinstance(found.exception, SystemExit)


# ------------------------------------------------------------------------------- names


@pytest.mark.parametrize("arguments", [("fit",), ("pretrain", "heat", "--seed", "one"), ("x",)])
def test_mistyped_commands_exit_with_2(arguments):
    assert invoke(*arguments).exit_code == 2


def test_names_are_loaded_when_used():
    code = (
        "import sys, pgt\n"
        "assert 'jax' not in sys.modules\n"
        "assert pgt.InputError and pgt.DoubtWarning\n"
        "assert 'jax' not in sys.modules\n"
        "from pgt import *\n"
        "assert Heat is pgt.Heat and reconstruct is pgt.reconstruct and plots is pgt.plots\n"
    )
    found = fresh_python.run("-c", code)
    assert found.returncode == 0, found.stderr


def test_the_command_of_a_terminal_silences_the_alarms_of_the_compiler():
    """Which ask the user to file a bug. It is the one that is installed as `pgt`."""
    code = (
        "import os, sys\nfrom pgt.cli import start\nsys.argv[1:] = ['--version']\n"
        "os.environ.pop('TF_CPP_MIN_LOG_LEVEL', None)\n"  # which JAX sets in the tests' own process
        "try:\n    start()\nexcept SystemExit as end:\n    assert not end.code\n"
        "print(os.environ['TF_CPP_MIN_LOG_LEVEL'])"
    )
    found = fresh_python.run("-c", code)
    assert found.stdout.split() == ["pgt", pgt.__version__, "3"], found.stderr
    assert 'pgt = "pgt.cli:start"' in (fresh_python.ROOT / "pyproject.toml").read_text()
    with pytest.raises(AttributeError, match="no attribute 'other'"):
        _ = cli.other
