"""Training over a family, its card, and its use."""

import jax
import made_pretrained
import numpy as np
import pytest
from made_pretrained import FAMILY, QUICK, SIZES

import pgt
from pgt.families.pretraining import start


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretraining")
    return made_pretrained.trained(folder), folder


def weights(model):
    return jax.tree.leaves(model.writer)


def test_training_changes_all_that_answers(trained):
    before = start(FAMILY, SIZES, 0).writer
    moved = [
        bool((np.asarray(a) != np.asarray(b)).any())
        for a, b in zip(jax.tree.leaves(before), weights(trained[0]), strict=True)
    ]
    assert sum(moved) > 0.9 * len(moved)


def test_the_card_has_errors_by_number_of_sensors(trained):
    card = trained[0].card
    assert card.family == "heat"
    assert card.steps == 8
    assert set(card.errors) == {"16"}
    assert all(np.isfinite(list(card.errors["16"].values())))
    assert card.factor(16) > 0


def test_finished_training_is_not_repeated(trained):
    model, folder = trained
    again = pgt.pretrain(FAMILY, QUICK, sizes=SIZES, checkpoint=folder, progress=False)
    for a, b in zip(weights(model), weights(again), strict=True):
        np.testing.assert_array_equal(a, b)


def test_other_settings_do_not_continue_it(trained):
    from dataclasses import replace

    with pytest.raises(pgt.InputError, match="learning_rate"):
        pgt.pretrain(FAMILY, replace(QUICK, learning_rate=2e-3), sizes=SIZES, checkpoint=trained[1])


def test_an_unknown_kernel_is_refused():
    with pytest.raises(pgt.InputError, match="'none' or 'equation'"):
        pgt.pretrain(FAMILY, pgt.Pretraining(kernel="heat"))
