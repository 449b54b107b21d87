"""A folder with work in progress is no result, and that is said."""

import numpy as np
import pytest

import pgt
from pgt.ground import serialise
from pgt.reconstruction.result import FILE
from pgt.reconstruction.stored import load_stored
from pgt.training.checkpoint import NAME


def test_a_checkpoint_is_no_result(tmp_path):
    serialise.save(tmp_path, NAME, {"layout": 3, "arrays": [np.zeros(2)]})
    with pytest.raises(pgt.InputError, match=r"holds a checkpoint.*--resume"):
        pgt.Reconstruction.load(tmp_path)
    for end in ("safetensors", "json"):
        (tmp_path / f"{NAME}.{end}").rename(tmp_path / f"{FILE}.{end}")
    with pytest.raises(pgt.InputError, match=r"holds a dict, not a Reconstruction"):
        pgt.Reconstruction.load(tmp_path)


def test_what_is_of_the_kind_is_loaded(tmp_path):
    serialise.save(tmp_path, "state", (1, 2))
    assert load_stored(tmp_path, "state", tuple) == (1, 2)
