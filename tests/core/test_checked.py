"""Arguments are read as their annotations say: what fits is taken, what does not is named."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import equinox as eqx
import numpy as np
import pandas as pd
import pytest
import xarray as xr

import pgt
from pgt.core.arguments import Count, Limits, OneOf, PartOf, Positive, Share
from pgt.core.checked import REFUSED, checked, read, wanted
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


@pytest.mark.parametrize(
    ("hint", "value", "words"),
    [
        (Count | None, 0, "a whole number from 1 up, or None"),
        (Count, 10**10, "a whole number up to 1e+09"),
        (Positive, 1e31, "a number above 0 up to 1e+30"),
        (Positive, float("nan"), "a finite number above 0"),
        (Share, 1, "a number in [0, 1)"),
        (bool, 3, "True or False"),
        (Literal["a", "b"] | None, 3, "'a', 'b' or None"),
        (Annotated[int, OneOf(1, 2, 3)], 4, "1, 2 or 3"),
        (Sequence[str], 3, "a list of texts"),
        (float | Sequence[Positive], "a", "a number, or a list of numbers above 0"),
        (Mapping[str, Any], 3, "a dict"),
        (Mapping[str, float], 3, "a dict of numbers"),
        (Mapping[str, Mapping[str, float]], 3, "a dict of dicts of numbers"),
        (Callable, 3, "a function"),
        (float | pgt.Unknown, "a", "a number, or a pgt.Unknown(...) to learn it"),
        (xr.Dataset, 3, "an xarray.Dataset"),
        (
            pgt.extend.AbstractSampler,
            3,
            "a sampler ('uniform', 'sobol', 'graded', 'residual_adaptive')",
        ),
        (
            Sequence[pgt.extend.AbstractCondition],
            3,
            "a list of conditions such as pgt.Initial(...)",
        ),
        (pgt.Training | None, 3, "a pgt.Training or a dict of its arguments, or None"),
        (pgt.Ensemble | pgt.Posterior | None, 3, "error bars ('ensemble', 'posterior'), or None"),
    ],
)
def test_a_hint_in_words(hint, value, words):
    assert wanted(hint, value) == words
