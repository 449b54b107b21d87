import contextlib

import jax
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from pgt import datasets
from pgt.core.errors import InputError
from pgt.data import Domain, Observations, sample
from pgt.data.observations import (
    cell_quadrature,
    check_limits,
)

NAN = float("nan")


def two_axes(**options):
    points = {"t": [0.0, 1.0, 2.0], "x": [5.0, 6.0, 7.0]}
    return Observations.from_arrays(points, {"u": [1.0, NAN, 3.0], "v": [4.0, 5.0, NAN]}, **options)


# --- construction -------------------------------------------------------------


def test_columns_are_reordered_and_nan_is_hidden():
    readings = two_axes(units={"u": "m/s", "t": "s"})
    assert readings.coords == ("x", "t")
    np.testing.assert_array_equal(readings.points, [[5, 0], [6, 1], [7, 2]])
    np.testing.assert_array_equal(readings.values, [[1, 4], [0, 5], [3, 0]])
    np.testing.assert_array_equal(readings.mask, [[1, 1], [0, 1], [1, 0]])
    assert readings.units == (("t", "s"), ("u", "m/s"))
    assert readings.points.dtype == readings.values.dtype == np.float64
    assert len(readings) == 3
    assert readings.half_width is None


POINTS = {"x": [0.0, 1.0]}
VALUES = {"u": [1.0, 2.0]}


@pytest.mark.parametrize(
    ("points", "values", "options", "message"),
    [
        (np.zeros((2, 2)), VALUES, {"coords": "x"}, r"shape \(2, 2\)"),
        (np.zeros(2), VALUES, {}, "`coords` is missing"),
        (np.zeros((2, 1)), np.zeros((1, 2)), {"coords": "x", "fields": "u"}, r"shape \(1, 2\)"),
        (POINTS, np.zeros(2), {"fields": ("u", "v")}, r"shape \(2,\)"),
        (POINTS, {"u": [1.0]}, {}, "2 rows but `values` has 1"),
        (POINTS, {"u": [1.0, 2.0], "v": [1.0]}, {}, "one length"),
        (POINTS, {"u": 1.0}, {}, "one length"),
        ({"x": []}, {"u": []}, {}, "no readings"),
        ({"x": [0.0, NAN]}, VALUES, {}, "coordinate 'x', row 1"),
        ({"q": [0.0, 1.0]}, VALUES, {}, "unknown axis 'q'"),
        (POINTS, {"t": [1.0, 2.0]}, {}, "name of an axis"),
        (POINTS, {"u": [1.0, np.inf]}, {}, "field 'u', row 1, is infinite"),
        (POINTS, {"u": [NAN, NAN]}, {}, "every value"),
        (POINTS, {"u": ["1", "two"]}, {}, r"values\['u'\]`, row 1: 'two'"),
        (POINTS, {"u": [1j, 2]}, {}, "complex"),
        (POINTS, {"u": np.array(["2020-01-01"] * 2, "datetime64[D]")}, {}, "datetime64"),
        (POINTS, {"u": [[1.0], [2.0, 3.0]]}, {}, "rectangular|not a number"),
        (POINTS, {"velocity": [1, 2]}, {"fields": ("velocty",)}, "Did you mean 'velocity'"),
        (POINTS, {"u": [1, 2], "w": [1, 2]}, {"fields": "u"}, "unexpected column 'w'"),
        (POINTS, VALUES, {"noise": -1.0}, "`noise` of 'u', row 0, is -1"),
        (POINTS, VALUES, {"noise": {"u": [0.1, NAN]}}, "row 1, is nan"),
        (POINTS, VALUES, {"noise": {"w": 1.0}}, "`noise` names 'w'"),
        (POINTS, VALUES, {"noise": [0.1, 0.2]}, r"`noise` has shape \(2,\)"),
        (POINTS, VALUES, {"width": 0.1}, "dict by axis"),
        (POINTS, VALUES, {"width": {"y": 0.1}}, "`width` names 'y'"),
        (POINTS, VALUES, {"width": {"x": -0.1}}, "`width` of 'x', row 0"),
        (POINTS, VALUES, {"width": {"x": [1.0]}}, r"shape \(1,\)"),
        (POINTS, VALUES, {"units": {"w": "m"}}, "`units` names 'w'"),
        (POINTS, VALUES, {"fields": ("u", "u")}, "twice"),
        (POINTS, VALUES, {"fields": ()}, "empty"),
        (POINTS, VALUES, {"duplicates": "drop"}, "`duplicates`"),
    ],
)
def test_errors_name_the_culprit(points, values, options, message):
    with pytest.raises(InputError, match=message):
        Observations.from_arrays(points, values, **options)


# --- duplicates ---------------------------------------------------------------


def test_duplicates_are_named():
    points = {"x": [1.0, 0.0, 2.0, -0.0], "t": [0.0, 0.0, 0.0, 0.0]}
    with pytest.raises(InputError, match="rows 1 and 3 both measure 'u'"):
        Observations.from_arrays(points, {"u": [1.0, 2.0, 3.0, 4.0]})


def test_mean_of_duplicates():
    readings = Observations.from_arrays(
        {"x": [3.0, 0.0, 3.0, 3.0]},
        {"u": [1.0, 7.0, NAN, 2.0], "v": [NAN, 1.0, 5.0, NAN]},
        noise={"u": [3.0, 1.0, 9.0, 4.0], "v": [0.0, 0.0, 2.0, 0.0]},
        duplicates="mean",
    )
    np.testing.assert_array_equal(readings.points[:, 0], [3, 0])
    np.testing.assert_allclose(readings.values, [[1.5, 5], [7, 1]])
    np.testing.assert_allclose(readings.noise, [[2.5, 2], [1, 0]])  # sqrt(3² + 4²) / 2
    assert readings.mask.all()


# --- tables and xarray --------------------------------------------------------


def test_from_a_grid():
    truth = datasets.taylor_green(x=4, y=3, t=2)
    readings = Observations.from_xarray(truth, fields=("p", "u"))
    assert len(readings) == 24
    assert readings.coords == ("x", "y", "t")
    x, y, t = readings.points[17]
    assert readings.values[17, 0] == truth.p.sel(x=x, y=y, t=t)
    assert dict(readings.units)["p"] == "1"


def test_from_scattered_and_mixed_datasets():
    scattered = xr.Dataset(
        {"u": ("sensor", [1.0, 2.0])}, {"x": ("sensor", [0.1, 0.2]), "t": ("sensor", [3.0, 4.0])}
    )
    np.testing.assert_array_equal(Observations.from_xarray(scattered).points, [[0.1, 3], [0.2, 4]])
    stations = xr.Dataset(
        {"u": (("t", "station"), [[1.0, 2.0], [3.0, 4.0], [5.0, NAN]])},
        {"x": ("station", [0.1, 0.2]), "t": [0.0, 1.0, 2.0]},
    )
    readings = Observations.from_xarray(stations)
    table = {tuple(p): v for p, v in zip(readings.points, readings.values[:, 0], strict=True)}
    assert table[0.2, 1.0] == 4
    assert table[0.1, 2.0] == 5
    assert readings.mask.sum() == 5


def test_bad_datasets():
    with pytest.raises(InputError, match="dimension 'member'"):
        Observations.from_xarray(xr.Dataset({"u": (("x", "member"), [[1.0]])}, {"x": [0.0]}))
    with pytest.raises(InputError, match="no field 'w'"):
        Observations.from_xarray(datasets.heat(x=3, t=3), fields="w")
    with pytest.raises(InputError, match="DataArray"):
        Observations.from_xarray(datasets.heat(x=3, t=3).u)
    dated = xr.Dataset({"u": ("x", [1.0, 2.0])}, {"x": pd.date_range("2020", periods=2)})
    with pytest.raises(InputError, match="dates"):
        Observations.from_xarray(dated)
    # Along time they are welcome.
    days = Observations.from_xarray(dated.rename(x="t")).points[:, 0]
    assert days[1] - days[0] == 86400


@given(st.binary(max_size=40))
def test_garbage_files_only_ever_raise_input_errors(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("garbage") / "table.csv"
    path.write_bytes(b"x,u\n" + content)
    with contextlib.suppress(InputError):
        Observations.from_table(path, "x", "u")


# --- methods ------------------------------------------------------------------


def test_check_inside():
    readings = two_axes()
    readings.check_inside(Domain(x=(5, 7), t=(0, 2)))
    with pytest.raises(InputError, match=r"x = \(5, 6.5\): row 2: x = 7"):
        readings.check_inside(Domain(x=(5, 6.5), t=(0, 2)))
    with pytest.raises(InputError, match="same axes"):
        readings.check_inside(Domain(x=(5, 7)))


def test_boxes_must_lie_inside_unless_periodic():
    readings = two_axes(width={"x": 0.5})
    with pytest.raises(InputError, match=r"5 ± 0\.25"):
        readings.check_inside(Domain(x=(5, 7), t=(0, 2)))
    readings.check_inside(Domain(x=(5, 7), t=(0, 2), periodic=("x",)))


def test_aligned_hides_absent_fields():
    readings = two_axes(noise=0.5).aligned(("p", "v", "u"))
    assert readings.fields == ("p", "v", "u")
    np.testing.assert_array_equal(readings.values, [[0, 4, 1], [0, 5, 0], [0, 0, 3]])
    np.testing.assert_array_equal(readings.noise[:, 0], 0)
    assert readings.hidden_fields == ("p",)
    assert readings.values.dtype == np.float64
    with pytest.raises(InputError, match="observed field 'v' is unknown"):
        two_axes().aligned(("u",))
    inside = jax.jit(lambda r: r.aligned(("p", "v", "u")).values)(two_axes())
    np.testing.assert_allclose(inside, readings.values)


# --- cell averages ------------------------------------------------------------


def test_cell_average_of_a_polynomial_is_exact():
    readings = Observations.from_arrays(
        {"x": [1.0, 2.0], "y": [0.0, 1.0], "t": [0.5, 0.7]},
        {"u": [1.0, 2.0]},
        width={"x": [0.4, 0.0], "t": 0.2},
    )
    nodes, weights = cell_quadrature(readings, order=3)
    assert nodes.shape == (2, 9, 3)
    x, y, t = np.moveaxis(nodes, -1, 0)
    average = (x**4 * t**2 + y) @ weights

    def mean_power(low, high, p):
        return (high ** (p + 1) - low ** (p + 1)) / ((p + 1) * (high - low))

    exact = [
        mean_power(0.8, 1.2, 4) * mean_power(0.4, 0.6, 2),
        2.0**4 * mean_power(0.6, 0.8, 2) + 1.0,
    ]
    np.testing.assert_allclose(average, exact, rtol=1e-13)


def test_what_sensors_read_of_a_field_is_its_mean_over_their_boxes():
    """u = x² and v = x t: means over boxes by hand, of one field and of several at once."""
    readings = two_axes(width={"x": [0.6, 0.0, 0.0], "t": 0.0})
    x, t = readings.points.T

    def fields(points):
        x, t = points.T
        return np.stack([x**2, x * t], axis=-1)

    exact = np.stack([x**2 + [0.03, 0, 0], x * t], axis=-1)
    np.testing.assert_allclose(readings.read(fields), exact, rtol=1e-13)
    both = readings.read(lambda points: np.stack([fields(points), 2 * fields(points)]))
    np.testing.assert_allclose(both, [exact, 2 * exact], rtol=1e-13)
    np.testing.assert_array_equal(two_axes().read(fields), fields(two_axes().points))


LINE = Domain(x=(0, 1))


def readings(values=(1.0, 2.0), **options):
    return Observations.from_arrays({"x": [0.2, 0.7]}, {"u": values}, **options)


@pytest.mark.parametrize(
    ("given", "domain", "message"),
    [
        (readings((1.0, -1e31)), LINE, "field 'u', row 1: the largest value is 1e[+]31"),
        (readings((1e-31, 0.0)), LINE, "field 'u', row 0: the largest value is 1e-31"),
        (readings(noise=1e31), LINE, "the largest noise is 1e[+]31"),
        (readings(), Domain(x=(0, 1e31)), "axis x has the length 1e[+]31"),
        (readings(), Domain(x=(0, 1e-31)), "choose a unit in which"),
        (readings(), Domain(x=(1e12, 1e12 + 1)), "Count x from an origin nearer by"),
        (readings(), Domain(x=(-1e12 - 1, -1e12)), "axis x runs over"),
    ],
)
def test_what_cannot_is_named(given, domain, message):
    with pytest.raises(InputError, match=message):
        check_limits(given, domain)


def test_sample_reads_the_truth():
    truth = datasets.taylor_green(x=9, y=8, t=7)
    readings = sample(truth, n=50, fields=("v", "u"), seed=3)
    assert readings.fields == ("v", "u")
    for (x, y, t), (v, u) in zip(readings.points, readings.values, strict=True):
        here = truth.sel(x=x, y=y, t=t)
        assert (float(here.u), float(here.v)) == (u, v)
    assert len(np.unique(readings.points, axis=0)) == 50
    assert not np.array_equal(readings.points, sample(truth, n=50, seed=4).points)
    assert not readings.noise.any()


def test_sample_skips_holes_and_refuses_nonsense():
    truth = datasets.heat(x=5, t=4)
    truth["u"] = truth.u.where(truth.x != 0.5)
    assert sample(truth, n=16, noise=0.1).mask.all()
    for n in (0, 17):
        with pytest.raises(InputError, match="16 grid points"):
            sample(truth, n=n)
    with pytest.raises(InputError, match="`noise` of 'u'"):
        sample(truth, n=3, noise=-0.1)
    with pytest.raises(InputError, match="`noise` names 'v'"):
        sample(truth, n=3, noise={"v": 0.1})
