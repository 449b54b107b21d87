"""Tests run whatever other libraries call their private parts."""

from types import SimpleNamespace

import jax
import private_names
import pytest
from private_names import SHARED_SINCE, SHARING, exchange, make_tests_cheaper, shared


@pytest.mark.parametrize(
    ("module", "name"),
    [("jax._src.gone", "make_ir_context"), ("jax", "gone"), ("jax", "__version_info__")],
)
def test_what_is_not_there_is_left_alone(module, name):
    before = getattr(jax, name, None)
    assert not exchange(module, name, lambda known: None, arguments=0)
    assert getattr(jax, name, None) is before


def test_what_takes_other_arguments_is_left_alone():
    module = SimpleNamespace(make=lambda device: 1)
    assert not exchange(module, "make", lambda known: None, arguments=0)
    assert module.make(0) == 1
    assert exchange(module, "make", lambda known: lambda device: 2 * known(device), arguments=1)
    assert module.make(0) == 2


def test_versions_that_share_contexts_are_let_do_so(monkeypatch):
    asked = []
    monkeypatch.setattr(private_names, "exchange", lambda *what, **how: asked.append(what[1]))
    make_tests_cheaper((0, 10, 2))
    assert asked == ["make_ir_context", "_get_command"]
    for later in (SHARED_SINCE, (0, 12, 0, 1)):
        asked.clear()
        make_tests_cheaper(later)
        assert asked == ["_get_command"]


def test_programs_share_a_context_for_a_while():
    made = iter(range(10))
    context = shared(lambda: next(made))
    assert [context() for _ in range(SHARING + 1)] == [0] * SHARING + [1]
