"""Who competes, and who is compared with whom."""

import pytest

from pgt.core.errors import InputError
from pgt_bench.zoo.methods import BANDS, METHODS, OURS, RIVALS, Method, installed, require_methods


def test_rivals_come_from_elsewhere():
    assert OURS in METHODS
    assert {"rbf", "gp", "jinns"} == set(RIVALS)
    assert not {OURS, "features", "siren", "pgt"} & set(RIVALS)


def test_all_but_the_bands_compete():
    assert [name for name, method in METHODS.items() if not method.competes] == [BANDS]


def test_an_unknown_method_is_told():
    with pytest.raises(InputError, match="no method 'krig'; choose some of ours"):
        require_methods(("gp", "krig"))


def test_a_method_whose_package_is_missing_is_told(monkeypatch):
    monkeypatch.setitem(METHODS, "far", Method("far", lambda asked: None, True, ("no_such_thing",)))
    assert "far" not in installed()
    with pytest.raises(InputError, match="'far' needs no_such_thing; install"):
        require_methods(("far",))
