"""How much memory there is, and that nothing is begun that needs more."""

import builtins

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  its BLAS is a second one
from threadpoolctl import threadpool_info, threadpool_limits

from pgt.core import machine as limits
from pgt.core import machine as memory
from pgt.core.errors import InputError
from pgt.core.machine import (
    MAX_SINGLE_THREAD_ROWS,
    MAX_SLOWDOWN,
    available_memory,
    blas_threads,
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


def threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture
def two_threads():
    with threadpool_limits(2, "blas"):
        if threads() != {2}:
            pytest.skip("this BLAS has one thread only")
        yield


@pytest.fixture
def slower(monkeypatch):
    """How many times as long two threads take as one does, in place of what this machine says."""
    times = {"two": 1.0}
    monkeypatch.setattr(limits, "_factored", lambda: times["two"] if threads() == {2} else 1.0)
    return times


@pytest.mark.parametrize(
    ("times", "inside"), [(0.5, 2), (0.9 * MAX_SLOWDOWN, 2), (1.1 * MAX_SLOWDOWN, 1)]
)
def test_large_matrices_have_one_thread_where_two_wait(two_threads, slower, times, inside):
    slower["two"] = times
    with blas_threads(MAX_SINGLE_THREAD_ROWS + 1):
        assert threads() == {inside}
    assert threads() == {2}


def test_works_without_threadpoolctl(monkeypatch):
    imported = builtins.__import__

    def without(name, *rest):
        if name == "threadpoolctl":
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with blas_threads(100):
        assert np.eye(2) @ [1.0, 2.0] == pytest.approx([1.0, 2.0])
