"""The accessor: gaps in, field out, in the coordinates that the dataset had."""

import numpy as np
import pytest
import xarray as xr

import pgt
import pgt.xarray  # registers the accessor

HEAT = "u_t = 0.01*u_xx"
SINES = {
    "name": "features",
    "count": 120,
    "band": 3.0,
}  # quick, and enough for fields that are smooth
TRUTH = pgt.datasets.heat({1: 1.0}, x=11, t=6)
GAPS = TRUTH.where(np.random.default_rng(0).uniform(size=TRUTH.u.shape) < 0.5)


@pytest.fixture(scope="module")
def fitted():
    return GAPS.pgt.reconstruct(HEAT, method="closed-form")


def test_the_fields_are_given_where_the_dataset_has_its_coordinates(fitted):
    whole = GAPS.pgt.like(fitted)
    assert whole.u.dims == GAPS.u.dims
    xr.testing.assert_allclose(whole.u, TRUTH.u, atol=1e-8)
    profile = GAPS.isel(t=2).pgt.like(fitted)
    xr.testing.assert_allclose(profile.u, TRUTH.u.isel(t=2), atol=1e-8)
    scattered = GAPS.stack(point=("t", "x")).reset_index("point").pgt.like(fitted)
    np.testing.assert_allclose(scattered.u, TRUTH.u.to_numpy().ravel(), atol=1e-8)


def test_gaps_are_filled_and_readings_kept(fitted, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        pgt.xarray, "reconstruct",
        lambda *given, **options: asked.update(given=given, options=options) or fitted,
    )  # fmt: skip
    noisy = (GAPS + 0.1).assign(other=GAPS.x * 2)  # what is no field stays as it is
    full = noisy.pgt.fill(HEAT, method="closed-form", noise=0.3)
    readings, pde, domain, conditions = asked["given"]
    assert (readings.fields, pde.fields, domain.bounds("x")) == (("u",), ("u",), (0, 1))
    assert np.asarray(readings.noise).max() == 0.3
    assert (conditions, asked["options"]) == ((), {"method": "closed-form"})
    measured = GAPS.u.notnull().to_numpy()
    np.testing.assert_array_equal(full.u.to_numpy()[measured], noisy.u.to_numpy()[measured])
    np.testing.assert_allclose(
        full.u.to_numpy()[~measured], TRUTH.u.to_numpy()[~measured], atol=1e-8
    )
    xr.testing.assert_identical(full.other, noisy.other)
    assert full.attrs == noisy.attrs
    of_array = noisy.u.transpose("x", "t").pgt.fill(HEAT)
    assert of_array.u.dims == ("x", "t")
    np.testing.assert_array_equal(of_array.u.transpose("t", "x"), full.u)


def test_stations_with_dates_are_filled_where_they_stand():
    hours = np.datetime64("2024-05-01", "ns") + np.arange(6) * np.timedelta64(3600, "s")
    places = np.array([0.1, 0.5, 0.8])
    decay = np.exp(-1e-5 * np.pi**2 * 3600 * np.arange(6))
    truth = np.sin(np.pi * places)[:, None] * decay
    stations = xr.Dataset(
        {"u": (("station", "t"), truth)},
        {"x": ("station", places), "t": hours, "station": ["a", "b", "c"]},
    )
    gaps = stations.where((stations.station != "b") | (stations.t < hours[3]))
    full = gaps.pgt.fill("u_t = 1e-5*u_xx", model=SINES)
    assert full.u.dims == ("station", "t")
    xr.testing.assert_identical(full.coords.to_dataset(), stations.coords.to_dataset())
    assert not full.u.isnull().any()


def test_hidden_fields_are_added():
    x, y = np.meshgrid(np.linspace(0, 1, 6), np.linspace(0, 1, 5))
    flow = xr.Dataset({"v": (("y", "x"), -y)}, {"x": x[0], "y": y[:, 0]})
    full = flow.pgt.fill(("u_x + v_y = 0", "u_y - v_x = 0"), model=SINES)
    assert set(full.data_vars) == {"u", "v"}
    np.testing.assert_allclose(full.u.differentiate("x"), 1.0, atol=1e-4)


def test_what_does_not_fit_is_told_what_to_write():
    with pytest.raises(pgt.InputError, match=r"rename\("):
        TRUTH.rename(u="T").pgt.reconstruct(HEAT)
    with pytest.raises(pgt.InputError, match="rename"):
        TRUTH.u.rename(None).pgt.reconstruct(HEAT)
