import numpy as np

from pgt.geometry.bins import Bins


def test_every_point_meets_all_members_whose_box_holds_it():
    random = np.random.default_rng(0)
    low = random.uniform(0, 1, (40, 2))
    high = low + random.uniform(0, 0.3, (40, 2))
    points = random.uniform(-0.2, 1.4, (300, 2))
    met = np.zeros((300, 40), bool)
    for rows, members in Bins.build(low, high, cells=64).pairs(points):
        assert len(np.unique(rows)) == len(rows)
        met[rows, members] = True
    inside = np.all((points[:, None] >= low) & (points[:, None] <= high), axis=2)
    assert met[inside].all()
