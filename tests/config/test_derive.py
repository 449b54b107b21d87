"""Tables have the keys that the classes have as arguments."""

import inspect
from typing import get_args

import pytest
from run_files import sections_in

import pgt
from pgt.config.derive import chosen
from pgt.core.registry import parts

ZOO = sorted(n for n, e in parts("equation").items() if e.__module__.startswith("pgt."))


def table_of(kind, name):
    (section,) = (
        s
        for s in sections_in(chosen(kind))
        if (field := s.model_fields.get(s.chosen_by)) and get_args(field.annotation) == (name,)
    )
    return section


@pytest.mark.parametrize("name", ZOO)
def test_the_zoo_has_the_arguments_of_its_classes(name):
    section = table_of("equation", name)
    arguments = inspect.signature(section.builds).parameters
    assert getattr(pgt, section.builds.__name__) is section.builds
    assert set(section.model_fields) - {"name"} == set(arguments)
    for argument, parameter in arguments.items():
        required = parameter.default is parameter.empty
        assert section.model_fields[argument].is_required() == required


def test_models_have_the_options_of_their_classes():
    names = [name for name, part in parts("model").items() if part.__module__.startswith("pgt.")]
    assert len(names) == 9
    for name in names:
        section = table_of("model", name)
        arguments = set(inspect.signature(section.builds).parameters)
        assert set(section.model_fields) - {"name"} == arguments - {"scaling", "seed", "domain"}
