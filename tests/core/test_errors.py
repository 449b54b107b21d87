"""The one exception for mistakes of a user, and the one warning about an answer."""

import pickle

import pytest

import pgt
from pgt.core.errors import InputError, warn_of


def test_it_is_caught_as_a_value_error_and_shown_under_its_public_name():
    assert pgt.InputError is InputError
    assert f"{InputError.__module__}.{InputError.__qualname__}" == "pgt.InputError"
    with pytest.raises(ValueError, match=r"^too cold$"):
        raise InputError("too cold")


def test_it_survives_the_way_from_another_process():
    error = pickle.loads(pickle.dumps(InputError("too cold", about="source")))
    assert (type(error), str(error), error.about) == (InputError, "too cold", "source")


def test_a_doubt_is_told_to_whoever_called_the_library():
    with pytest.warns(pgt.DoubtWarning, match="too cold") as seen:
        warn_of("too cold")
    assert seen[0].filename == __file__
