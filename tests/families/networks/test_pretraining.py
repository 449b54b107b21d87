"""Training over a family, its card, and its use."""

from dataclasses import replace

import jax
import made_pretrained
import numpy as np
import pytest
from made_pretrained import FAMILY, QUICK, SIZES

import pgt
from pgt.families.networks import pretraining
from pgt.families.networks.pretraining import initial_state


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pretraining")
    return made_pretrained.trained(folder), folder


def weights(model):
    return jax.tree.leaves(model.network)


def test_training_changes_all_that_answers(trained):
    before = initial_state(FAMILY, SIZES, 0).network
    moved = [
        bool((np.asarray(a) != np.asarray(b)).any())
        for a, b in zip(jax.tree.leaves(before), weights(trained[0]), strict=True)
        if a.size  # nothing goes round in this family
    ]
    assert sum(moved) > 0.9 * len(moved)


def test_finished_training_is_not_repeated(trained):
    model, folder = trained
    again = pgt.families.pretrain(FAMILY, QUICK, sizes=SIZES, checkpoint=folder, progress=False)
    for a, b in zip(weights(model), weights(again), strict=True):
        np.testing.assert_array_equal(a, b)


def test_other_settings_do_not_continue_it(trained):
    with pytest.raises(pgt.InputError, match="learning_rate"):
        pgt.families.pretrain(
            FAMILY, replace(QUICK, learning_rate=2e-3), sizes=SIZES, checkpoint=trained[1]
        )


@pytest.mark.slow
def test_simulations_that_changed_do_not_continue_it(tmp_path):
    folder = tmp_path / "rods"
    folder.mkdir()

    def family(factor):
        for i in range(3):
            system = FAMILY.dataset(FAMILY.draw(jax.random.key(i)))
            pgt.io.write_field(factor * system.assign_attrs(diffusivity=0.02), folder / f"{i}.nc")
        return pgt.families.Simulations(folder, lambda: pgt.Heat(0.02))

    one = replace(QUICK, steps=1, batch=1, pool=1, reuse=1)
    network = pgt.families.pretrain(
        family(1.0), one, sizes=SIZES, checkpoint=tmp_path / "kept", progress=False
    )
    assert len(network.family.values) == 1  # which it was not trained on
    with pytest.raises(pgt.InputError, match="values"):
        pgt.families.pretrain(family(2.0), one, sizes=SIZES, checkpoint=tmp_path / "kept")


def test_training_that_was_killed_ends_as_if_it_had_not_been(trained, tmp_path, monkeypatch):
    class Killed(Exception):
        pass

    save = pretraining._save

    def once(folder, identity, state):
        save(folder, identity, state)
        raise Killed

    monkeypatch.setattr(pretraining, "CHECKPOINT_SECONDS", -1.0)
    monkeypatch.setattr(pretraining, "_save", once)
    with pytest.raises(Killed):
        pgt.families.pretrain(FAMILY, QUICK, sizes=SIZES, checkpoint=tmp_path, progress=False)
    monkeypatch.setattr(pretraining, "_save", save)
    again = pgt.families.pretrain(FAMILY, QUICK, sizes=SIZES, checkpoint=tmp_path, progress=False)
    for a, b in zip(weights(trained[0]), weights(again), strict=True):
        np.testing.assert_array_equal(a, b)


# ------------------------------------------------------------------- the transformer


@pytest.fixture(scope="module")
def transformer():
    sizes = pgt.families.FamilyPGTSizes(width=8, blocks=1, heads=2, decoder_width=6, layers=2)
    return pgt.families.pretrain(FAMILY, QUICK, model="pgt", sizes=sizes, progress=False)


def test_the_transformer_is_pretrained_under_a_symmetric_kernel(transformer):
    assert (transformer.card.kernel, transformer.card.noise_source) == ("symmetric", "encoder")
    assert all(np.isfinite(list(transformer.card.errors["16"].values())))
    fresh = initial_state(FAMILY, pgt.families.FamilyPGTSizes(8, 1, 2, 6, 2), 0).network
    moved = [
        bool((np.asarray(a) != np.asarray(b)).any())
        for a, b in zip(jax.tree.leaves(fresh), weights(transformer), strict=True)
    ]
    assert sum(moved) > 0.9 * len(moved)


def test_the_transformer_answers_and_is_saved(transformer, tmp_path):
    truth = FAMILY.dataset(FAMILY.draw(jax.random.key(5), {"diffusivity": 0.02}))
    readings = pgt.sample(truth, n=12)
    field = transformer(readings, pgt.Heat(0.02), law=False).grid(x=5, t=3)
    assert bool(((field.u_low < field.u) & (field.u < field.u_high)).all())
    transformer.save(tmp_path / "one.safetensors")
    loaded = pgt.families.Pretrained.load(tmp_path / "one.safetensors")
    again = loaded(readings, pgt.Heat(0.02), law=False).grid(x=5, t=3)
    np.testing.assert_allclose(again.u, field.u, rtol=0.02, atol=0.02)  # kept in half precision
    shuffled = readings.take(np.arange(12)[::-1])
    same = transformer(shuffled, pgt.Heat(0.02), law=False).grid(x=5, t=3)
    np.testing.assert_allclose(same.u, field.u, atol=1e-4)


def test_sizes_and_models_belong_together(transformer):
    with pytest.raises(pgt.InputError, match="FamilyPGTSizes"):
        pgt.families.pretrain(FAMILY, QUICK, model="pgt", sizes=SIZES)
    with pytest.raises(pgt.InputError, match="hypernetwork"):
        pgt.families.pretrain(FAMILY, QUICK, model="writer")
    truth = FAMILY.dataset(FAMILY.draw(jax.random.key(5), {"diffusivity": 0.02}))
    answer = transformer(pgt.sample(truth, n=12), pgt.Heat(0.02), law=False)
    with pytest.raises(pgt.InputError, match='model="hypernetwork"'):
        answer.model()


def test_an_unknown_kernel_is_refused():
    with pytest.raises(pgt.InputError, match="equation"):
        pgt.families.Pretraining(kernel="heat")
