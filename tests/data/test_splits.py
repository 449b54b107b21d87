"""How readings are divided: nothing twice, nothing lost, the same every time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgt
from pgt.core.errors import InputError
from pgt.data import Observations
from pgt.data.splits import (
    blocks,
    folds,
    sensors,
    split,
)


def scattered(n, seed=0, axes=("x", "t"), hidden=()):
    """Readings at random places, whose value is their row; some rows hold no value."""
    rng = np.random.default_rng(seed)
    values = np.arange(n, dtype=float)
    values[list(hidden)] = np.nan
    return pgt.Observations.from_arrays({a: rng.random(n) for a in axes}, {"u": values})


def rows_of(readings, part):
    """The rows that a part is made of, told by the places, which differ."""
    places = {tuple(point): row for row, point in enumerate(readings.points.tolist())}
    return [places[tuple(point)] for point in part.points.tolist()]


sizes = st.integers(2, 120)
seeds = st.integers(0, 2**31 - 1)
axes = st.sampled_from([("x",), ("x", "t"), ("x", "y", "t")])


@given(sizes, seeds, axes, st.floats(0.01, 0.99), st.booleans())
def test_a_split_is_disjoint_complete_and_repeatable(n, seed, axes, fraction, blocked):
    readings = scattered(n, seed % 7, axes)
    groups = blocks(readings) if blocked else None
    fitted, held_out = split(readings, fraction, seed, groups)
    one, two = rows_of(readings, fitted), rows_of(readings, held_out)
    assert one == sorted(one)
    assert two == sorted(two)
    assert sorted(one + two) == list(range(n))
    assert min(len(one), len(two)) >= 1
    assert rows_of(readings, split(readings, fraction, seed, groups)[1]) == two
    if groups is None:
        assert len(two) == min(max(round(fraction * n), 1), n - 1)
    else:
        assert not set(groups[one]) & set(groups[two])
        largest = np.bincount(groups).max()
        assert abs(len(two) - fraction * n) <= largest + 1


@given(sizes, seeds, axes, st.integers(2, 10), st.booleans())
def test_folds_are_disjoint_complete_and_repeatable(n, seed, axes, count, blocked):
    readings = scattered(n, seed % 7, axes, hidden=[0] if n > 2 else [])
    usable = np.flatnonzero(readings.mask[:, 0])
    groups = blocks(readings) if blocked else None
    parts = len(usable) if groups is None else len(np.unique(groups[usable]))
    if count > parts:
        with pytest.raises(InputError, match="cannot be divided"):
            folds(readings, count, seed, groups)
        return
    found = folds(readings, count, seed, groups)
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), usable)
    lengths = [len(rows) for rows in found]
    assert len(found) == count
    assert min(lengths) >= 1
    again = folds(readings, count, seed, groups)
    assert all(np.array_equal(a, b) for a, b in zip(found, again, strict=True))
    if groups is None:
        assert max(lengths) - min(lengths) <= 1
    else:
        owners = [set(groups[rows]) for rows in found]
        assert sum(map(len, owners)) == len(set().union(*owners))
        assert max(lengths) - min(lengths) <= np.bincount(groups).max()


def test_blocks_are_boxes_that_do_not_cut_a_place():
    stations = np.repeat([0.0, 0.1, 5.0], 40)  # fixed sensors, one far away
    instants = np.tile(np.linspace(0, 1, 40), 3)
    readings = pgt.Observations.from_arrays({"x": stations, "t": instants}, {"u": instants})
    groups = blocks(readings)
    for block in np.unique(groups):
        inside = groups == block
        low, high = readings.points[inside].min(axis=0), readings.points[inside].max(axis=0)
        enclosed = ((readings.points >= low) & (readings.points <= high)).all(axis=1)
        np.testing.assert_array_equal(enclosed, inside)
    moments = [set(groups[instants == t]) for t in np.unique(instants)]
    assert all(len(found) == 3 for found in moments), "every station in a block of its own"


def test_what_cannot_be_divided_is_refused():
    one_place = pgt.Observations.from_arrays(
        {"x": [0.5, 0.5]}, {"u": [1.0, np.nan], "v": [np.nan, 2.0]}
    )
    assert [len(part) for part in split(one_place, 0.999, seed=0)] == [1, 1]
    with pytest.raises(InputError, match="cannot be divided"):
        split(scattered(1), 0.5, seed=0)
    with pytest.raises(InputError, match="`fraction`"):
        split(scattered(9), 1.0, seed=0)
    with pytest.raises(InputError, match="2 or more"):
        folds(scattered(9), 1, seed=0)


def test_sensors_are_known_by_their_place():
    places = {"x": [0.2, 0.8, 0.2, 0.8, 0.2], "t": [0, 0, 1, 1, 2]}
    rod = pgt.Observations.from_arrays(places, {"u": np.zeros(5)})
    found = sensors(rod)
    assert found is not None
    assert found.tolist() == [0, 1, 0, 1, 0]
    assert sensors(rod.take([0, 1, 3])) is None  # hardly any of them reads twice
    assert sensors(rod.take([0, 2, 4])) is None  # one alone cannot be predicted from others
    steady = pgt.Observations.from_arrays({"x": [0.2, 0.4]}, {"u": [1.0, 1.1]})
    assert sensors(steady) is None


def readings(rows=slice(None), unit=1.0, zero=0.0):
    random = np.random.default_rng(0)
    x, t, u = random.uniform(size=(3, 30)).round(1)  # some at one place, of one value
    places = {"x": unit * x[rows] + zero, "t": (t + np.arange(30) // 15)[rows]}
    noise = np.linspace(0.1, 0.2, 30)[rows, None]
    hidden = np.where(np.arange(30) % 2, np.nan, u)
    return Observations.from_arrays(
        places,
        {"u": u[rows], "v": hidden[rows]},
        noise=np.hstack([noise, noise]),
        duplicates="mean",
    )
