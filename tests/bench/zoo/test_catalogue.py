"""The zoo is as varied as it says, and its groups are even."""

import pytest

from pgt.core.errors import InputError
from pgt_bench.zoo import catalogue
from pgt_bench.zoo.problem import GROUPS, LATER
from pgt_bench.zoo.problems import later_in_line, later_in_space


def test_every_problem_is_in_one_group():
    listed = [name for group in GROUPS for name in catalogue.names(group)]
    assert sorted(listed) == sorted(catalogue.names())
    later = [p for module in (later_in_line, later_in_space) for p in module.PROBLEMS]
    assert {problem.name for problem in later} == set(catalogue.names(LATER))
    assert len(later) >= 14


def test_an_unknown_name_is_told():
    with pytest.raises(InputError, match="Did you mean 'burgers-shock'"):
        catalogue.get("burgers-shok")
    with pytest.raises(InputError, match="no group 'third'"):
        catalogue.names("third")
