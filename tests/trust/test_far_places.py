"""What is doubted of places far from readings."""

import pytest

from pgt.ground.verdict import FieldError
from pgt.trust.far_places import undetermined_places


@pytest.mark.parametrize(
    ("value", "inside", "outside", "grave"),
    [
        (0.12, 0.01, 0.15, False),
        (0.08, 0.02, 0.13, False),
        (0.25, 0.01, 0.3, True),
        (0.25, None, None, True),
        (0.12, 0.09, 0.15, None),  # not much worse than near them
        (0.12, None, None, None),  # all of the domain is near readings
        (0.03, 0.01, 0.2, None),  # a corner
        (0.06, 0.01, 0.09, None),
    ],
)
def test_a_part_that_is_known_less_well_is_doubted(value, inside, outside, grave):
    error = FieldError(value, value / 2, 2 * value, inside, outside)
    found = [doubt.is_grave for doubt in undetermined_places({"u": error})]
    assert found == ([] if grave is None else [grave])


def test_both_parts_are_said():
    (doubt,) = undetermined_places({"u": FieldError(0.12, 0.06, 0.2, 0.01, 0.15)})
    said = doubt.sentence.replace("\N{NO-BREAK SPACE}", " ")
    assert "15 % of its spread is to be expected there, 1 % near them" in said
    assert doubt.numbers == {"field": "u", "expected": 0.12, "far": 0.15}
