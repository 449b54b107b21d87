"""What the equations say of themselves is true of them."""

import inspect

import pytest

from pgt.core.registry import parts
from pgt.physics.signature import About

OWN = {name: cls for name, cls in parts("equation").items() if cls.__module__.startswith("pgt.")}
every_equation = pytest.mark.parametrize("cls", OWN.values(), ids=OWN)


@every_equation
def test_the_values_to_begin_with_make_the_equation_they_speak_of(cls):
    pde = cls(**cls.about.coefficients)
    assert pde.coords == tuple(cls.about.box)
    assert set(cls.about.measured) <= set(pde.fields)
    assert set(cls.about.units) <= set(pde.fields)


@every_equation
def test_the_text_names_arguments_as_python_does(cls):
    arguments = inspect.signature(cls).parameters
    assert set(cls.about.coefficients) <= set(arguments)
    assert all(name in cls.about.equation for name in cls.about.coefficients)
    assert all(low < high for low, high in cls.about.box.values())


def test_one_that_says_little_measures_u_and_knows_nothing_besides():
    short = About("u_t = 0")
    assert (short.measured, short.conditions, dict(short.units)) == (("u",), (), {})
