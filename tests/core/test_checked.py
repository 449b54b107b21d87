"""Arguments are read as their annotations say: what fits is taken, what does not is named."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import pgt
from pgt.core.arguments import Count, Limits, OneOf, PartOf, Positive
from pgt.core.checked import REFUSED, checked, read, shown
from pgt.core.errors import InputError


@pytest.mark.parametrize(
    ("hint", "value", "found"),
    [
        (int, 3, 3),
        (int, 3.0, 3),
        (int, np.int32(3), 3),
        (int | None, None, None),
        (float, 2, 2),
        (float, np.float32(0.5), 0.5),
        (float, np.array(0.5), 0.5),
        (Positive, 0.1, 0.1),
        (bool, np.bool_(True), True),
        (str, "u", "u"),
        (Annotated[int, OneOf(1, 2)], 2.0, 2),
        (Literal["a", "b"], "b", "b"),
        (Sequence[str], "u", ("u",)),
        (Sequence[str], ["u", "v"], ["u", "v"]),
        (tuple[float, float], (0, 1), (0, 1)),
        (Mapping[str, float], {"u": 1}, {"u": 1}),
        (Callable, len, len),
        (Any, object, object),
        (pgt.extend.AbstractSampler, "sobol", pgt.training.Sobol()),
        (pgt.Polish | Literal[False] | None, True, pgt.Polish()),
        (pgt.Polish | Literal[False] | None, False, False),
        (pgt.Training | None, {"steps": 3}, pgt.Training(steps=3)),
        (Annotated[str, PartOf("optimiser")], "adam", "adam"),
    ],
)
def test_what_fits_is_taken(hint, value, found):
    assert read(hint, value) == found
    assert type(read(hint, value)) is type(found)


@pytest.mark.parametrize(
    ("hint", "value"),
    [
        (int, 2.5),
        (int, True),
        (int, "3"),
        (int, 10**400),
        (int, 1e30),
        (Count, 0),
        (float, float("nan")),
        (float, 1 + 2j),
        (float, np.zeros(1)),
        (float, 10**400),
        (Positive, 1e31),
        (Annotated[float, Limits(at_least=0, below=1)], 1.0),
        (bool, 1),
        (str, b"u"),
        (str, "\0"),
        (str | None, 3),
        (Annotated[int, OneOf(1, 2)], 3),
        (Literal[1], True),
        (Sequence[str], [1]),
        (Sequence[float], 0.5),  # a number where a list is due may mean a count
        (tuple[float, float], (1, 2, 3)),
        (Mapping[str, float], [("u", 1)]),
        (Mapping[str, float], {1: 1}),
        (Callable, 3),
        (pgt.Domain, {"x": (0, 1)}),
        (pgt.extend.AbstractSampler, "sobl"),
        (pgt.extend.AbstractSampler, pgt.training.Sobol),
        (Annotated[str, PartOf("optimiser")], "sgdd"),
        (pd.DataFrame, {}),
    ],
)
def test_what_does_not_fit_is_refused(hint, value):
    assert read(hint, value) is REFUSED


def test_a_number_that_jax_traces_passes():
    seen = []
    jax.make_jaxpr(lambda value: seen.append(read(Positive, value) is value))(-1.0)
    assert seen == [True]
    array = jnp.asarray(0.5)
    assert read(Positive, array) is array
    assert read(Positive, jnp.asarray(-0.5)) is REFUSED


@checked
def sow(seeds: Count, /, *beds: str, deep: bool = False, **depths: Positive):
    return seeds, beds, deep, depths


def test_every_kind_of_argument_is_read():
    assert sow(2.0, "a", "b", deep=True, a=1.5) == (2, ("a", "b"), True, {"a": 1.5})
    for call, message in (
        (lambda: sow("a"), r"sow\(seeds='a'\): seeds must be a whole number from 1 up"),
        (lambda: sow(1, 2), r"sow\(beds=2\): beds must be text"),
        (lambda: sow(1, deep=0), r"deep must be True or False"),
        (lambda: sow(1, a=-1.0), r"sow\(a=-1.0\): a must be a number above 0"),
    ):
        with pytest.raises(InputError, match=message):
            call()


def test_a_missing_argument_is_left_to_python():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        sow()


def test_classes_of_every_kind_are_checked_once():
    @checked
    @checked
    class Bed(eqx.Module):
        width: Positive

    @checked
    @dataclasses.dataclass(frozen=True)
    class Row:
        length: Positive = 1.0

    assert (Bed(2).width, Row(3).length) == (2, 3)
    for make in (Bed, Row):
        with pytest.raises(InputError, match=rf"{make.__name__}\(\w+='a'\)"):
            make("a")


def test_a_part_that_needs_more_than_its_name_says_so():
    with pytest.raises(
        InputError, match=r"'heat' needs its diffusivity: write pgt.Heat\(diffusivity="
    ):
        read(pgt.extend.AbstractPDE, "heat")


def test_a_long_value_is_shown_by_its_type():
    class Mute:
        def __repr__(self):
            raise RuntimeError

    assert (shown(np.zeros((9, 9))), shown(Mute()), shown(2.5)) == ("<ndarray>", "<Mute>", "2.5")


def test_an_array_is_a_pair_where_it_has_two_numbers():
    pair = tuple[Positive, Positive]
    for given in (np.array([1.0, 2.0]), jnp.array([1, 2]), xr.DataArray([1.0, 2.0])):
        assert read(pair, given) == (1.0, 2.0)
    assert read(pair, np.array([2**62])) is REFUSED
    assert read(pair, np.array([])) is REFUSED
    assert read(pair, np.array([-1.0, 2.0])) is REFUSED
