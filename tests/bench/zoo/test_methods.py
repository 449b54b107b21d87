"""Who competes, and who is compared with whom."""

import pytest

from pgt.core.errors import InputError
from pgt_bench.zoo.methods import METHODS, Method, installed, require_methods


def test_a_method_whose_package_is_missing_is_told(monkeypatch):
    monkeypatch.setitem(METHODS, "far", Method("far", lambda asked: None, True, ("no_such_thing",)))
    assert "far" not in installed()
    with pytest.raises(InputError, match="'far' needs no_such_thing; install"):
        require_methods(("far",))
