"""Rows divided over devices: the same numbers as on one, on devices that the CPU simulates.

First-order steps are compared with Adam. SOAP starts from the eigenvectors of singular matrices, which
any rounding turns: its fields on several devices agree to about 5e-4 after 20 steps.
"""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import pgt
from pgt.core.devices import by_rows, on_every_device, on_this_host, row_sharding

# Fits of each method in float64; prints what the fields are at some points.
FITS = """
import json, sys
import jax
import numpy as np
import pgt
from pgt.core.devices import by_rows, row_sharding
from pgt.nn.scaling import Scaling

random, domain = np.random.default_rng(0), pgt.Domain(x=(0, 1), t=(0, 1))
x, t = random.uniform(size=(2, 96))
u = np.sin(np.pi * x) * np.exp(-0.1 * np.pi**2 * t) + 0.05 * random.standard_normal(96)
readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})
scaling, points = Scaling.fit(readings, domain), random.uniform(size=(2, 20))
network = pgt.PINN(scaling, width=6, layers=1)
settings = {"precision": "float64", "collocation": 64, "hold_out": 0.0}
polish = pgt.Polish(iterations=5, points=64)
kinds = {
    "closed form": (pgt.Features(scaling, count=20, band=(5.0, 2.0)), pgt.Training()),
    "first order": (network, pgt.Training(steps=20, optimiser="adam", polish=False, **settings)),
    "second order": (network, pgt.Training(steps=0, polish=polish, **settings)),
}
found = {}
for devices in (1, 2, 4, 8):
    for name, (model, training) in kinds.items():
        result = pgt.reconstruct(
            readings, pgt.Heat(0.1), domain, model=model, training=training, progress=False,
            devices=devices,
        )
        values = np.asarray(result.at(x=points[0], t=points[1]).u, float)
        found.setdefault(name, []).append(values.tolist())
rows = by_rows(np.zeros((64, 2)), row_sharding(8))
found["rows per device"] = [shard.data.shape[0] for shard in rows.addressable_shards]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def fits():
    flags = "--xla_force_host_platform_device_count=8"
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FITS],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("method", ["closed form", "first order", "second order"])
def test_the_field_is_that_of_one_device(fits, method):
    alone, *shared = map(np.array, fits[method])
    assert len(shared) == 3
    for values in shared:
        np.testing.assert_allclose(values, alone, atol=1e-6)


def test_every_device_holds_its_share_of_the_rows(fits):
    assert fits["rows per device"] == [8] * 8


def test_one_device_changes_nothing():
    tree = {"rows": np.ones((4, 2)), "name": "u"}
    assert row_sharding(1) is None
    for place in (by_rows, on_every_device, on_this_host):
        assert place(tree, None) is tree


def test_more_devices_than_there_are_is_an_error():
    with pytest.raises(pgt.InputError, match=r"devices=9999: this program sees \d+ device"):
        row_sharding(9999)
