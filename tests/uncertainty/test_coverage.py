"""Bands and how often they hold: scores, the table, members at readings, on data whose truth is known."""

import equinox as eqx
import numpy as np
import pytest
import xarray as xr
from scipy import integrate, stats
from scipy.special import ndtri
from wavy_result import measured, result_with

import pgt
from pgt.core.errors import InputError
from pgt.data.observations import Observations
from pgt.uncertainty.calibration import (
    Calibration,
    MemberCount,
    Predicted,
    small_sample_factor,
)
from pgt.uncertainty.coverage import bands, coverage_table, crps
from pgt.uncertainty.members import member_statistics


def predicted(misfit, spread, noise=None):
    return Predicted(np.asarray(misfit), np.zeros(len(misfit)), np.asarray(spread), noise)


# ------------------------------------------------------------------------------- scores


@pytest.mark.parametrize(
    ("reading", "mean", "scale"), [(0.3, 0.0, 1.0), (-4.0, 1.0, 0.5), (2, 2, 3)]
)
def test_crps_is_the_integral_it_stands_for(reading, mean, scale):
    def below(x):
        return stats.norm.cdf(x, mean, scale) ** 2

    def above(x):
        return stats.norm.sf(x, mean, scale) ** 2

    wanted = integrate.quad(below, -np.inf, reading)[0] + integrate.quad(above, reading, np.inf)[0]
    assert crps(reading, mean, scale) == pytest.approx(wanted, rel=1e-6)


# ------------------------------------------------------------------------------- the table


def test_the_table_of_a_spread_that_is_too_small():
    random = np.random.default_rng(0)
    misfit = random.normal(size=1000)
    table = coverage_table({"u": predicted(misfit, np.full(1000, 0.5), 0.0)})
    levels = table.level.to_numpy()
    assert table.coverage.dims == ("level", "field")
    assert table.coverage.sel(field="u").to_numpy() == pytest.approx(levels, abs=0.03)
    gaussian = stats.norm.ppf((1 + levels) / 2)
    assert table.factor.sel(field="u").to_numpy() == pytest.approx(2 * gaussian, rel=0.1)
    expected = 2 * stats.norm.cdf(0.5 * gaussian) - 1
    assert table.uncalibrated.sel(field="u").to_numpy() == pytest.approx(expected, abs=0.04)
    assert table.width.sel(field="u").to_numpy() == pytest.approx(2 * gaussian, rel=0.1)
    assert table.field_width.to_numpy() == pytest.approx(table.width.to_numpy())  # no noise
    assert table.readings.sel(field="u").item() == 1000
    assert "note" not in table.attrs


def test_mistakes_are_named():
    one = {"u": predicted([1.0], [1.0])}
    for call, message in (
        (lambda: coverage_table({}), "no field has held-out readings"),
        (lambda: coverage_table(one), "hold out more"),
        (lambda: coverage_table(one, [90]), "between 0 and 1"),
    ):
        with pytest.raises(InputError, match=message):
            call()


# ------------------------------------------------------------------------------- from members


def quadratic(slopes):
    """Members u = a x², v = a x, and p = a that nobody measured: (k, m, 3) at points (m, 1)."""
    a = np.asarray(slopes)[:, None, None]
    return lambda x: np.concatenate([a * x**2, a * x, a + 0 * x], axis=-1)


def readings(x, u, v, **more):
    return Observations.from_arrays({"x": x}, {"u": u, "v": v}, **more).aligned(("u", "v", "p"))


def test_bands_of_fields_and_of_readings():
    points = np.linspace(0, 1, 5)[:, None]
    said = np.moveaxis(quadratic([0.5, 1.5])(points), -1, 0)
    columns = member_statistics(dict(zip("uvp", said, strict=True)))
    values = xr.Dataset({n: ("point", c) for n, c in columns.items()})
    values.u.attrs["units"] = "m"
    found = {"u": Calibration(np.linspace(0.1, 5, 99), 0.3), "v": Calibration(np.ones(3), 0.1)}
    table = bands(values, found, 0.9, "field")
    half = found["u"].factor(0.9) * values.u_std
    assert (table.u_upper - table.u).to_numpy() == pytest.approx(half.to_numpy())
    assert (table.u - table.u_lower).to_numpy() == pytest.approx(half.to_numpy())
    assert table.u_lower.attrs["units"] == "m"
    assert (table.p_upper - table.p).to_numpy() == pytest.approx(
        (found["u"].factor(0.9) * values.p_std).to_numpy()
    )
    assert "p was never measured" in table.attrs["note"]
    assert "3 readings" in table.attrs["note"]
    wider = bands(values, found, 0.9, "field", correlated_misfit={"u": 0.2, "v": 0.0})
    assert (wider.u_upper - wider.u).to_numpy() == pytest.approx(
        np.hypot(half, ndtri(0.95) * 0.2).to_numpy()
    )
    assert (wider.v_upper == table.v_upper).all()
    noisy = bands(values, found, 0.9, "reading", correlated_misfit={"u": 0.2})
    assert "p" not in noisy
    half = found["u"].factor(0.9) * np.hypot(values.u_std, 0.3)
    assert (noisy.u_upper - noisy.u).to_numpy() == pytest.approx(half.to_numpy())
    with pytest.raises(InputError, match="'field' or 'reading'"):
        bands(values, found, 0.9, "readings")


# ------------------------------------------------------------------------------- of a result


def test_bands_of_a_result_hold_new_readings():
    result, new = result_with(), measured(2000, 7)
    band = result.band(np.asarray(new.points), 0.9, "reading")
    for column, name in enumerate(("u", "v")):
        values = np.asarray(new.values)[:, column]
        inside = (band[f"{name}_lower"] <= values) & (values <= band[f"{name}_upper"])
        assert inside.mean() == pytest.approx(0.9, abs=0.05)
    grid = result.band(level=0.5, x=4, t=3)
    assert grid.u_lower.shape == grid.p_upper.shape == (3, 4)
    values = result.grid(x=4, t=3)
    factor = result.coverage([0.5]).factor.sel(field="u").item()
    ratio = ((grid.u_upper - grid.u) / values.u_std).to_numpy()[:, 1:]
    assert ratio == pytest.approx(ratio[0, 0])
    assert 1 < ratio[0, 0] / factor < small_sample_factor(MemberCount(6), 0.5)
    assert "p was never measured" in grid.attrs["note"]


def test_the_variance_a_model_predicts_shapes_the_bands_of_readings():
    result = result_with(variance=True)
    band = result.band(level=0.9, of="reading", x=3, t=[0.0, 0.9])
    half = (band.u_upper - band.u).to_numpy()
    spread = result.grid(x=3, t=[0.0, 0.9]).u_std.to_numpy()
    wanted = np.hypot(spread, result.model.scaling.spread[0] * np.array([0.1, 1.0])[:, None])
    assert half / half[0, 0] == pytest.approx(wanted / wanted[0, 0], rel=1e-4)


def test_without_members_it_is_said_how_to_get_them():
    result = eqx.tree_at(lambda r: r.members, result_with(), None)
    for call in (result.coverage, lambda: result.band(x=3, t=3), lambda: result.suggest_sensors(2)):
        with pytest.raises(pgt.InputError, match="error_bars="):
            call()
