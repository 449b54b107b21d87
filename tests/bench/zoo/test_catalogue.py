"""The zoo is as varied as it says, and its groups are even."""

import pytest

from pgt.core.errors import InputError
from pgt_bench.zoo import catalogue
from pgt_bench.zoo.problem import GROUPS, HELD_BACK, KINDS, LATER, TUNED
from pgt_bench.zoo.problems import later_in_line, later_in_space


def test_the_halves_alternate_within_every_kind():
    for module in catalogue.KINDS:
        groups = [problem.group for problem in module.PROBLEMS]
        assert groups == [(TUNED, HELD_BACK)[index % 2] for index in range(len(groups))]


def test_every_problem_is_in_one_group():
    listed = [name for group in GROUPS for name in catalogue.names(group)]
    assert sorted(listed) == sorted(catalogue.names())
    later = [p for module in (later_in_line, later_in_space) for p in module.PROBLEMS]
    assert {problem.name for problem in later} == set(catalogue.names(LATER))
    assert len(later) >= 14


def test_what_the_zoo_covers():
    problems = catalogue.ALL.values()
    assert len(problems) >= 28
    assert {problem.kind for problem in problems} == set(KINDS)
    counts = [problem.readings.count for problem in problems]
    assert (min(counts), max(counts)) == (50, 5000)
    for group in GROUPS:
        some = [problem for problem in problems if problem.group == group]
        assert {bool(problem.readings.noise) for problem in some} == {True, False}
        assert any(problem.readings.hidden for problem in some)
    assert {len(problem.domain.axes) for problem in problems} == {1, 2, 3, 4}


def test_names_are_unique():
    listed = [p.name for kind in catalogue.MODULES for p in kind.PROBLEMS]
    assert len(listed) == len(set(listed)) == len(catalogue.names())


def test_an_unknown_name_is_told():
    with pytest.raises(InputError, match="Did you mean 'burgers-shock'"):
        catalogue.get("burgers-shok")
    with pytest.raises(InputError, match="no group 'third'"):
        catalogue.names("third")
