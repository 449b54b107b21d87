import numpy as np
import pytest
import xarray as xr

import pgt
from pgt import InputError, datasets
from pgt.datasets import audit as audit_data
from pgt.datasets.audit import _central_weights


def test_weights_are_the_textbook_ones():
    first = np.array([3, -32, 168, -672, 0, 672, -168, 32, -3]) / 840
    second = np.array([-9, 128, -1008, 8064, -14350, 8064, -1008, 128, -9]) / 5040
    np.testing.assert_allclose(_central_weights(1), first, atol=1e-14)
    np.testing.assert_allclose(_central_weights(2), second, atol=1e-14)


def test_derivatives_are_exact_for_polynomials():
    x, y = np.linspace(-1, 1, 12), np.linspace(0, 3, 10)
    u = x[:, None] ** 5 * y**4
    field = xr.Dataset({"u": (("x", "y"), u)}, {"x": x, "y": y})
    # u_xxx u_y = 240 x⁷ y⁷, u_xxyy = 240 x³ y²
    good = pgt.Equation("u_xxx*u_y = 240*x^7*y^7", "u_xxyy = 240*x^3*y^2")
    assert max(audit_data(field, good).values()) < 1e-15
    wrong = audit_data(field, pgt.Equation("u_xxyy = 240*x^3*y^2 + 0.5"))
    assert wrong["equation"] == pytest.approx(0.25)


@pytest.mark.parametrize(
    ("field", "pde", "bound"),
    [
        (lambda: datasets.heat(), pgt.Heat(0.01), 1e-20),
        (lambda: datasets.burgers(0.05), pgt.Burgers(0.05), 1e-14),
        (lambda: datasets.travelling_wave(0.7), pgt.Wave(0.7), 1e-20),
        (lambda: datasets.advected_gaussian(), pgt.AdvectionDiffusion(0.5, 0.005), 1e-12),
        (lambda: datasets.taylor_green(), pgt.NavierStokes2D(0.01), 1e-12),
    ],
    ids=["heat", "burgers", "travelling_wave", "advected_gaussian", "taylor_green"],
)
def test_exact_solutions_have_nothing_left(field, pde, bound):
    found = audit_data(field(), pde)
    assert max(found.values()) < bound


def test_the_wake_is_as_good_as_published_plus_its_packing():
    flow, pde = datasets.cylinder_wake(), pgt.NavierStokes2D(0.01)
    floor = audit_data(flow, pde)
    assert list(floor) == ["momentum_x", "momentum_y", "continuity"]
    # Rounded once more as the file was, to 15 bits: what that adds, the file has had added already.
    rng = np.random.default_rng(0)

    def rounded(field):
        last_bit = 2.0 ** (np.floor(np.log2(abs(field) + 1e-30)) - 15)
        return field + last_bit * rng.uniform(-0.5, 0.5, field.shape)

    again = audit_data(flow.astype(float).map(rounded), pde)
    before = {name: 2 * floor[name] - again[name] for name in floor}
    published = {"momentum_x": 1.3e-8, "momentum_y": 7.2e-9, "continuity": 7.2e-9}
    assert before == pytest.approx(published, rel=0.05)


def test_a_wrong_coefficient_shows():
    # u_t − 0.02 u_xx of a solution with 0.01 is −0.01 u_xx
    field = datasets.heat({1: 1.0}, diffusivity=0.01)
    inner = field.isel(x=slice(4, -4), t=slice(4, -4))
    expected = float(np.mean((0.01 * np.pi**2 * inner.u) ** 2))
    unknown = pgt.Heat(pgt.Unknown(0.02, positive=True))
    for pde in (pgt.Heat(0.02), unknown):
        assert audit_data(field, pde)["heat"] == pytest.approx(expected, rel=1e-6)


def test_what_cannot_be_audited_is_refused():
    heat, pde = datasets.heat(), pgt.Heat(0.01)
    with pytest.raises(InputError, match="not evenly spaced"):
        audit_data(datasets.heat(x=np.linspace(0, 1, 30) ** 2), pde)
    with pytest.raises(InputError, match="at least 9"):
        audit_data(datasets.heat(t=8), pde)
    with pytest.raises(InputError, match="'u'"):
        audit_data(heat.rename(u="temperature"), pde)
    with pytest.raises(InputError, match="coordinates"):
        audit_data(heat.isel(t=0), pde)
