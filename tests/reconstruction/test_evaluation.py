"""Many points cost little more memory than few: they are computed a chunk at a time."""

import dataclasses
import json
from pathlib import Path

import fresh_python
import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.uncertainty.field_error import domain_points

READINGS, MANY, ROWS = 100, 10**6, 3 * 10**5
# What is held whole: positions, line numbers, values; in float64 a few tens of bytes a point. All at
# once, the attention of every point to every reading alone would take 400 bytes a point and head.
BYTES_A_POINT = 150

STATUS = Path("/proc/self/status")
MEASURE = r"""
import json, re, sys
from pathlib import Path
from pgt.cli import app

def predict(*words):
    try:
        app(["predict", *words])
    except SystemExit as end:
        assert not end.code
    # Of this program alone: what getrusage tells begins with the peak of the process that started it.
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1])

predict("run", "--grid", "x=100,t=100", "-o", "few.nc")
few = predict("run", "--points", "few.csv", "-o", "few_values.csv")
grid = predict("run", "--grid", "x=1000,t=1000", "-o", "many.nc")
points = predict("run", "--points", "many.csv", "-o", "many_values.csv")
print(json.dumps({"grid": grid - few, "points": points - few}))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    here = tmp_path_factory.mktemp("memory")
    readings = pgt.sample(pgt.datasets.heat(), READINGS)
    domain, pde = pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Heat(0.01)
    model = pgt.PGT.for_problem(readings, pde, domain, width=8, blocks=1, decoder_width=4)
    nothing = readings.take(np.zeros(0, int))
    pgt.Reconstruction(model, pde, readings, nothing, {"history": {}}, domain).save(here / "run")
    rows = np.random.default_rng(0).integers(0, 10**4, (ROWS, 2)) / 10**4
    text = "\n".join(f"{x},{t}" for x, t in rows.tolist())
    (here / "many.csv").write_text(f"x,t\n{text}\n")
    few = text.splitlines()[: 10**4]
    (here / "few.csv").write_text("\n".join(["x,t", *few]) + "\n")
    return here


@pytest.mark.skipif(not STATUS.exists(), reason="the peak of a program is read from /proc")
@pytest.mark.slow
def test_memory_stays_bounded_and_the_answers_are_the_same(folder):
    found = fresh_python.run("-c", MEASURE, folder=folder)
    assert found.returncode == 0, found.stderr
    growth = json.loads(found.stdout.splitlines()[-1])
    assert growth["grid"] > 8 * MANY, "ten thousand points held as much: nothing was measured"
    assert growth["grid"] < BYTES_A_POINT * MANY, growth
    assert growth["points"] < BYTES_A_POINT * (MANY + ROWS), growth
    result = pgt.Reconstruction.load(folder / "run")
    with xr.open_dataset(folder / "many.nc", engine="h5netcdf") as field:
        assert dict(field.sizes) == {"t": 1000, "x": 1000}
        some = field.isel(x=[0, 500, 999], t=[3, 998])
        again = result.grid(x=some.x.values, t=some.t.values)
        np.testing.assert_allclose(some.u, again.u, rtol=1e-4, atol=1e-5)
    last = (folder / "many_values.csv").read_text().splitlines()[-1]
    x, t, u = map(float, last.split(","))
    np.testing.assert_allclose(result.at([[x, t]]).u, [u], rtol=1e-4, atol=1e-5)


def test_points_beyond_a_shape_are_said_to_have_no_answer():
    ring = pgt.Domain(x=(-1, 1), y=(-1, 1), shape=-pgt.shapes.Disk(radius=0.3, name="hole"))
    x, y = ring.even(12).T
    readings = pgt.Observations.from_arrays({"x": x, "y": y}, {"u": x + y})
    model = pgt.Features(pgt.Scaling.fit(readings, ring), count=20, band=2.0, domain=ring)
    result = pgt.reconstruct(readings, pgt.Laplace(), ring, model=model, progress=False)
    with pytest.warns(pgt.DoubtWarning, match="the answer is NaN"):
        answer = result.at(x=[0.5, 9.0], y=[0.5, 9.0])
    assert np.isnan(answer.u.to_numpy()).tolist() == [False, True]


def test_a_residual_that_is_left_over_says_how_far_it_may_move_a_coefficient():
    """The field exp(-0.3 t) sin x obeys u_t = 0.3 u_xx: a coefficient of 0.2 is a half too small."""
    domain = pgt.Domain(x=(0, 3), t=(0, 1))
    x, t = np.random.default_rng(0).uniform((0, 0), (3, 1), (300, 2)).T
    readings = {"x": x, "t": t, "u": np.exp(-0.3 * t) * np.sin(x)}
    exact = pgt.reconstruct(readings, pgt.Heat(0.3), domain, progress=False)

    def moves(diffusivity):
        pde = pgt.Heat(pgt.Unknown(diffusivity, positive=True))
        return dataclasses.replace(exact.evaluation, pde=pde).coefficient_shifts(
            domain_points(domain)
        )

    assert moves(0.2)["diffusivity"] == pytest.approx(0.5, rel=0.05)
    assert moves(0.3)["diffusivity"] < 1e-4
