"""Settings of error bars: values that are refused."""

import pytest

import pgt
from pgt.core.registry import parts


def test_wrong_numbers_of_members_are_refused():
    for wrong in (-1, 1, True):
        with pytest.raises(pgt.InputError, match="whole number from 2 up"):
            pgt.Ensemble(members=wrong)
    for wrong in (0, 7):
        with pytest.raises(pgt.InputError):
            pgt.Posterior(samples=wrong)


def test_an_odd_number_of_samples_is_refused():
    with pytest.raises(pgt.InputError, match="samples come in pairs; write an even number"):
        pgt.Posterior(samples=9)


def test_a_run_file_finds_both_by_name():
    assert parts("error bars") == {"ensemble": pgt.Ensemble, "posterior": pgt.Posterior}
