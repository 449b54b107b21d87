"""Records come back as they were written."""

import math

from pgt.bench.stored import read_record, write_record


def test_a_record_survives_the_file(tmp_path):
    path = tmp_path / "deep" / "run.json"
    write_record(path, {"errors": {"u": 0.5, "p": math.nan}, 3: (1, math.inf)})
    assert read_record(path) == {"errors": {"u": 0.5, "p": None}, "3": [1, None]}
