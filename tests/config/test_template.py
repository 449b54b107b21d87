"""Run files to start from."""

import re

import fresh_python
import pytest
from run_files import build_all, loader

from pgt import InputError
from pgt.config.template import template
from pgt.core.registry import parts

ZOO = sorted(n for n, e in parts("equation").items() if e.__module__.startswith("pgt."))

TEXTS = (
    ("u_t + u*u_x = nu*u_xx",),
    ("u_t = k*lap(u)",),
    ("lap(u) + q^2*u = sin(pi*x)",),
    ("u_t = ν*u_xx",),
    ("u_t = -k*u",),
    (
        "u_t + u*u_x + v*u_y = -p_x + nu*lap(u)",
        "v_t + u*v_x + v*v_y = -p_y + nu*lap(v)",
        "u_x + v_y = 0",
    ),
)


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    return loader(tmp_path_factory.mktemp("run"))


@pytest.mark.parametrize("pde", [*ZOO, *TEXTS], ids=str)
def test_templates_load_and_build(load, pde):
    text = template(pde)
    run = load(text)
    assert set(run.observations.fields) <= set(build_all(run).pde.fields)
    everything = re.sub(r"(?m)^#(?=[A-Za-z\[\"])(?!periodic)", "", text)
    assert everything != text
    build_all(load(everything))


def test_templates_of_nonsense(load):
    with pytest.raises(InputError, match="did you mean 'heat'"):
        template("haet")
    with pytest.raises(InputError, match="cannot be called 'kernel'"):
        template("u_t = kernel*u_xx")
    with pytest.raises(InputError, match="Found"):
        template("u_t = = 1")
    with pytest.raises(InputError):
        template([])


def test_a_template_names_the_models_in_a_new_process(tmp_path):
    found = fresh_python.run("-m", "pgt", "init", "heat", "-o", str(tmp_path / "run.toml"))
    assert found.returncode == 0, found.stderr
    text = (tmp_path / "run.toml").read_text(encoding="utf-8")
    assert all(name in text for name in ("siren", "deeponet", "features", "solver"))
