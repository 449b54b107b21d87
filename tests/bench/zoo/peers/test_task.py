"""Peers get what we get, in numbers of order one."""

import numpy as np
import pytest

from pgt_bench.zoo.answers import Asked
from pgt_bench.zoo.catalogue import get
from pgt_bench.zoo.peers.task import PeerTask


def _task(name):
    problem = get(name)
    return PeerTask.of(Asked(problem, problem.load(0), 1.0, 0))


def test_readings_and_conditions_are_points_with_values():
    task = _task("seiche")
    height, velocity = task.given
    assert (height.column, velocity.column) == (0, 1)
    assert len(height.points) == 150
    assert height.values.std() == pytest.approx(1, rel=1e-4)
    assert np.abs(velocity.points[:, 0]) == pytest.approx(1)
    assert np.abs(velocity.values).max() == 0
    assert set(task.sizes) == {"equation_1", "equation_2"}


def test_what_a_network_says_comes_back_in_physical_units():
    task = _task("vortices")
    truth = task.asked.setup.truth
    columns = [truth[n].transpose("x", "y", "t").to_numpy().ravel() for n in ("u", "v", "p")]
    standardised = task.scaling.standardise(np.stack(columns, axis=1))
    back = task.fields(standardised)
    assert back.p.to_numpy() == pytest.approx(truth.p.transpose("x", "y", "t").to_numpy(), abs=1e-6)
    assert np.abs(task.grid).max() == pytest.approx(1)


def test_a_condition_without_values_holds_at_its_walls():
    (insulated,) = _task("hot-rod").walls
    (cooled,) = _task("cooled-bar").walls
    for wall in (insulated, cooled):
        assert len(np.unique(wall.points[:, 0])) == 2
        assert len(wall.points) > 100
        assert (wall.sizes > 0).all()
    assert [len(_task(name).walls) for name in ("seiche", "room")] == [0, 0]
