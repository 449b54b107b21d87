"""The zoo is as varied as it says, and its halves are even."""

import pytest

from pgt.bench.zoo import catalogue
from pgt.bench.zoo.problem import KINDS
from pgt.ground.errors import InputError


def test_the_halves_alternate_within_every_kind():
    for kind in KINDS:
        flags = [problem.tuned_on for problem in catalogue.ALL.values() if problem.kind == kind]
        assert flags == [index % 2 == 0 for index in range(len(flags))]
    assert set(catalogue.names("tuned")) | set(catalogue.names("held-back")) == set(catalogue.ALL)


def test_what_the_zoo_covers():
    problems = catalogue.ALL.values()
    assert len(problems) >= 28
    assert {problem.kind for problem in problems} == set(KINDS)
    counts = [problem.readings.count for problem in problems]
    assert (min(counts), max(counts)) == (50, 5000)
    for half in (True, False):
        some = [problem for problem in problems if problem.tuned_on == half]
        assert {bool(problem.readings.noise) for problem in some} == {True, False}
        assert any(problem.readings.hidden for problem in some)
    assert {len(problem.domain.axes) for problem in problems} == {1, 2, 3, 4}


def test_names_are_unique():
    listed = [p.name for kind in catalogue.MODULES for p in kind.PROBLEMS]
    assert len(listed) == len(set(listed)) == len(catalogue.names())


def test_an_unknown_name_is_told():
    with pytest.raises(InputError, match="Did you mean 'burgers-shock'"):
        catalogue.get("burgers-shok")
    with pytest.raises(InputError, match="no half 'third'"):
        catalogue.names("third")
