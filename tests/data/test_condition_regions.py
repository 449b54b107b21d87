"""Where conditions hold: points lie there, normals point outward, means are means."""

import jax
import numpy as np
import pytest

from pgt.data.bounds import Bounds
from pgt.data.condition_regions import (
    INSTANTS_PER_STEP,
    AbstractRegion,
    Faces,
    Instants,
    Seam,
)

BOX = Bounds(("x", "y", "t"), ((-1.0, 1.0), (0.0, 0.5), (2.0, 7.0)))
KEY = jax.random.key(0)
ALL_FACES = Faces(BOX, (("x", 0), ("x", 1), ("y", 0), ("y", 1)))
ALL_REGIONS = (
    ALL_FACES,
    Faces(BOX, (("t", 0),)),
    Seam(BOX, "y"),
    Instants(BOX, None),
    Instants(BOX, (("x", 0.5), ("y", 0.1))),
    Instants(BOX, (("x", 0.5), ("y", 0.1), ("t", 3.0))),
)


@pytest.mark.parametrize("region", ALL_REGIONS, ids=lambda region: type(region).__name__)
def test_every_region_gives_points_inside_the_box(region: AbstractRegion):
    drawn = np.asarray(jax.jit(lambda key: region.sample(key, 40))(KEY))
    fixed = region.nodes(40)
    for points in (drawn, fixed):
        assert points.shape[1] == 3
        assert BOX.contains(points).all()
        for axis in region.free:
            assert len(np.unique(points[:, BOX.index(axis)])) > 3
    np.testing.assert_array_equal(drawn, region.sample(KEY, 40))
    assert not jax.tree.leaves(region)  # nothing to trace


# --- faces --------------------------------------------------------------------


def test_normals_point_outward():
    for axis, side in ALL_FACES.pairs:
        z = Faces(BOX, ((axis, side),)).nodes(1)[0]
        normal = np.asarray(ALL_FACES.normal(z))
        assert np.linalg.norm(normal) == 1
        step = 1e-3 * normal * BOX.extent
        assert not BOX.contains([z + step]).any()
        assert BOX.contains([z - step]).all()


# --- seams and instants -------------------------------------------------------


def test_a_mean_over_space_is_exact_for_polynomials_and_taken_at_few_instants():
    everywhere = Instants(BOX, None)
    assert everywhere.sample(KEY, 500).shape == (INSTANTS_PER_STEP, 3)
    points, weights = everywhere.mean_nodes(np.array([9.0, 9.0, 4.0]))
    x, y, t = np.asarray(points, float).T
    assert (t == 4.0).all()
    assert weights.sum() == pytest.approx(1.0)
    assert (x**4 * y**3) @ weights == pytest.approx((1 / 5) * (0.5**3 / 4), rel=1e-5)
