import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.figure import Figure

from pgt import plots
from pgt.core.errors import InputError
from pgt.data.observations import Observations

# ------------------------------------------------------------------------------- figures

X, Y, T = np.linspace(0, 1, 11), np.linspace(-1, 1, 7), np.linspace(0, 2, 9)


def heat():
    values = np.sin(2 * np.pi * X)[:, None] * np.exp(-T)
    u = (("x", "t"), values, {"long_name": "temperature", "units": "K"})
    return xr.Dataset({"u": u}, {"x": ("x", X, {"units": "m"}), "t": ("t", T, {"units": "s"})})


def flow():
    t, y, x = np.meshgrid(T, Y, X, indexing="ij")
    fields = {"u": 1 + x * y + t, "v": x - 0.5 + 0 * t}
    fields = {name: (("t", "y", "x"), values) for name, values in fields.items()}
    return xr.Dataset(fields, {"x": X, "y": Y, "t": T})


def space():
    z = xr.DataArray(np.linspace(0, 3, 5), dims="z")
    return (flow() + z).assign_coords(z=z)


def drawn(axes, kind):
    return [item for item in axes.collections if isinstance(item, kind)]


def test_a_field_over_x_and_t_is_one_map_with_its_sensors():
    sensors = Observations.from_arrays({"x": [0.2, 0.4], "t": [0.5, 1.5]}, {"u": [1.0, np.nan]})
    axes = plots.field(heat(), sensors=sensors).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("$t$ (s)", "$x$ (m)")
    (mesh,), (dots,) = drawn(axes, QuadMesh), drawn(axes, PathCollection)
    np.testing.assert_allclose(mesh.get_array(), heat().u)  # rows x (up), columns t (across)
    np.testing.assert_allclose(dots.get_offsets(), [[0.5, 0.2]])  # the hidden reading is absent


def test_a_field_in_space_is_three_planes_through_its_middle():
    points = {"x": [0.5, 0.9], "y": [0.1, 0.2], "z": [1.5, 3.0], "t": [1.0, 1.0]}
    sensors = Observations.from_arrays(points, {"u": [1.0, 2.0]})
    figure = plots.field(space(), "u", sensors=sensors)
    found = [axes for axes in figure.axes if drawn(axes, QuadMesh)][:3]
    labels = [(axes.get_xlabel(), axes.get_ylabel()) for axes in found]
    assert labels == [("$x$", "$y$"), ("$x$", "$z$"), ("$y$", "$z$")]
    assert {"$z$ = 1.5", "$t$ = 1"} == set(found[0].get_title().split(", "))
    middle = space().u.isel(t=4, z=2).transpose("y", "x")
    np.testing.assert_allclose(drawn(found[0], QuadMesh)[0].get_array(), middle)
    np.testing.assert_allclose(drawn(found[0], PathCollection)[0].get_offsets(), [[0.5, 0.1]])
    at_once = plots.field(space().isel(t=0), "u")
    assert len([axes for axes in at_once.axes if drawn(axes, QuadMesh)]) >= 3


@pytest.mark.parametrize("at", [None, {"t": 1.0}])
def test_compare_shares_colours_and_reports_the_error(at):
    truth, estimate = flow(), flow() * 1.01
    axes = plots.compare(truth, estimate, at=at).axes
    meshes = [drawn(panel, QuadMesh)[0] for panel in axes[:3]]
    assert meshes[0].get_clim() == meshes[1].get_clim()
    assert r"1.0\times10^{-2}" in axes[2].get_title()
    np.testing.assert_allclose(meshes[2].get_array(), 0.01 * truth.u.sel(t=1.0))


def history_of_figures(steps=300):
    step = np.arange(1, steps + 1)
    held_out = np.where(step % 50 == 0, 1.0 / step, np.nan)
    losses = np.stack([1.0 / step, 3.0 / step, 5.0 / step], axis=1)
    return xr.Dataset(
        {"loss": (("step", "term"), losses), "held_out": ("step", held_out)},
        {"step": step, "term": ["data", "heat", "ic"]},
    )


def test_save_replaces_in_one_piece(tmp_path, monkeypatch):
    figure = plots.field(heat())
    path = plots.save(figure, tmp_path / "new" / "u.png", dpi=50)
    before = path.read_bytes()
    assert before.startswith(b"\x89PNG")

    def fail(file, **options):
        Path(file).write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        plots.save(figure, path)
    assert path.read_bytes() == before
    assert [item.name for item in path.parent.iterdir()] == ["u.png"]


def test_no_global_figures():
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.field(heat(), "w"), "'w'.*holds.*'u'"),
        (lambda: plots.field(heat(), at={"t": 5.0}), "'t'.*0 to 2"),
        (lambda: plots.field(heat(), at={"z": 5.0}), "'z'.*axes"),
        (lambda: plots.field(space(), "u", at={"t": [0.0, 1.0]}), "one or two"),
        (lambda: plots.field(flow(), sensors=Observations.from_arrays({"x": [0.1]}, {"u": [1.0]})),
         "sensors have the axes"),
        (lambda: plots.compare(heat(), heat().isel(x=slice(5))), "different grids"),
        (lambda: plots.compare(flow(), flow(), at={"t": [0.0, 1.0]}), "one value"),
        (lambda: plots.convergence(history_of_figures() * 0), "'data' has no positive value"),
        (lambda: plots.convergence(history_of_figures(), ["data", "bc"]), r"\['bc'\].*holds.*'heat'"),
    ],
)  # fmt: skip
def test_mistakes_are_named(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_readings_are_coloured_and_suspects_ringed_by_their_number():
    u = xr.Dataset({"u": (("x", "t"), np.eye(3))}, {"x": np.arange(3.0), "t": np.arange(3.0)})
    points = np.array([[0.0, 1.0], [1.0, 2.0], [2.0, 0.5]])
    read = Observations.from_arrays(points, points[:, :1], coords=("x", "t"), fields=("u",))
    suspects = pd.DataFrame({"x": [1.0], "t": [2.0], "field": ["u"], "reading": [1.0]})
    figure = plots.field(u, sensors=read.take([0, 1]), held_out=read.take([2]), suspects=suspects)
    _, fitted, held_out, ring = figure.axes[0].collections
    assert fitted.get_array().tolist() == [0.0, 1.0]
    assert held_out.get_array().tolist() == [2.0]
    assert ring.get_offsets().tolist() == [[2.0, 1.0]]  # time runs to the right
    assert [text.get_text() for text in figure.axes[0].texts] == ["1"]
    for names, shown in (
        ({"sensor": "T$1", "line": "7"}, "T$1, line 7"),
        ({"line": "7"}, "line 7"),
    ):
        figure = plots.field(u, suspects=suspects.assign(**names))
        figure.canvas.draw()  # a dollar is no formula
        assert [t.get_text().replace("\\$", "$") for t in figure.axes[0].texts] == [shown]


def test_a_folder_is_no_place_for_a_picture(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="name another place"):
        plots.save(Figure(), "")
