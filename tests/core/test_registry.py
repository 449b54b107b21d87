"""What may be registered, under which names, and how installed packages are found."""

import pytest

import pgt
from pgt.core import registry


@pytest.fixture(autouse=True)
def forgotten():
    before = {kind: dict(family) for kind, family in registry._parts.items()}
    yield
    for kind, family in before.items():
        registry._parts[kind].clear()
        registry._parts[kind].update(family)


class Flat(pgt.extend.AbstractKernel):
    def log_influence(self, receiver, source, resolution):
        return 0 * receiver[:1]


class Point:
    """An entry point, as an installed package has them."""

    name, value = "mine", "my_package.parts"

    def __init__(self, load):
        self.load = load


@pytest.fixture
def installed(monkeypatch):
    def install(load):
        monkeypatch.setattr(registry.metadata, "entry_points", lambda group: [Point(load)])
        registry._load_installed.cache_clear()

    yield install
    registry._load_installed.cache_clear()


def test_installed_packages_are_loaded_when_parts_are_asked_for(installed):
    calls = []

    def load():
        calls.append(1)
        pgt.extend.register("flat")(Flat)

    installed(load)
    assert not calls
    assert registry.parts("kernel")["flat"] is Flat
    assert Flat in registry.registered_classes()
    registry.parts("kernel")
    assert len(calls) == 1


def test_a_broken_package_is_left_out(installed):
    def load():
        raise ImportError("no such module")

    installed(load)
    with pytest.warns(UserWarning, match=r"'mine' \(my_package.parts\).*no such module"):
        assert "heat" in registry.parts("kernel")


class Unfinished(pgt.extend.AbstractKernel):
    pass


@pytest.mark.parametrize(
    ("names", "options", "part", "message"),
    [
        (["heat"], {}, Flat, "HeatKernel has that name already"),
        (["Flat"], {}, Flat, "a name such as 'fisher'"),
        ([], {}, Flat, "a name such as 'fisher'"),
        (["csv"], {"kind": "reader"}, len, "a name such as '.jsonl'"),
        (["flat"], {}, len, "what kind of part is len"),
        (["flat"], {"kind": "colour"}, Flat, "what kind of part is Flat"),
        (["unfinished"], {}, Unfinished, "not complete; write its log_influence"),
    ],
)
def test_what_cannot_be_registered(names, options, part, message):
    with pytest.raises(pgt.InputError, match=message):
        pgt.extend.register(*names, **options)(part)
