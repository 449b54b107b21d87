"""What a report shows of a result that was made by hand."""

from dataclasses import replace

import numpy as np
import pytest
from wavy_result import Wavy, result_with

import pgt
from pgt.io.columns import Columns
from pgt.runs.report import MAX_SUSPICIOUS, report_data, with_origins


@pytest.fixture(scope="module")
def result():
    whole = result_with(members=3)
    fitted, held_out = whole.observations.take(np.arange(40)), whole.held_out.take(np.arange(20))
    return replace(whole, observations=fitted, held_out=held_out)


@pytest.fixture(scope="module")
def shown(result):
    return report_data(result, result.grid(x=4, t=3), "seed = 0")


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
