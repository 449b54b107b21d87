"""Equations without readings, and with so few that conditions determine the field."""

import numpy as np
import pytest
from mesh_problems import LINE, decay, heat_readings

import pgt

HEAT = "u_t = 0.1*u_xx"
CONDITIONS = (pgt.Initial(u="sin(pi*x)"), pgt.Dirichlet("x", u=0.0))
POINTS = LINE.even(500)


def error_of(result):
    truth = decay(*POINTS.T)
    return np.sqrt(np.mean((result.at(POINTS).u.to_numpy() - truth) ** 2)) / truth.std()


def test_a_solution_is_a_result_like_any_other(tmp_path):
    result = pgt.solve(HEAT, LINE, CONDITIONS, progress=False)
    stated = result.field_error["u"].value
    assert stated < 1e-6
    assert stated / 2 < error_of(result) < 2 * stated
    assert result.summary["stopped"] == "solved on a mesh"
    assert result.verdict().converged
    assert not result.doubts
    assert result.misfits().empty
    result.save(tmp_path / "rod")
    again = pgt.Reconstruction.load(tmp_path / "rod")
    assert np.array_equal(again.grid(x=7, t=3).u, result.grid(x=7, t=3).u)
    assert result.report(tmp_path / "report.html").exists()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_few_readings_judge_what_conditions_determine(count):
    readings = heat_readings(count, noise=0.0) if count else None
    result = pgt.reconstruct(readings, HEAT, LINE, CONDITIONS, progress=False)
    assert error_of(result) < 1e-6
    assert len(result.observations) == count


def test_what_is_not_determined_is_refused():
    with pytest.raises(pgt.InputError, match="upper end of x"):
        pgt.reconstruct(None, HEAT, LINE, CONDITIONS[:1])
    with pytest.raises(pgt.InputError, match="Initial"):
        pgt.solve(HEAT, LINE, CONDITIONS[1:])
    with pytest.raises(pgt.InputError, match="seconds"):
        pgt.solve(HEAT, LINE, CONDITIONS, seconds=1e-6)
    with pytest.raises(pgt.InputError, match="without bound"):
        pgt.solve("u_t = u^2", pgt.Domain(t=(0, 3)), [pgt.Initial(u=1.0)])
    with pytest.raises(pgt.InputError, match="error_bars"):
        pgt.reconstruct(None, HEAT, LINE, CONDITIONS, error_bars=pgt.Posterior(samples=4))


def test_readings_with_a_large_mean_judge_a_solution_in_their_own_units():
    readings = heat_readings(noise=0.01)
    raised = pgt.Observations.from_arrays(
        {"x": np.asarray(readings.points)[:, 0], "t": np.asarray(readings.points)[:, 1]},
        {"u": 1e4 + np.asarray(readings.values)[:, 0]},
    )
    conditions = (pgt.Initial(u="10000 + sin(pi*x)"), pgt.Dirichlet("x", u=1e4))
    result = pgt.reconstruct(raised, pgt.Heat(0.1), LINE, conditions, progress=False)
    assert result.record["plan"][0]["outcome"] == "kept"
    assert result.verdict().held_out["u"].rmse == pytest.approx(0.01, rel=0.3)
