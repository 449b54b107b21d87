"""The order of readings is their own, whatever rows they stand in."""

import numpy as np

from pgt.data import Observations
from pgt.data.canonical_order import order, ordered


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


def test_shuffled_readings_have_the_same_order():
    given = ordered(readings())
    for seed in range(5):
        again = ordered(readings(np.random.default_rng(seed).permutation(30)))
        for one, other in zip(
            (given.points, given.mask, given.values),
            (again.points, again.mask, again.values),
            strict=True,
        ):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_units_and_origin_do_not_change_it():
    np.testing.assert_array_equal(order(readings()), order(readings(unit=1000.0, zero=5e6)))


def test_what_is_in_order_stays_as_it_is():
    given = ordered(readings())
    assert ordered(given) is given
