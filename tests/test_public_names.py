"""The names that users write: how many, where each is, and what a wrong one is answered with."""

import ast
from pathlib import Path

import fresh_python
import pytest
from public_names import public_names

import pgt


def test_there_are_few_names_at_the_top():
    assert len(pgt.__all__) == len(set(pgt.__all__)) <= 70
    assert not [name for name in pgt.__all__ if name.startswith("Abstract")]
    assert set(pgt.__all__) <= set(dir(pgt))


def test_type_checkers_see_the_names_that_are_loaded_later():
    tree = ast.parse(Path(pgt.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and not is_not(node.test))
    seen = {
        (f"{node.module}.{alias.name}".removeprefix("pgt."), alias.asname)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    loaded = {(f"{module}.{name}", name) for name, module in pgt._HOMES.items()}
    assert seen == loaded | {(name, name) for name in pgt._MODULES}


def is_not(test: ast.expr) -> bool:
    return isinstance(test, ast.UnaryOp)


def test_no_name_has_two_places():
    homes = {}
    for name, thing in public_names().items():
        homes.setdefault(id(thing), []).append(name)
    assert [names for names in homes.values() if len(names) > 1] == []


@pytest.mark.parametrize(
    ("name", "home"),
    [("Disk", "shapes"), ("AbstractPDE", "extend"), ("NoKernel", "kernels"), ("Sobol", "training")],
)
def test_a_name_of_another_module_is_told(name, home):
    with pytest.raises(AttributeError, match=rf"pgt\.{home}\.{name}"):
        getattr(pgt, name)
    assert hasattr(getattr(pgt, home), name)
    with pytest.raises(AttributeError, match=r"no attribute .Dusk.$"):
        pgt.Dusk  # noqa: B018


def test_importing_is_quick():
    """Neither JAX nor xarray, pandas or numpy is imported before it is needed."""
    code = (
        "import sys, pgt; assert dir(pgt); assert len(pgt.__all__) > 9\n"
        "print([name for name in ('jax', 'xarray', 'pandas', 'numpy', 'scipy') if name in sys.modules])"
    )
    done = fresh_python.run("-c", code)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
