"""One thread for small matrices, and afterwards as many as before."""

import builtins

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  its BLAS is a second one
from threadpoolctl import threadpool_info, threadpool_limits

from pgt.core import threads as limits
from pgt.core.threads import SMALL, WAITING, blas_threads


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


@pytest.mark.parametrize(("size", "inside"), [(100, 1), (SMALL, 1), (SMALL + 1, 2)])
def test_small_matrices_have_one_thread_only_inside(two_threads, slower, size, inside):
    with blas_threads(size):
        assert threads() == {inside}
    assert threads() == {2}


@pytest.mark.parametrize(("times", "inside"), [(0.5, 2), (0.9 * WAITING, 2), (1.1 * WAITING, 1)])
def test_large_matrices_have_one_thread_where_two_wait(two_threads, slower, times, inside):
    slower["two"] = times
    with blas_threads(SMALL + 1):
        assert threads() == {inside}
    assert threads() == {2}


def test_a_factorisation_is_timed():
    assert 0 < limits._factored() < 60


def test_as_many_as_before_after_an_error(two_threads):
    with pytest.raises(ZeroDivisionError), blas_threads(100):
        raise ZeroDivisionError
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
