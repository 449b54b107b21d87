"""What an annotation asks for, in words."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal

import optax
import pytest
import xarray as xr

import pgt
from pgt.core.annotation_text import is_record, required, wanted
from pgt.core.arguments import Count, Limits, OneOf, PartOf, Positive, Share


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


def test_names_of_parts_stand_beside_what_may_be_written_for_them():
    hint = Annotated[str, PartOf("optimiser")] | optax.GradientTransformation
    assert wanted(hint) == "'soap', 'adam', 'adamw', 'lion', or an Optax transformation"


def test_a_record_is_made_of_settings_with_defaults():
    assert [is_record(c) for c in (pgt.Training, pgt.Polish)] == [True, True]
    others = (pgt.Domain, pgt.Observations, pgt.Heat, pgt.Posterior, int)
    assert not any(map(is_record, others))
    assert required(pgt.Heat) == ["diffusivity"]
    assert wanted(Annotated[float, Limits(above=0, below=1)]) == "a number above 0"
    assert wanted(Annotated[float, Limits(above=0, below=1)], 1.0) == "a number above 0 and below 1"
