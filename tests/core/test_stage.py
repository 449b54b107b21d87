"""Stages of a fit and their record."""

import json

from pgt.core.stage import Stage, stages_of


def test_a_stage_survives_its_record():
    stages = (
        Stage("Gauss-Newton", (4.0, 1.0), 2.0, "noise"),
        Stage("under a prior", (9.0, 3.0, 2.0), 0.5, "iterations"),
    )
    record = json.loads(json.dumps({"stages": [stage.plain for stage in stages]}))
    assert stages_of(record) == stages
    assert [stage.iterations for stage in stages] == [1, 2]


def test_a_record_without_stages_has_none():
    assert stages_of({}) == stages_of({"stages": []}) == ()
