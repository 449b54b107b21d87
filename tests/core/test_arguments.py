"""Marks in annotations: found wherever they stand, and the limits they set."""

from typing import get_type_hints

import numpy as np
import pytest

import pgt
from pgt.core.arguments import (
    MAX_NUMBER,
    Limits,
    NotNegative,
    Number,
    Positive,
    metadata_of,
)
from pgt.core.registry import parts


@pytest.mark.parametrize("kind", [Number, Positive, NotNegative])
def test_every_number_fits_in_single_precision(kind):
    (limits,) = metadata_of(kind, Limits)
    assert limits.at_most == MAX_NUMBER
    assert np.isfinite(np.float32(MAX_NUMBER))


def test_every_model_refuses_a_number_beyond_its_limits():
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    scaling = pgt.Scaling.fit(pgt.sample(pgt.datasets.heat(), n=9), domain)
    given = {"scaling": scaling, "kernel": pgt.kernels.NoKernel()}
    refused = []
    for model in parts("model").values():
        hints = get_type_hints(model.__init__, include_extras=True)
        known = {name: value for name, value in given.items() if name in hints}
        for name, hint in hints.items():
            for bound in metadata_of(hint, Limits)[:1]:
                smallest = bound.above if bound.above is not None else bound.at_least
                with pytest.raises(pgt.InputError, match=rf"{name}="):
                    model(**known, **{name: smallest - 1})
                refused.append((model, name))
    assert len(refused) > 30


def test_the_settings_of_a_fit_refuse_numbers_beyond_their_limits():
    for make in (pgt.Training, pgt.Polish, pgt.Ensemble, pgt.Posterior):
        for name, hint in get_type_hints(make, include_extras=True).items():
            for bound in metadata_of(hint, Limits)[:1]:
                smallest = bound.above if bound.above is not None else bound.at_least
                with pytest.raises(pgt.InputError, match=rf"{name}="):
                    make(**{name: smallest - 1})
