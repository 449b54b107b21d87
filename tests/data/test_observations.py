import contextlib
import decimal

import jax
import jax.numpy as jnp
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
    MAX_MAGNITUDE,
    MAX_RELATIVE_OFFSET,
    MIN_MAGNITUDE,
    cell_quadrature,
    check_limits,
)

NAN = float("nan")


def simple(n=6, **options):
    rng = np.random.default_rng(0)
    points, values = rng.uniform(size=(n, 2)), rng.normal(size=(n, 2))
    return Observations.from_arrays(points, values, coords=("x", "t"), fields=("u", "v"), **options)


def two_axes(**options):
    points = {"t": [0.0, 1.0, 2.0], "x": [5.0, 6.0, 7.0]}
    return Observations.from_arrays(points, {"u": [1.0, NAN, 3.0], "v": [4.0, 5.0, NAN]}, **options)


# --- construction -------------------------------------------------------------


def simple_arrays():
    return np.array([[0.0, 5.0], [1.0, 6.0]]), np.array([[1.0], [2.0]])


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


def test_arrays_given_as_t_x():
    points, values = simple_arrays()
    readings = Observations.from_arrays(points, values, coords=("t", "x"), fields=("u",))
    np.testing.assert_array_equal(readings.points, points[:, ::-1])


def test_input_arrays_are_copied():
    points, values = simple_arrays()
    readings = Observations.from_arrays(points, values, coords=("x", "t"), fields=("u",))
    values[:] = 99.0
    points[:] = 99.0
    assert readings.values.max() == 2
    assert readings.points.max() == 6


def test_one_field_may_be_a_vector():
    readings = Observations.from_arrays([[0.0], [1.0]], [1, 2], coords=("x",), fields="u")
    assert readings.values.shape == (2, 1)


def test_noise_in_all_its_forms():
    np.testing.assert_array_equal(two_axes(noise=0.5).noise, [[0.5, 0.5], [0, 0.5], [0.5, 0]])
    np.testing.assert_array_equal(two_axes(noise={"v": 2}).noise, [[0, 2], [0, 2], [0, 0]])
    per_reading = [[1, 2], [NAN, 3], [4, NAN]]  # σ of a hidden reading is not looked at
    np.testing.assert_array_equal(two_axes(noise=per_reading).noise, [[1, 2], [0, 3], [4, 0]])


def test_width_is_halved_and_zero_means_points():
    readings = two_axes(width={"t": [0.0, 0.2, 0.4]})
    np.testing.assert_allclose(readings.half_width, [[0, 0], [0, 0.1], [0, 0.2]])
    assert two_axes(width={"x": 0.0}).half_width is None


def test_masked_array_and_odd_numbers():
    values = np.ma.MaskedArray([1.0, 2.0], mask=[False, True])
    readings = Observations.from_arrays({"x": [0, 1]}, {"u": values})
    np.testing.assert_array_equal(readings.mask[:, 0], [True, False])
    odd = [decimal.Decimal("1.5"), None]
    assert Observations.from_arrays({"x": [0, 1]}, {"u": odd}).values[0, 0] == 1.5


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


def test_different_fields_or_boxes_at_one_point_are_no_duplicates():
    points = {"x": [0.0, 0.0]}
    assert len(Observations.from_arrays(points, {"u": [1.0, NAN], "v": [NAN, 1.0]})) == 2
    assert len(Observations.from_arrays(points, {"u": [1.0, 2.0]}, width={"x": [0.0, 0.5]})) == 2


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


def test_csv_with_blanks_spaces_and_extra_columns(tmp_path):
    path = tmp_path / "sensors.csv"
    path.write_text("t, x, u, note, s\n0, 1, 2.5, a, 0.1\n1, 1, , b, \n2, 1, NA, c,\n")
    readings = Observations.from_table(path, ("x", "t"), "u", noise={"u": "s"}, units={"u": "K"})
    np.testing.assert_array_equal(readings.points, [[1, 0], [1, 1], [1, 2]])
    np.testing.assert_array_equal(readings.mask[:, 0], [True, False, False])
    np.testing.assert_array_equal(readings.noise[:, 0], [0.1, 0, 0])


def test_nullable_columns_and_dataframes():
    frame = pd.DataFrame({"x": [0, 1], "u": pd.array([1, None], dtype="Int64")})
    readings = Observations.from_table(frame, "x", "u")
    np.testing.assert_array_equal(readings.mask[:, 0], [True, False])
    again = Observations.from_arrays(frame[["x"]], frame[["u"]])
    np.testing.assert_array_equal(again.values, readings.values)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x,u\n0,1\n1,oops\n", r"values\['u'\]`, row 1: 'oops'"),
        ("x,u\n0,1\n,2\n", "coordinate 'x', row 1"),
        ("x,U\n0,1\n", "no column 'u'"),
        ("x;u\n0;1\n", "no column 'x'"),
        ("x,u\n", "no readings"),
        ("", "could not be read"),
        ("x,u\n0,1,2\n1,2,3\n", "could not be read"),
        ("x,u\n0,True\n", "bool"),
        ("x,u\n0,1\n0,2\n", "rows 0 and 1"),
    ],
)
def test_bad_csv(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        Observations.from_table(str(path), ("x",), ("u",))


def test_missing_file_and_repeated_column():
    with pytest.raises(InputError, match=r"no file 'nowhere.csv'"):
        Observations.from_table("nowhere.csv", "x", "u")
    frame = pd.DataFrame([[0.0, 1.0, 2.0]], columns=["x", "u", "u"])
    with pytest.raises(InputError, match="two columns named 'u'"):
        Observations.from_table(frame, "x", "u")


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


cells = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(),
    st.none(),
    st.text(max_size=3),
    st.booleans(),
    st.just(pd.NA),
    st.just(pd.Timestamp(0)),
)


@given(st.lists(st.tuples(cells, cells, cells), max_size=5), st.sampled_from(["error", "mean"]))
def test_garbage_tables_only_ever_raise_input_errors(rows, duplicates):
    frame = pd.DataFrame(rows, columns=["x", "t", "u"], dtype=object)
    try:
        readings = Observations.from_table(frame, ("x", "t"), "u", duplicates=duplicates)
    except InputError:
        return
    assert np.isfinite(readings.points).all()
    assert np.isfinite(readings.values).all()
    assert readings.mask.any()


@given(st.binary(max_size=40))
def test_garbage_files_only_ever_raise_input_errors(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("garbage") / "table.csv"
    path.write_bytes(b"x,u\n" + content)
    with contextlib.suppress(InputError):
        Observations.from_table(path, "x", "u")


values_with_gaps = st.one_of(st.just(NAN), st.floats(-1e6, 1e6))
tables = st.lists(
    st.tuples(st.floats(-10, 10), st.floats(0, 5), values_with_gaps, values_with_gaps),
    min_size=1,
    max_size=12,
    unique_by=lambda row: (row[0] + 0.0, row[1] + 0.0),
)


@given(tables, st.randoms(use_true_random=False))
def test_row_order_and_source_do_not_matter(rows, random):
    frame = pd.DataFrame(rows, columns=["x", "t", "u", "v"])
    if frame[["u", "v"]].isna().all(axis=None):
        return
    order = list(range(len(rows)))
    random.shuffle(order)
    straight = Observations.from_table(frame, ("x", "t"), ("u", "v"))
    shuffled = Observations.from_table(frame.iloc[order], ("t", "x"), ("u", "v"))
    table = frame.to_numpy()
    arrays = Observations.from_arrays(
        table[:, :2], table[:, 2:], coords=("x", "t"), fields=("u", "v")
    )
    for one, other in ((straight.take(order), shuffled), (straight, arrays)):
        assert jax.tree.all(jax.tree.map(np.array_equal, one, other))


@given(tables)
def test_mean_of_doubled_rows_is_the_row(rows):
    frame = pd.DataFrame(rows, columns=["x", "t", "u", "v"])
    if frame[["u", "v"]].isna().all(axis=None):
        return
    once = Observations.from_table(frame, ("x", "t"), ("u", "v"))
    doubled = pd.concat([frame, frame])
    twice = Observations.from_table(doubled, ("x", "t"), ("u", "v"), duplicates="mean")
    for one, other in zip(jax.tree.leaves(once), jax.tree.leaves(twice), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-300)  # halves of subnormal numbers round


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


def test_take():
    readings = simple(width={"x": 0.1})
    np.testing.assert_array_equal(readings.take([3, 1]).points, readings.points[[3, 1]])
    assert isinstance(readings.take([0]).values, np.ndarray)
    assert len(readings.take(readings.points[:, 0] > -1)) == 6
    traced = jax.jit(lambda i: readings.take(i).values)(jnp.array([3, 1]))
    np.testing.assert_allclose(traced, readings.values[[3, 1]], rtol=1e-6)
    for bad in ([6], [0.5], [[0]], [True]):
        with pytest.raises(InputError, match="`indices`"):
            readings.take(bad)


def test_works_as_a_stack_of_sets():
    one, two = simple(width={"x": 0.1}), simple(width={"x": 0.2})
    stacked = jax.tree.map(lambda *leaves: np.stack(leaves), one, two)
    sums = jax.vmap(lambda o: o.values.sum())(stacked)
    np.testing.assert_allclose(sums, [one.values.sum(), two.values.sum()], rtol=1e-5)
    counts = jax.jit(jax.vmap(lambda o: o.aligned(("u", "v", "p")).mask.sum()))(stacked)
    np.testing.assert_array_equal(counts, [12, 12])


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


def test_cell_quadrature_under_jit_and_for_points():
    readings = two_axes(width={"t": 0.2})
    nodes, weights = jax.jit(lambda r: cell_quadrature(r, order=2, axes=("t",)))(readings)
    expected, expected_weights = cell_quadrature(readings, order=2)
    np.testing.assert_allclose(nodes, expected, rtol=1e-6)
    np.testing.assert_allclose(weights, expected_weights)
    assert jax.jit(lambda r: cell_quadrature(r, order=2)[0])(readings).shape == (3, 4, 2)
    nodes, weights = cell_quadrature(two_axes())
    assert (nodes.shape, weights.tolist()) == ((3, 1, 2), [1.0])


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


def test_the_measured_readings_of_a_field():
    readings = two_axes(noise={"u": 0.1})
    rows, points, values, noise = readings.measured("u")
    assert (rows.tolist(), values.tolist(), noise.tolist()) == ([0, 2], [1.0, 3.0], [0.1, 0.1])
    np.testing.assert_array_equal(points, [[5, 0], [7, 2]])
    assert readings.measured("v").noise.tolist() == [0.0, 0.0]
    assert [readings.measured(name).typical_noise for name in "uvp"] == [0.1, 0.0, 0.0]
    nothing = readings.measured("p")
    assert [len(part) for part in nothing] == [0, 0, 0, 0]
    assert nothing.points.shape == (0, 2)


LINE = Domain(x=(0, 1))


def readings(values=(1.0, 2.0), **options):
    return Observations.from_arrays({"x": [0.2, 0.7]}, {"u": values}, **options)


def test_the_limits_are_where_products_still_have_digits():
    assert np.float32(MAX_MAGNITUDE) * np.float32(100) < np.finfo(np.float32).max
    assert np.float32(MIN_MAGNITUDE) / np.float32(100) > np.finfo(np.float32).tiny
    near, far = (MAX_RELATIVE_OFFSET + share for share in (0.5, 0.501))  # in double precision
    assert near < far  # a thousandth of the extent is still seen at the farthest offset


@pytest.mark.parametrize("factor", [1.0, 1e29, 1e-29])
def test_what_can_be_computed_with_passes(factor):
    check_limits(readings((factor, 0.0), noise=factor), LINE)
    check_limits(readings(), Domain(x=(0, factor)))
    check_limits(readings(), Domain(x=(9e3, 9e3 + 1)))
    check_limits(readings(), Domain(x=(9e10, 9e10 + 1)))


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


def test_hidden_values_are_not_looked_at():
    hidden = Observations.from_arrays({"x": [0.2, 0.7]}, {"u": [1.0, 2.0], "v": [np.nan, 3.0]})
    check_limits(hidden, LINE)


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


def test_sample_noise_has_the_stated_size():
    truth = datasets.heat(x=101, t=101)
    clean = sample(truth, n=5000, seed=0)
    noisy = sample(truth, n=5000, seed=0, noise=0.1, record_noise=True)
    np.testing.assert_array_equal(clean.points, noisy.points)
    sigma = 0.1 * clean.values.std()
    np.testing.assert_allclose(noisy.noise, sigma)
    assert (noisy.values - clean.values).std() == pytest.approx(sigma, rel=0.05)
    absolute = sample(truth, n=5000, seed=0, noise={"u": 0.02})
    assert (absolute.values - clean.values).std() == pytest.approx(0.02, rel=0.05)
    assert not absolute.noise.any()


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
