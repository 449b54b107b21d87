"""What a user may say of a file."""

import pytest

from pgt.core.dialect import Dialect
from pgt.core.errors import InputError


def test_what_is_not_said_is_left_to_the_file():
    assert set(vars(Dialect()).values()) == {None}
    assert Dialect(missing=[-99, 0]).missing == (-99.0, 0.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"separator": "~"}, r"Dialect\(separator\) is '~'; write one of .*\"tab\""),
        ({"decimal": ";"}, r"Dialect\(decimal\)"),
        ({"dates": "day"}, r"Dialect\(dates\) is 'day'; write one of \"day first\""),
        ({"missing": "OVER"}, r"Dialect\(missing\) is 'OVER'; write a list of numbers"),
        ({"missing": -99}, r"Dialect\(missing\) is -99"),
    ],
)
def test_what_nobody_understands_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        Dialect(**options)
