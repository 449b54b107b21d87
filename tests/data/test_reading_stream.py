"""Readings that are loaded part by part: the same readings as in memory, whatever the file."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import pgt
from pgt.data.reading_stream import ReadingStream, join, open_readings, without_places


def table(count: int = 1000, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    x, t = random.uniform(size=(2, count))
    return pd.DataFrame({"x": x, "t": t, "u": np.sin(x + t), "s": np.full(count, 0.1)})


def folder_of(path, count: int = 1000):
    frame = table(count)
    for number, rows in enumerate(np.array_split(np.arange(count), 3)):
        frame.iloc[rows].to_parquet(path / f"part{number}.parquet", row_group_size=100)
    return path


def test_a_folder_of_parquet_files_holds_the_rows_of_the_table(tmp_path):
    stream = open_readings(folder_of(tmp_path), ["x", "t"], ["u"], noise={"u": "s"})
    readings = join(list(stream.chunks()))
    assert len(stream) == len(readings) == 1000
    assert max(len(chunk) for chunk in stream.chunks()) <= 100
    np.testing.assert_array_equal(readings.points, table()[["x", "t"]])
    np.testing.assert_array_equal(readings.values[:, 0], table()["u"])
    np.testing.assert_array_equal(readings.noise, 0.1)


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
def test_a_dataset_holds_the_rows_of_its_arrays(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr("pgt.data.reading_stream.MAX_ROWS_IN_MEMORY", 20)
    x, t = np.linspace(0, 1, 5), np.linspace(0, 2, 30)
    dataset = xr.Dataset({"u": (("t", "x"), np.add.outer(t, x))}, {"x": x, "t": t})
    path = tmp_path / f"field{suffix}"
    dataset.to_zarr(path, consolidated=False) if suffix == ".zarr" else dataset.to_netcdf(path)
    stream = open_readings(path, ["x", "t"], ["u"])
    readings = join(list(stream.chunks()))
    assert len(stream.parts) == 8
    assert len(stream) == len(readings) == 150
    np.testing.assert_allclose(readings.values[:, 0], readings.points.sum(axis=1))


def test_the_sample_is_a_part_of_the_readings(tmp_path):
    stream = open_readings(folder_of(tmp_path), ["x", "t"], ["u"])
    sample = stream.sampled(seed=1, size=50)
    rows = {tuple(row) for row in table()[["x", "t", "u"]].to_numpy()}
    drawn = {tuple(row) for row in np.hstack([sample.points, sample.values])}
    assert len(drawn) == 50
    assert drawn <= rows
    assert len(stream.sampled(seed=1, size=5000)) == 1000


def test_an_epoch_of_pools_contains_every_reading(tmp_path, monkeypatch):
    monkeypatch.setattr("pgt.data.reading_stream.MAX_ROWS_IN_MEMORY", 250)
    stream = open_readings(folder_of(tmp_path), ["x", "t"], ["u"])
    pools = stream.shuffled(50, seed=0)
    first = [np.asarray(next(pools).points)[:, 0] for _ in range(24)]
    pools.close()
    assert {len(pool) for pool in first} == {50}
    assert len(set(np.concatenate(first))) == 1000
    assert not (np.diff(np.searchsorted(np.sort(table()["x"]), first[0])) > 0).all()


def test_an_error_of_the_loading_thread_is_raised(tmp_path):
    def fails(readings):
        raise pgt.InputError("outside")

    stream = open_readings(folder_of(tmp_path), ["x", "t"], ["u"]).then(fails)
    with pytest.raises(pgt.InputError, match="outside"):
        next(stream.shuffled(50, seed=0))


def test_all_readings_of_a_held_out_sensor_are_left_out():
    x, t = np.meshgrid([0.0, 1.0, 2.0], np.arange(4.0))
    points = {"x": x.ravel(), "t": t.ravel()}
    readings = pgt.Observations.from_arrays(points, {"u": x.ravel()})
    held_out = readings.take([1])
    assert len(without_places(readings, held_out, ("x",))) == 8
    assert len(without_places(readings, held_out, ("x", "t"))) == 11


def test_an_error_in_a_part_says_where_it_is(tmp_path):
    broken = table(250)
    broken.loc[130, "x"] = np.inf
    broken.to_parquet(tmp_path / "broken.parquet", row_group_size=100)
    stream = open_readings(tmp_path, ["x", "t"], ["u"])
    with pytest.raises(
        pgt.InputError, match=r"broken\.parquet, row group 1: coordinate 'x', row 30"
    ):
        stream.sampled(seed=0)


@pytest.mark.parametrize(
    ("name", "columns", "message"),
    [
        ("absent", ["u"], "there is no file or folder"),
        ("empty", ["u"], "has no Parquet file"),
        ("text.parquet", ["u"], "could not be read as Parquet"),
        ("table.parquet", ["w"], "has no column 'w'; its columns are x, t, u, s"),
    ],
)
def test_wrong_files_are_refused(tmp_path, name, columns, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "text.parquet").write_text("x,u")
    table(10).to_parquet(tmp_path / "table.parquet")
    with pytest.raises(pgt.InputError, match=message):
        open_readings(tmp_path / name, ["x", "t"], columns)


def test_readings_in_memory_are_streamed_in_parts():
    frame = table(10)
    readings = pgt.Observations.from_table(frame, ["x", "t"], ["u"])
    assert [len(chunk) for chunk in ReadingStream.of(readings, rows=4).chunks()] == [4, 4, 2]
