"""An equation that says something everywhere in its domain, and one that does not."""

import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.core.errors import InputError
from pgt.methods.plan import choose
from pgt.physics.defined import check_defined, undefined

BOX = pgt.Domain(x=(-1, 1), t=(0, 2))
READINGS = pgt.Observations.from_arrays({"x": [-0.5, 0.5], "t": [0.5, 1.5]}, {"u": [1.0, 2.0]})


def over_time(*times):
    return xr.DataArray(np.ones(len(times)), {"t": list(times)}, dims="t")


@pytest.mark.parametrize(
    "pde",
    [
        pgt.Heat(0.1, source=over_time(0, 0.5)),
        pgt.Heat(0.1, source=over_time(0.5, 2)),
        pgt.NavierStokes2D(0.1, source=(over_time(0, 1), None)),
    ],
)
def test_a_table_that_ends_before_the_domain_does_is_refused(pde):
    box = pgt.Domain(**dict.fromkeys(pde.coords, (0, 2)))
    with pytest.raises(InputError, match=r"table covers t from .* domain goes from 0 to 2"):
        check_defined(pde, box)


@pytest.mark.parametrize("text", ["sqrt(x)", "log(t - 1)", "x^0.5"])
def test_what_is_no_number_in_a_part_of_the_domain_is_refused(text):
    for pde in (pgt.Heat(0.1, source=text), pgt.Equation(f"u_t = 0.1*u_xx + u*{text}")):
        with pytest.raises(InputError, match=r"at x = .*, t = .* no finite number, whatever"):
            check_defined(pde, BOX)


@pytest.mark.parametrize(
    "pde",
    [
        pgt.Heat(0.1),
        pgt.Heat(0.1, source="sqrt(x + 1)/t"),
        pgt.Heat(0.1, source=over_time(0, 1, 2)),
        pgt.Equation("u_t = x*log(u)"),  # of half of all fields
        pgt.Equation("u_t = x*sqrt(u - 100)"),  # of fields that nobody drew
        pgt.Equation("u_t = 0.1*u_xx + t*q", q=pgt.UnknownFunction("x")),
    ],
)
def test_what_depends_on_the_field_is_for_the_fit_to_say(pde):
    check_defined(pde, BOX)
    assert not undefined(pde, BOX.even(8)).any()


def test_it_is_asked_before_anything_is_fitted():
    pde = pgt.Heat(0.1, source=over_time(0, 0.5))
    with pytest.raises(InputError, match="Heat: the table covers t"):
        _ = choose(READINGS, pde, BOX).first
    without = pgt.Training(collocation=0, steps=1)
    _ = choose(READINGS, pde, BOX, training=without).first  # readings alone ask for no equation
