"""A result with more readings: the same as all of them at once, at the same numbers of the prior."""

import dataclasses

import numpy as np
import pytest

import pgt
from pgt.methods.closed_form.band_solution import node_count
from pgt.methods.closed_form.design_rows import rows_of


def heat_readings(count=90, noise=0.02, seed=0):
    random = np.random.default_rng(seed)
    x, t = random.random((2, count))
    u = np.exp(-0.1 * np.pi**2 * t) * np.sin(np.pi * x)
    values = u + noise * random.standard_normal(count)
    return pgt.Observations.from_arrays({"x": x, "t": t}, {"u": values})


BOX = {"x": (0, 1), "t": (0, 1)}


@pytest.mark.parametrize("model", [{"name": "features", "count": 30}, {"name": "solver"}], ids=str)
def test_half_of_the_readings_and_then_the_others_are_as_good_as_all(model):
    readings = heat_readings()
    thirds = [readings.take(range(k, 90, 3)) for k in range(3)]
    first = pgt.reconstruct(thirds[0], "u_t = 0.1*u_xx", BOX, model=model)
    twice = first.update(thirds[1]).update(thirds[2])
    once = first.update(thirds[1].joined(thirds[2]))
    grid = {"x": 9, "t": 9}
    np.testing.assert_allclose(twice.grid(**grid).u, once.grid(**grid).u, atol=1e-12)
    assert len(twice.observations) == 90
    assert twice.field_error["u"].value < 0.8 * first.field_error["u"].value
    assert abs(twice.field_error["u"].value / once.field_error["u"].value - 1) < 1e-9


def test_an_update_of_a_linear_problem_is_one_solve_with_all_readings():
    """At the same band, ρ, s and σ the weights are those of an independent solution of all rows."""
    readings = heat_readings()
    first = pgt.reconstruct(
        readings.take(range(45)),
        "u_t = 0.1*u_xx",
        BOX,
        model={"name": "features", "band": 3.0, "count": 60},
    )
    result = first.update(readings.take(range(45, 90)))
    (fit,) = getattr(result.continuation.earlier, "parts", [result.continuation.earlier])
    posterior, plan = fit.posterior, result.continuation.plan
    rows = rows_of(fit.model, plan.pde, plan.first.problem, node_count(fit.model, plan.first))
    stiffness = np.sqrt(10.0**posterior.log_stiffness) * rows.equation
    stacked = np.concatenate(
        [
            rows.readings / posterior.sigma,
            np.concatenate([stiffness, np.eye(stiffness.shape[1])]) / np.sqrt(posterior.scale),
        ]
    )
    values = np.zeros(len(stacked))
    values[: len(rows.values)] = rows.values / posterior.sigma
    independent = np.linalg.lstsq(stacked, values, rcond=None)[0]
    assert len(rows.values) == 90
    difference = rows.readings @ (independent - posterior.weights)
    assert np.abs(difference).max() < 1e-8


def test_a_network_goes_on_from_its_weights_and_keeps_what_it_held_out(tmp_path):
    readings = heat_readings()
    result = pgt.reconstruct(
        readings.take(range(60)), pgt.Heat(0.1), BOX, model={"name": "pinn", "width": 8, "layers": 2},
        training=pgt.Training(polish=pgt.Polish(iterations=20)),
    )  # fmt: skip
    later = result.update(readings.take(range(60, 90)))
    assert later.stages[0].costs[0] < 0.2 * result.stages[0].costs[0]
    before, after = ({tuple(p) for p in np.asarray(r.held_out.points)} for r in (result, later))
    assert before < after
    assert len(later.observations) + len(later.held_out) == 90
    result.save(tmp_path)
    with pytest.raises(pgt.InputError, match="loaded, pickled or made by hand"):
        pgt.Reconstruction.load(tmp_path).update(readings)


def test_readings_of_another_problem_are_not_joined():
    readings = heat_readings(4)
    with pytest.raises(pgt.InputError, match="units"):
        dataclasses.replace(readings, units=(("u", "m"),)).joined(
            dataclasses.replace(readings, units=(("u", "K"),))
        )
    wide = dataclasses.replace(readings, half_width=np.ones((4, 2)))
    assert readings.joined(wide).half_width[:, 0].tolist() == [0.0] * 4 + [1.0] * 4
