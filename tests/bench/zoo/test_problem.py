"""A problem loads into readings of its own truth."""

import numpy as np
import pytest
import xarray as xr

from pgt_bench.zoo import catalogue


@pytest.mark.parametrize("name", ["heat-modes", "vortices", "allen-cahn", "lorenz"])
def test_readings_are_those_of_the_truth(name):
    problem = catalogue.get(name)
    setup = problem.load(0)
    readings = setup.observations
    assert tuple(setup.truth.data_vars) == problem.pde.fields == readings.fields
    assert len(readings) == problem.readings.count
    index = [problem.pde.fields.index(field) for field in problem.readings.hidden]
    assert not readings.mask[:, index].any()
    assert readings.mask.sum() == len(readings) * len(problem.measured)
    where = dict(zip(problem.domain.axes, readings.points[3], strict=True))
    at = setup.truth[problem.measured[0]].sel(where, method="nearest")
    assert readings.values[3, 0] == pytest.approx(float(at))


def test_noise_is_a_share_of_the_spread():
    setup = catalogue.get("plume").load(1)
    columns = zip(("x", "y", "t"), np.asarray(setup.observations.points).T, strict=True)
    places = {axis: xr.DataArray(values, dims="reading") for axis, values in columns}
    clean = setup.truth.u.sel(places, method="nearest")
    added = np.asarray(setup.observations.values)[:, 0] - clean.to_numpy()
    assert added.std() == pytest.approx(setup.noise["u"], rel=0.05)
    assert setup.noise["u"] == pytest.approx(0.05 * clean.to_numpy().std())
