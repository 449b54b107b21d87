"""What is said of a fit, as data."""

from typing import get_args

from pgt.core.doubt import Doubt, HeldOutError, Kind, Verdict


def test_doubts_keep_their_order():
    doubts = (Doubt("large_error", "It is off."), Doubt("far_readings", "One is far away."))
    verdict = Verdict(False, "Still falling.", {"u": HeldOutError(9, 0.1, 0.02)}, doubts)
    assert verdict.kinds == ("large_error", "far_readings")
    assert [str(doubt) for doubt in verdict.doubts] == ["It is off.", "One is far away."]
    assert set(verdict.kinds) <= set(get_args(Kind))


def test_each_doubt_has_numbers_of_its_own():
    first, second = Doubt("not_finite", "NaN."), Doubt("not_finite", "NaN.")
    assert first == second
    assert first.numbers == {}
    assert first.numbers is not second.numbers
