"""The tables that describe parts: equations as text, and no class forgotten."""

import inspect

import pytest
from exact_solutions import ALL_PDES
from model_cases import ALL_MODELS
from public_names import public_names
from run_files import loader, refused, sections_in

import pgt
from pgt.config.descriptions import described
from pgt.config.template import template
from pgt.core.registry import KINDS, snapshot


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    return loader(tmp_path_factory.mktemp("run"))


EQUATION = template("u_t + u*u_x = nu*u_xx")


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("nu = 0.01", "mu = 0.01", "pde.mu", "the equations do not use 'mu'; write one of"),
        ("nu = 0.01", "", "pde", "nu={unknown = true, initial = 0.01}"),
        ("nu = 0.01", 'nu = "a"', "pde.nu", "write a number"),
        ("nu = 0.01", 'nu = 0.01\nname = "heat"', "pde.name", "either name or equations"),
        ("nu*u_xx", "nu*u_xx = 3", "pde.equations.0", "Found '='"),
        ("nu*u_xx", "nu*u_yy", "pde", "coordinates"),
        ("nu*u_xx", "nu*exec(u_xx)", "pde.equations.0", "Unknown function"),
        ('["u_t + u*u_x = nu*u_xx"]', '"u_t = nu*u_xx"', "pde.equations", "an array"),
        ('["u_t + u*u_x = nu*u_xx"]', "[]", "pde.equations", "at least 1"),
        ("nu*u_xx\"]\nnu", "kernel*u_xx\"]\nkernel", "pde.kernel", "cannot be called"),
        ("nu = 0.01", 'nu = 0.01\nfields = ["u", "nu"]', "pde.nu", "already a field"),
        ("nu = 0.01", 'nu = 0.01\nnames = ["a", "b"]', "pde.names", "1 different name"),
    ],
)  # fmt: skip
def test_broken_equations(load, old, new, where, what):
    assert old in EQUATION
    message = refused(load, EQUATION.replace(old, new))
    assert f", {where}: " in message
    assert what in message


def test_no_class_of_the_library_is_forgotten():
    built = {s.builds.__name__ for s in sections_in(described()) if hasattr(s, "builds")}
    classes = {type(case.pde).__name__ for case in ALL_PDES} - {"Equation"}
    assert classes <= built
    assert {case.name.split("_")[0].upper() for case in ALL_MODELS} <= {b.upper() for b in built}
    public = [thing for name, thing in public_names().items() if not name.startswith("families.")]
    registered = {part for _, _, part in snapshot()}
    for thing in public:
        if isinstance(thing, type) and getattr(thing, "part", None) in KINDS:
            # `equations` chooses it; need a network or a model; comes from a file
            unnamed = (pgt.Equation, pgt.extend.Frame, pgt.Lifted, pgt.shapes.Surface)
            assert inspect.isabstract(thing) or thing in unnamed or thing in registered, thing
