"""How much memory there is, and that nothing is begun that needs more."""

import pytest
import scipy.linalg  # noqa: F401  its BLAS is a second one

from pgt.core import machine as memory
from pgt.core.errors import InputError
from pgt.core.machine import (
    available_memory,
    require_memory,
)


def test_what_does_not_fit_is_refused_with_both_numbers():
    require_memory(1e9, "grid(x=3)", "ask for less", room=1e9)
    with pytest.raises(InputError, match=r"grid\(x=3\): this needs 2 GB .* 1 GB are free; ask for"):
        require_memory(2e9, "grid(x=3)", "ask for less", room=1e9)
    with pytest.raises(InputError, match=r"needs 1e\+12 GB"):
        require_memory(1e21, "all", "ask for less")


def test_the_smallest_limit_counts(tmp_path, monkeypatch):
    system, container = tmp_path / "meminfo", tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_SYSTEM", system)
    monkeypatch.setattr(memory, "_CONTAINER", (container,))
    system.write_text("MemTotal: 9 kB\nMemAvailable:    4000 kB\n")
    assert available_memory() == 4000 * 1024
    container.write_text("max\n")
    assert available_memory() == 4000 * 1024
    container.write_text("1000\n")
    assert available_memory() == 1000
    for text in ("MemTotal: 9 kB\n", None):  # of an old system, and of none that has the file
        system.unlink() if text is None else system.write_text(text)
        assert available_memory() == 1000
    monkeypatch.setattr(memory, "_physical", lambda: None)
    container.unlink()
    assert available_memory() is None
    require_memory(1e30, "all", "ask for less")  # nobody knows
