"""Numbers come out of whatever holds them, as float64; what holds none is named."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import xarray as xr

from pgt.core.errors import InputError
from pgt.core.number_arrays import as_numbers


@pytest.mark.parametrize(
    "cells",
    [
        ["1.5", None, " "],
        [Decimal("1.5"), pd.NA, np.nan],
        np.ma.MaskedArray([1.5, 7.0, 8.0], mask=[False, True, True]),
    ],
)
def test_missing_cells_are_nan(cells):
    np.testing.assert_array_equal(as_numbers("u", cells), [1.5, np.nan, np.nan])


@pytest.mark.parametrize("data", [xr.Dataset(), "a", b"a", len, object(), {"a": 1}, 10**400])
def test_what_holds_no_numbers_is_named(data):
    with pytest.raises(InputError, match="`u`"):
        as_numbers("u", data)
