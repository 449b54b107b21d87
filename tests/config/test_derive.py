"""Tables have the keys that the classes have as arguments."""

import dataclasses
import inspect
from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError
from run_files import sections_in

import pgt
from pgt.config import derive as checks
from pgt.config.derive import chosen, section_of
from pgt.core.arguments import LARGEST, Limits
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


def test_training_has_the_settings_of_its_class():
    section = section_of(pgt.Training)
    assert set(section.model_fields) == {f.name for f in dataclasses.fields(pgt.Training)}
    for kind in ("sampler", "weighting", "optimiser"):
        for name, part in parts(kind).items():
            arguments = inspect.signature(part).parameters
            assert set(table_of(kind, name).model_fields) - {"name"} == set(arguments)


def test_a_free_wall_needs_no_field_and_others_do():
    free = section_of(pgt.Traction, "condition", "traction").model_validate({"kind": "traction"})
    assert not free.model_extra
    with pytest.raises(ValidationError, match="field and its value are missing"):
        section_of(pgt.Neumann, "condition", "neumann").model_validate({"kind": "neumann"})


def takes(check, value) -> bool:
    try:
        TypeAdapter(check).validate_python(value)
    except ValidationError:
        return False
    return True


def test_numbers_keep_their_limits():
    share = checks.number(float, Limits(at_least=0, below=1)).check
    assert [takes(share, value) for value in (-0.1, 0, 0.9, 1)] == [False, True, True, False]
    above = checks.number(float, Limits(above=0)).check
    assert [takes(above, value) for value in (0, LARGEST, 2 * LARGEST)] == [False, True, False]


def test_numbers_without_limits_can_be_computed_with():
    free = checks.number(float, Limits()).check
    assert takes(free, -LARGEST)
    assert not any(takes(free, value) for value in (float("nan"), float("inf"), -2 * LARGEST))
    whole = checks.number(int, Limits()).check
    assert takes(whole, 10**9)
    assert not takes(whole, 10**9 + 1)


def test_arrays_have_their_length():
    pair, some = checks.array(float, 2).check, checks.array(float, None).check
    assert [takes(pair, [1.0] * n) for n in range(4)] == [False, False, True, False]
    assert [takes(some, [1.0] * n) for n in range(4)] == [False, True, True, True]


def test_one_of_several_ways_gives_one_complaint():
    ways = [checks.Way("text", str, "text"), checks.number(float, Limits(above=0))]
    either = TypeAdapter(checks.one_of(ways))
    assert (either.validate_python("a"), either.validate_python(2.0)) == ("a", 2.0)
    for value in (-1.0, [1]):  # what is neither is told to be a number
        with pytest.raises(ValidationError) as caught:
            either.validate_python(value)
        assert [error["loc"] for error in caught.value.errors()] == [("<number|text>",)]


def test_any_number_is_welcome_where_whole_ones_are_too():
    whole, any_number = checks.number(int, Limits()), checks.number(float, Limits())
    for ways in ([whole, any_number], [any_number, whole]):
        assert takes(checks.one_of(ways), 0.5)
    assert not takes(checks.one_of([whole]), 0.5)
    assert checks.one_of([]) is None


def test_choices_are_the_words_and_nothing_else():
    way = checks.choice(("block", "reading"))
    assert (way.toml, way.called) == ("text", "text")
    assert [takes(way.check, value) for value in ("block", "blok", True)] == [True, False, False]
    assert checks.choice((False,)).called == "false"


def test_what_cannot_be_written_says_why():
    with pytest.raises(ValidationError, match="no file can give this"):
        TypeAdapter(checks.refused("no file can give this")).validate_python(1)
