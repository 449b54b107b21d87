"""From a checked table to the object that it describes."""

import numpy as np
import pytest
from run_files import HEAT, loader

import pgt
from pgt import InputError
from pgt.config.build import Builder, arguments_of
from pgt.config.condition_text import Curve
from pgt.config.derive import section_of


def mixture(*shares: float, scale: float, **others: float):
    return shares, scale, others


@pytest.fixture(scope="module")
def builder(tmp_path_factory):
    return Builder(loader(tmp_path_factory.mktemp("run"))(HEAT), dict, lambda: ({}, {}))


def test_arguments_have_the_names_and_the_order_of_the_signature():
    assert list(arguments_of(mixture)) == ["shares", "scale", "others"]


def test_arrays_and_tables_become_arguments_of_any_number(builder):
    table = {"shares": [1.0, 2.0], "scale": 3.0, "others": {"a": 4.0}}
    section = section_of(mixture).model_validate(table)
    assert builder.part(section, "model") == ((1.0, 2.0), 3.0, {"a": 4.0})


def test_what_is_known_gives_way_to_what_the_file_says(builder):
    known = {"iterations": 7, "no argument of it": 1}
    section = section_of(pgt.Polish)
    assert builder.part(section.model_validate({}), known=known).iterations == 7
    assert builder.part(section.model_validate({"iterations": 5}), known=known).iterations == 5


def test_what_nobody_gives_is_missed_where_it_belongs(builder):
    section = section_of(mixture).model_construct()
    with pytest.raises(InputError, match=r"line 30, model.scale: this is missing; .* scale = 1"):
        builder.part(section, "model")


def test_a_table_of_values_becomes_two_arrays(builder):
    curve = Curve.model_validate({"at": [0, 1], "values": [2, 3]})
    at, values = builder._value((curve,))[0]
    np.testing.assert_array_equal([at, values], [[0, 1], [2, 3]])
