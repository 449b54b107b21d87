"""What a report shows of a result that was made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from wavy_result import Wavy, result_with

import pgt
from pgt.io.columns import Columns
from pgt.runs.report import MAX_SUSPICIOUS, described, report_data, with_origins


@pytest.fixture(scope="module")
def result():
    whole = result_with(members=3)
    fitted, held_out = whole.observations.take(np.arange(40)), whole.held_out.take(np.arange(20))
    return replace(whole, observations=fitted, held_out=held_out)


@pytest.fixture(scope="module")
def shown(result):
    return report_data(result, result.grid(x=4, t=3), "seed = 0")


def test_the_fields_of_the_equation_and_their_bars_are_shown(result, shown):
    assert set(shown.field) == set(shown.error_bars) == {"u", "v", "p"}
    assert dict(shown.field.sizes) == dict(shown.residual.sizes) == {"t": 3, "x": 4}
    np.testing.assert_array_equal(shown.error_bars.u, result.grid(x=4, t=3).u_std)
    assert shown.run_file == "seed = 0"
    assert shown.verdict == result.verdict()


def test_readings_held_out_judge_and_few_are_named(result, shown):
    assert shown.readings.judges is result.held_out
    said = result.predict_readings(result.held_out)
    np.testing.assert_allclose(shown.readings.predictions, said, rtol=1e-6)
    assert len(shown.tables.suspicious) <= MAX_SUSPICIOUS
    assert shown.tables.noise["u"] == pytest.approx(0.3, rel=0.4)
    assert shown.tables.coverage is not None


def test_a_suspect_is_called_by_its_sensor_and_its_line(result, tmp_path):
    values = np.array(result.observations.values, float)
    values[3, 0] += 50.0
    spoilt = replace(result.observations, values=values)
    x, t = np.asarray(spoilt.points, float).T
    columns = Columns(
        {"x": x, "t": t, "u": values[:, 0]}, lines=np.arange(2, 42),
        sensors=np.array([f"TC{k}" for k in range(40)], object),
    )  # fmt: skip
    with_origins(replace(result, observations=spoilt, members=None), columns).save(tmp_path)
    alone = pgt.Reconstruction.load(tmp_path, classes=[Wavy])  # as `pgt report` does
    assert alone.suspicious(1)[["sensor", "line"]].iloc[0].tolist() == ["TC3", "5"]
    assert any("(sensor TC3, line 5)" in doubt.sentence for doubt in alone.doubts)
    shown = report_data(alone, alone.grid(x=4, t=3))
    assert shown.tables.suspicious[["sensor", "line"]].iloc[0].tolist() == ["TC3", "5"]
    assert any("(sensor TC3, line 5)" in doubt.sentence for doubt in shown.verdict.doubts)


def test_the_equation_stands_on_top_with_its_coefficients(shown):
    assert shown.summary["equation"] == "u_t = v_x + p_x; v_t = u_x; p_t = v_x"
    assert described(pgt.Heat(0.01)) == "Heat in x, t: diffusivity = 0.01"
    units = {"diffusivity": "m2 s-1"}
    assert described(pgt.Heat(0.01), units=units) == "Heat in x, t: diffusivity = 0.01 m2 s-1"
    learnt = pgt.Equation("u_t = k*u_xx + c", k=pgt.Unknown(1.0), c=0.5)
    assert described(learnt, {"k": 0.25}) == "u_t = k*u_xx + c: c = 0.5, k = 0.25 (learnt)"
