"""The only rescaling: undone exactly, blind to hidden values."""

import numpy as np
import pytest
from few_readings import DOMAINS, readings

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.nn.scaling import Scaling


def test_scaling_is_undone_and_ignores_hidden_values():
    observations = readings()
    scaling = Scaling.fit(observations, DOMAINS["open"])
    inside = scaling.to_unit(observations.points)
    assert np.abs(inside).max() <= 1
    np.testing.assert_allclose(scaling.from_unit(inside), observations.points, atol=1e-6)
    u = observations.values[observations.mask[:, 0], 0]
    assert scaling.mean[0] == pytest.approx(u.mean(), rel=1e-6)
    assert scaling.spread[0] == pytest.approx(u.std(), rel=1e-6)
    np.testing.assert_allclose(
        scaling.to_physical(scaling.standardise(observations.values)),
        observations.values,
        atol=1e-5,
    )


def test_scaling_of_constant_and_hidden_fields():
    table = {"u": np.full(4, 300.0), "v": np.zeros(4)}
    observations = Observations.from_arrays({"x": np.arange(4.0), "t": np.arange(4.0)}, table)
    scaling = Scaling.fit(observations.aligned(("u", "v", "p")), Domain(x=(0, 3), t=(0, 3)))
    np.testing.assert_array_equal(scaling.spread, [300.0, 1.0, 1.0])
    np.testing.assert_array_equal(scaling.mean, [300.0, 0.0, 0.0])
