"""Rows divided over devices: the same numbers as on one, on devices that the CPU simulates.

First-order steps are compared with Adam. SOAP starts from the eigenvectors of singular matrices, which
any rounding turns: its fields on several devices agree to about 5e-4 after 20 steps.
"""

import json
import os
import socket
import subprocess
import sys
import time

import numpy as np
import pytest

import pgt
from pgt.core.devices import by_rows, on_every_device, on_this_host, row_sharding

# Fits of each method in float64; prints what the fields are at some points.
FITS = """
import json, sys, time
hosts, number, port = (int(word) for word in sys.argv[1:4])
from pgt.core.devices import by_rows, join_hosts, row_sharding
if hosts > 1:
    join_hosts(f"127.0.0.1:{port}", hosts, number)
import numpy as np
import pgt
from pgt.data.reading_stream import ReadingStream
from pgt.nn.scaling import Scaling

random, domain = np.random.default_rng(0), pgt.Domain(x=(0, 1), t=(0, 1))
x, t = random.uniform(size=(2, 96))
u = np.sin(np.pi * x) * np.exp(-0.1 * np.pi**2 * t) + 0.05 * random.standard_normal(96)
readings = pgt.Observations.from_arrays({"x": x, "t": t}, {"u": u})
scaling, points = Scaling.fit(readings, domain), random.uniform(size=(2, 20))
network, sines = pgt.PINN(scaling, width=6, layers=1), pgt.Features(scaling, count=20, band=(5.0, 2.0))
settings = {"precision": "float64", "collocation": 64, "hold_out": 0.0}
polish = pgt.Polish(iterations=5, points=64)
first = pgt.Training(steps=20, optimiser="adam", polish=False, **settings)
kinds = {
    "closed form": (readings, sines, pgt.Training()),
    "stream": (ReadingStream.of(readings, rows=20), sines, pgt.Training()),
    "first order": (readings, network, first),
    "second order": (readings, network, pgt.Training(steps=0, polish=polish, **settings)),
}
found = {}
for devices in (1, 2, 4, 8) if hosts == 1 else (None,):
    for name, (given, model, training) in kinds.items():
        result = pgt.reconstruct(
            given, pgt.Heat(0.1), domain, model=model, training=training, progress=False,
            devices=devices,
        )
        values = np.asarray(result.at(x=points[0], t=points[1]).u, float)
        found.setdefault(name, []).append(values.tolist())
rows = by_rows(np.zeros((64, 2)), row_sharding())
found["rows per device"] = [shard.data.shape[0] for shard in rows.addressable_shards]
print(json.dumps(found), flush=True)
if hosts > 1 and "killed" in sys.argv:
    if number == 1:
        import os
        os._exit(9)
    pgt.reconstruct(readings, pgt.Heat(0.1), domain, model=network, training=first, progress=False)
"""
METHODS = ("closed form", "stream", "first order", "second order")
SECONDS = 900  # for one program, on a busy machine


def start(devices: int, hosts: int = 1, number: int = 0, port: int = 0, *words: str):
    flags = f"--xla_force_host_platform_device_count={devices}"
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", FITS, *map(str, (hosts, number, port)), *words],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def printed(process) -> dict:
    out, errors = process.communicate(timeout=SECONDS)
    lines = [line for line in out.splitlines() if line.startswith("{")]
    assert lines, errors[-3000:]
    return json.loads(lines[-1])


@pytest.fixture(scope="module")
def fits():
    return printed(start(8))


@pytest.fixture(scope="module")
def hosts():
    """What two processes with two devices each print; the second is killed, and the first goes on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    processes = [start(2, 2, number, port, "killed") for number in (0, 1)]
    second = printed(processes[1])
    lost = time.monotonic()
    out, errors = processes[0].communicate(timeout=SECONDS)
    first = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    return first, second, time.monotonic() - lost, processes[0].returncode, errors


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_field_is_that_of_one_device(fits, method):
    alone, *shared = map(np.array, fits[method])
    assert len(shared) == 3
    for values in shared:
        np.testing.assert_allclose(values, alone, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
def test_the_field_of_two_hosts_is_that_of_one_device(fits, hosts, method):
    for found in hosts[:2]:
        np.testing.assert_allclose(found[method][0], fits[method][0], atol=1e-6)


@pytest.mark.slow
def test_every_device_holds_its_share_of_the_rows(fits, hosts):
    assert fits["rows per device"] == [8] * 8
    assert hosts[0]["rows per device"] == [16] * 2


@pytest.mark.slow
def test_a_host_that_dies_ends_the_other_with_a_message(hosts):
    *_, seconds, code, errors = hosts
    assert code != 0
    assert seconds < 60
    assert "Connection closed by peer" in errors or "heartbeat" in errors or "task" in errors


def test_one_device_changes_nothing():
    tree = {"rows": np.ones((4, 2)), "name": "u"}
    assert row_sharding(1) is None
    for place in (by_rows, on_every_device, on_this_host):
        assert place(tree, None) is tree


def test_more_devices_than_there_are_is_an_error():
    with pytest.raises(pgt.InputError, match=r"devices=9999: this program sees \d+ device"):
        row_sharding(9999)
