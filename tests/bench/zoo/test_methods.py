"""Who competes, and who is compared with whom."""

import pytest

from pgt.bench.zoo.methods import METHODS, OURS, RIVALS, require_methods
from pgt.ground.errors import InputError


def test_rivals_come_from_elsewhere():
    assert OURS in METHODS
    assert {"rbf", "gp"} <= set(RIVALS)
    assert not {OURS, "features", "siren", "pgt"} & set(RIVALS)


def test_an_unknown_method_is_told():
    with pytest.raises(InputError, match="no method 'krig'; choose some of ours"):
        require_methods(("gp", "krig"))
