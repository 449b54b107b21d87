"""Coefficients of which a fit says nothing, however well it follows the readings."""

import pytest

import pgt
from pgt.trust.intervals import estimated
from pgt.trust.lost import far_from, why_lost

RATE = pgt.Unknown(4.7e-8, positive=True)


def test_a_coefficient_whose_terms_are_gone_is_lost():
    assert "as if it were not there" in why_lost(RATE, share=1e-4)
    assert why_lost(RATE, share=0.01) == ""


@pytest.mark.parametrize(("deviation", "is_lost"), [(0.1, False), (0.6, False), (0.8, True)])
def test_an_interval_of_more_than_a_decade_says_nothing(deviation, is_lost):
    why = why_lost(RATE, share=1.0, estimate=estimated(RATE, deviation))
    assert ("anything between" in why) is is_lost


def test_one_that_left_its_first_guess_far_behind_is_lost_unless_it_is_determined():
    assert "times its first guess, 3" in why_lost(RATE, first=3.0)
    assert why_lost(RATE, first=1e-5) == ""
    assert why_lost(RATE, first=3.0, estimate=estimated(RATE, 0.01)) == ""
    assert "Check the units" in far_from(RATE, 3.0)


def test_what_may_be_zero_is_not_lost_where_it_is():
    either_sign = pgt.Unknown(1e-9)
    assert why_lost(either_sign, share=1e-9, first=1.0) == ""


def test_one_with_bounds_is_lost_by_its_terms_alone():
    bounded = pgt.Unknown(0.5, bounds=(0.0, 1.0))
    assert why_lost(bounded, estimate=estimated(bounded, 9.0), first=1e-9) == ""
    assert why_lost(bounded, share=1e-5)
