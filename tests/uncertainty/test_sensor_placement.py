"""Where to measure next, against Gaussian conditioning with full matrices."""

import numpy as np
import pytest
from wavy_result import BOX, result_with

import pgt
from pgt.core.errors import InputError
from pgt.uncertainty.sensor_placement import (
    candidates,
    choose_places,
    inside_shape,
)

X = np.linspace(0, 1, 41)


def bump(centre, width=0.08):
    return np.exp(-(((X - centre) / width) ** 2))


def by_full_matrices(deviations, n, noise, read):
    """The same choice with covariances over all places and fields, as a textbook writes it."""
    members, places, fields = deviations.shape
    flat = deviations.reshape(members, -1)
    covariance = np.cov(flat, rowvar=False)
    chosen = []
    for _ in range(n):
        variance = np.diag(covariance).reshape(places, fields).sum(axis=1)
        variance[chosen] = -1
        place = int(np.argmax(variance))
        chosen.append(place)
        rows = [place * fields + column for column in read]
        block = covariance[np.ix_(rows, rows)] + np.diag(noise[list(read)] ** 2)
        gain = covariance[:, rows] @ np.linalg.inv(block)
        covariance = covariance - gain @ covariance[rows]
    return chosen, np.diag(covariance).reshape(places, fields).sum(axis=1).mean()


@pytest.mark.parametrize("read", [(0, 1), (1,)])
def test_it_is_the_conditioning_of_a_gaussian(read):
    random = np.random.default_rng(3)
    smooth = np.stack([bump(c, 0.2) for c in random.uniform(size=12)])
    deviations = np.stack([random.normal(size=(6, 12)) @ smooth for _ in range(2)], axis=-1)
    noise = np.array([0.2, 0.5])
    found = choose_places(deviations, 5, noise, read)
    chosen, left = by_full_matrices(deviations, 5, noise, read)
    assert found.chosen.tolist() == chosen
    assert found.remaining[-1] == pytest.approx(left, rel=1e-6)
    assert (np.diff(found.remaining) < 0).all()


def test_mistakes_are_named():
    good = np.random.default_rng(0).normal(size=(3, 4, 1))
    for deviations, n, noise, message in (
        (good[:1], 1, 0.0, "two members at least"),
        (good * np.nan, 1, 0.0, "finite"),
        (good, 0, 0.0, "from 1 to 4"),
        (good, 5, 0.0, "from 1 to 4"),
        (good, 1, -1.0, "0 or more"),
    ):
        with pytest.raises(InputError, match=message):
            choose_places(deviations, n, noise)


def test_no_sensor_is_put_into_an_obstacle():
    channel = pgt.Domain(x=(-2, 2), y=(-2, 2), shape=-pgt.shapes.Disk(radius=0.5))
    points = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.4]])
    assert inside_shape(points, channel).tolist() == [[1.0, 0.0]]
    assert inside_shape(points, pgt.Domain(x=(-2, 2), y=(-2, 2))) is points
    assert channel.contains(candidates(channel, 64)).all()


def test_a_result_suggests_where_to_measure():
    result = result_with()
    table = result.suggest_sensors(3)
    assert table.sizes == {"sensor": 3}
    assert {"x", "t"} <= set(table.coords)
    assert (np.diff(table.remaining) <= 0).all()
    assert 0 <= table.remaining[-1] < 1
    chosen = np.column_stack([table.x, table.t])
    assert BOX.contains(chosen).all()
    assert table.u_std.to_numpy() == pytest.approx(result.at(chosen).u_std.to_numpy(), rel=1e-4)
    few = result.suggest_sensors(6, candidates={"x": np.linspace(0, 3, 8), "t": np.full(8, 0.5)})
    assert set(few.t.to_numpy()) == {0.5}
    assert "6 members" in few.attrs["note"]
    with pytest.raises(InputError, match="there are none"):
        result.suggest_sensors(2, candidates=np.zeros((0, 2)))
