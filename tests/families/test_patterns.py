"""A family as a Gaussian: readings decide in closed form."""

import jax
import numpy as np
import pytest
import xarray as xr

import pgt
from pgt.families.patterns import Patterns, learn_patterns

AXES = {"x": np.linspace(0, 2, 12), "y": np.linspace(-1, 1, 7), "t": np.linspace(0, 4, 41)}
NUMBERS = (0.5, 0.6, 0.7, 0.8, 1.0)
NEW = 0.9  # not among them
INSTANTS = np.linspace(0, 0.5, 5)


def fields(number, t, phase=0.0):
    """Waves that go along, their length and period depending on a number."""
    x, y, t = np.meshgrid(AXES["x"], AXES["y"], t, indexing="ij")
    angle = 2 * np.pi * (number * x / 2 - t / (1 + number) - phase)
    u = 1 + np.exp(-(y**2)) * (np.sin(angle) + 0.2 * np.cos(2 * angle))
    return np.stack([u, number * np.cos(angle), y * np.sin(angle)], axis=-1)


@pytest.fixture(scope="module")
def patterns(tmp_path_factory):
    folder = tmp_path_factory.mktemp("waves")
    for number in NUMBERS:
        values = fields(number, AXES["t"])
        parts = {name: (("x", "y", "t"), values[..., c]) for c, name in enumerate("uvp")}
        dataset = xr.Dataset(parts, AXES, {"viscosity": number})
        pgt.io.write_field(dataset, folder / f"{number}.nc")
    names = ["viscosity"]
    family = pgt.families.Cycles(folder, pgt.NavierStokes2D, names, span=0.5, harmonics=2)
    return learn_patterns(family, 24, reads=("u", "v"), sensors=16)


def sensed(noise=0.0, phase=0.3):
    """Twenty sensors that read u and v of an unseen system at five instants; and all of it."""
    truth = fields(NEW, INSTANTS, phase)
    lines = [AXES["x"], AXES["y"], INSTANTS]
    nodes = np.stack([m.ravel() for m in np.meshgrid(*lines, indexing="ij")], axis=-1)
    draw = np.random.default_rng(1)
    stands = draw.choice(12 * 7, 20, replace=False)
    rows = (stands[:, None] * 5 + np.arange(5)).ravel()
    flat = truth.reshape(-1, 3)
    read = flat[rows] + noise * draw.normal(size=(len(rows), 3))
    read[:, 2] = np.nan
    return nodes, flat, nodes[rows], read


def error(said, truth):
    return np.linalg.norm(said.mean - truth) / np.linalg.norm(truth)


def test_an_unseen_system_is_found_with_a_field_that_nobody_reads(patterns):
    nodes, truth, points, read = sensed()
    said = patterns.answer(points, read, {"viscosity": NEW}, nodes)
    assert error(said, truth) < 0.02
    assert said.outside == []


def test_noise_is_found_and_bands_hold_the_truth(patterns):
    nodes, truth, points, read = sensed(noise=0.05)
    said = patterns.answer(points, read, {"viscosity": NEW}, nodes)
    assert error(said, truth) < 0.05
    assert ((said.low <= truth) & (truth <= said.high)).mean() > 0.7


def test_between_the_nodes_fields_are_interpolated(patterns):
    nodes, truth, points, read = sensed()
    away = points + np.where(points[:, :1] < 1, [[0.03, 0.0, 0.0]], [[-0.03, 0.0, 0.0]])
    on, off = (patterns.answer(p, read, {}, nodes) for p in (points, away))
    assert error(off, truth) < 0.2  # readings of places beside: worse, but no nonsense
    assert error(on, truth) < error(off, truth)
    middle = nodes[:50] + np.array([0.05, 0.0, 0.0])
    found = patterns.answer(points, read, {}, middle).mean[:, 0]
    assert (np.abs(found - truth[:50, 0]) < 0.5).all()


def test_readings_as_observations_become_a_grid(patterns):
    _, truth, points, read = sensed()
    readings = pgt.Observations.from_arrays(
        dict(zip("xyt", points.T, strict=True)), {"u": read[:, 0], "v": read[:, 1]}
    )
    found = patterns(readings, {"viscosity": NEW}).grid(**patterns.family.axes)
    np.testing.assert_allclose(found.u.values.ravel(), truth[:, 0], atol=0.05)
    assert (found.p_low <= found.p_high).all()


def test_what_is_strange_is_said(patterns):
    nodes, _, points, read = sensed()
    said = patterns.answer(points, read, {"viscosity": 3.0}, nodes)
    assert any("viscosity is 3" in sentence for sentence in said.outside)
    other = np.random.default_rng(0).normal(size=read.shape)
    assert any(
        "misses" in sentence for sentence in patterns.answer(points, other, {}, nodes).outside
    )
    with pytest.raises(pgt.InputError, match="no reading"):
        patterns.answer(points, np.full_like(read, np.nan), {}, nodes)


def test_a_file_gives_the_same_answers(patterns, tmp_path):
    nodes, _, points, read = sensed()
    patterns.save(tmp_path / "waves.safetensors")
    again = Patterns.load(tmp_path / "waves.safetensors")
    ours, theirs = (p.answer(points, read, {}, nodes).mean for p in (patterns, again))
    np.testing.assert_allclose(ours, theirs, atol=0.02)  # in half precision
    assert again.reads == ("u", "v")
    assert again.judged == patterns.judged
    drawn = again.family.draw(jax.random.key(0), {"viscosity": 0.72})
    assert float(drawn.coefficients["viscosity"]) == pytest.approx(0.7)


def test_what_patterns_are_not_to_come_from_is_new_to_them(patterns):
    fewer = learn_patterns(patterns.family, 24, ("u", "v"), sensors=16, without={"viscosity": 0.7})
    assert fewer.without == {"viscosity": 0.7}
    system = patterns.family.draw(jax.random.key(1), {"viscosity": 0.7})
    whole = np.asarray(system.values).reshape(-1, 3)
    nodes, _, points, _ = sensed()
    rows = [int(np.argmin(np.abs(nodes - p).sum(axis=1))) for p in points]
    read = np.where([True, True, False], whole[rows], np.nan)
    seen, new = (error(p.answer(points, read, {}, nodes), whole) for p in (patterns, fewer))
    assert seen < new < 0.05


def test_patterns_of_simulations_on_uneven_nodes_are_the_same_from_a_file(tmp_path):
    x, t = np.linspace(0, 1, 12) ** 2, np.linspace(0, 1, 9)
    draw = np.random.default_rng(0)
    for i, (a, b) in enumerate(draw.normal(size=(6, 2))):
        u = a * np.outer(np.sin(3 * x), np.exp(-t)) + b * np.outer(x, 1 + t)
        dataset = xr.Dataset({"u": (("x", "t"), u)}, {"x": x, "t": t}, {"diffusivity": 0.1})
        pgt.io.write_field(dataset, tmp_path / f"{i}.nc")
    family = pgt.families.Simulations(tmp_path, pgt.Heat, ["diffusivity"])
    patterns = learn_patterns(family, 4, sensors=4)
    patterns.save(tmp_path / "rods.safetensors")
    again = Patterns.load(tmp_path / "rods.safetensors")

    points = draw.uniform(0.05, 0.95, (30, 2))
    read = (2 * np.sin(3 * points[:, 0]) * np.exp(-points[:, 1]))[:, None]
    at = draw.uniform(0.05, 0.95, (50, 2))
    truth = (2 * np.sin(3 * at[:, 0]) * np.exp(-at[:, 1]))[:, None]
    for found in (patterns, again):
        assert error(found.answer(points, read, {}, at), truth) < 1e-2


def test_systems_that_do_not_fit_into_memory_are_not_drawn(monkeypatch):
    monkeypatch.setattr("pgt.ground.memory.available_memory", lambda: 1e5)
    with pytest.raises(pgt.InputError, match=r"patterns of 45 values: this needs .* fewer nodes"):
        learn_patterns(pgt.families.get("heat", nodes=9, times=5), count=3)
