import numpy as np
import pytest
import xarray as xr

from pgt import metrics
from pgt.core.errors import InputError


def field(**scale):
    rng = np.random.default_rng(0)
    axes = {"x": np.linspace(0, 1, 5), "y": np.linspace(2, 3, 4), "t": [0.0, 1.0]}
    values = {name: rng.normal(size=(2, 4, 5)) * s for name, s in scale.items()}
    return xr.Dataset({n: (("t", "y", "x"), v, {"units": "1"}) for n, v in values.items()}, axes)


TRUTH = field(u=1.0, v=10.0)
OTHER = field(v=9.0, u=3.0)


def test_relative_l2_is_the_ratio_of_norms():
    result = metrics.relative_l2(TRUTH, OTHER)
    for name in ("u", "v"):
        a, b = TRUTH[name].values.ravel(), OTHER[name].values.ravel()
        assert result[name] == pytest.approx(np.linalg.norm(b - a) / np.linalg.norm(a), rel=1e-14)


def test_overall_by_both_definitions():
    result = metrics.overall(TRUTH, OTHER)
    a, b = (np.concatenate([d.u.values.ravel(), d.v.values.ravel()]) for d in (TRUTH, OTHER))
    assert result["stacked"] == pytest.approx(np.linalg.norm(b - a) / np.linalg.norm(a))
    assert result["mean"] == pytest.approx(np.mean([*metrics.relative_l2(TRUTH, OTHER).values()]))


def test_aligned_by_coordinates_not_by_position():
    turned = TRUTH.transpose("x", "t", "y").isel(x=slice(None, None, -1))
    rounded = turned.assign_coords(x=turned.x.astype(np.float32), y=turned.y + 1e-9)
    assert metrics.relative_l2(TRUTH, rounded) == {"u": 0.0, "v": 0.0}


def test_compare_collects_everything():
    result = metrics.compare(TRUTH, TRUTH + 0.5)
    assert result["rmse"] == pytest.approx({"u": 0.5, "v": 0.5})
    assert result["max_error"] == pytest.approx({"u": 0.5, "v": 0.5})
    assert result["overall"] == metrics.overall(TRUTH, TRUTH + 0.5)
    assert result["relative_l2"] == metrics.relative_l2(TRUTH, TRUTH + 0.5)


def test_pressure_gauge():
    shifted = TRUTH + xr.DataArray([3.0, -7.0], dims="t")
    gauge_free = metrics.relative_l2(metrics.remove_mean(TRUTH), metrics.remove_mean(shifted))
    assert max(gauge_free.values()) < 1e-14
    np.testing.assert_allclose(metrics.remove_mean(TRUTH.u, over="t").mean("t"), 0, atol=1e-15)
    assert metrics.remove_mean(TRUTH).u.attrs == {"units": "1"}
    with pytest.raises(InputError, match="no dimension 'z'"):
        metrics.remove_mean(TRUTH, over=("z",))


def test_holes_in_the_truth_do_not_count_but_a_lost_estimate_does():
    holed = TRUTH.where(TRUTH.x > 0.1)
    assert metrics.relative_l2(holed, TRUTH) == {"u": 0.0, "v": 0.0}
    assert np.isnan(metrics.relative_l2(TRUTH, holed)["u"])


@pytest.mark.parametrize(
    ("estimate", "message"),
    [
        (TRUTH[["u"]], "no field 'v'"),
        (TRUTH.isel(t=0), "dimensions"),
        (TRUTH.isel(x=slice(1, None)), "different positions along 'x'"),
        (TRUTH.assign_coords(x=TRUTH.x + 0.1), "different positions along 'x'"),
        (TRUTH.drop_vars("x"), "only one side"),
    ],
)
def test_mismatches_are_refused(estimate, message):
    with pytest.raises(InputError, match=message):
        metrics.compare(TRUTH, estimate)


def test_zero_truth_is_refused():
    with pytest.raises(InputError, match="'u' is zero everywhere"):
        metrics.relative_l2(TRUTH * 0, TRUTH)
