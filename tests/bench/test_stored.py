"""Records come back as they were written."""

import math

import pytest

from pgt.core.errors import InputError
from pgt_bench.stored import read_record, write_record


def test_a_record_survives_the_file(tmp_path):
    path = tmp_path / "deep" / "run.json"
    write_record(path, {"errors": {"u": 0.5, "p": math.nan}, 3: (1, math.inf)})
    assert read_record(path) == {"errors": {"u": 0.5, "p": None}, "3": [1, None]}


def test_a_record_that_is_broken_is_named(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"errors": ')
    with pytest.raises(InputError, match=r"run\.json: .*delete the file"):
        read_record(path)
