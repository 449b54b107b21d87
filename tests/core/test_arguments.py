"""Marks in annotations: found wherever they stand, and the limits they set."""

from collections.abc import Sequence
from typing import Annotated, get_type_hints

import numpy as np
import pytest

from pgt.core.arguments import (
    LARGEST,
    Count,
    Limits,
    NotNegative,
    Number,
    OneOf,
    Positive,
    Powers,
    Share,
    Size,
    metadata_of,
)


def test_marks_are_found_at_any_depth_in_order():
    speed = Annotated[float | int, Limits(above=0), Powers(length=1, time=-1)]
    nested = Sequence[tuple[speed | None, Annotated[str, OneOf("a", "b")]]] | Share
    assert metadata_of(nested, Limits) == [Limits(above=0), Limits(at_least=0, below=1)]
    assert metadata_of(nested, Powers) == [Powers(1, -1)]
    assert metadata_of(nested, OneOf) == [OneOf("a", "b")]
    assert metadata_of(float | None, Limits) == []


def test_python_reads_the_plain_types():
    def part(width: Size, share: Share | None): ...

    assert get_type_hints(part) == {"width": int, "share": float | None}


@pytest.mark.parametrize("kind", [Number, Positive, NotNegative])
def test_every_number_fits_in_single_precision(kind):
    (limits,) = metadata_of(kind, Limits)
    assert limits.at_most == LARGEST
    assert np.isfinite(np.float32(LARGEST))


def test_counts_begin_at_one_and_choices_compare_by_what_they_offer():
    assert [metadata_of(kind, Limits)[0].at_least for kind in (Count, Size)] == [1, 1]
    assert OneOf("x", "y").choices == ("x", "y")
    assert OneOf("x", "y") != OneOf("y", "x")
    assert hash(OneOf(1, 2)) == hash(OneOf(1, 2))
