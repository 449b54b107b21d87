"""The small models of the contract: one of every kind, each the same from the same seed."""

import equinox as eqx
import pytest
from few_readings import DOMAINS, readings

from pgt.core.registry import parts
from pgt.models.model_cases import ALL_MODELS
from pgt.nn.frozen import count_parameters, partition
from pgt.nn.scaling import Scaling
from pgt.physics import Heat


@pytest.mark.parametrize("case", ALL_MODELS, ids=lambda case: case.name)
def test_same_seed_same_weights(case):
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    first, again, other = (case.build(scaling, Heat(0.5), seed) for seed in (3, 3, 4))
    assert eqx.tree_equal(first, again)
    assert not eqx.tree_equal(partition(first)[0], partition(other)[0])
    assert 0 < count_parameters(first) < 1_000_000


def test_every_model_of_the_library_is_among_the_cases_under_a_name_of_its_own():
    scaling = Scaling.fit(readings(), DOMAINS["open"])
    built = {type(case.build(scaling, Heat(0.5), 0)) for case in ALL_MODELS}
    ours = {part for part in parts("model").values() if part.__module__.startswith("pgt.models.")}
    assert ours <= built
    assert len({case.name for case in ALL_MODELS}) == len(ALL_MODELS)


def test_only_functions_of_the_coordinate_do_not_read():
    blind = {case.name for case in ALL_MODELS if not case.reads}
    assert blind == {"pinn", "siren", "wire", "pinnsformer", "features", "solver"}
