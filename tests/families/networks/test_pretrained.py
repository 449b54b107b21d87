"""A trained network in use."""

import equinox as eqx
import jax
import made_pretrained
import numpy as np
import pytest
from made_pretrained import FAMILY

import pgt
from pgt.families.networks.pretrained import shipped

NU = {"diffusivity": 0.02}


@pytest.fixture(scope="module")
def trained():
    return made_pretrained.trained()


@pytest.fixture(scope="module")
def truth():
    return FAMILY.dataset(FAMILY.draw(jax.random.key(1), NU))


def test_readings_in_a_field_with_bands_out(trained, truth):
    field = trained(pgt.sample(truth, n=14, seed=0), NU).grid(x=5, t=4)
    assert dict(field.sizes) == {"x": 5, "t": 4}
    assert bool(((field.u_low <= field.u) & (field.u <= field.u_high)).all())


def test_the_same_system_in_other_units_has_the_same_answer(trained, truth):
    readings = pgt.sample(truth, n=14, seed=0)
    points, values = np.asarray(readings.points), np.asarray(readings.values)
    other = pgt.Observations.from_arrays(
        {"x": 1000 * points[:, 0], "t": 60 * points[:, 1]}, {"u": 5 + 2 * values[:, 0]}
    )
    domain = pgt.Domain(x=(0, 1000), t=(0, 60))
    scaled = trained(other, pgt.Heat(diffusivity=0.02 * 1000**2 / 60), domain)
    expected = trained(readings, NU).at(np.array([[0.3, 0.4]]))
    found = scaled.at(np.array([[300.0, 24.0]]))
    np.testing.assert_allclose(found.mean, 5 + 2 * expected.mean, rtol=1e-4)
    assert scaled.outside == trained(readings, NU).outside


def test_what_is_saved_answers_alike(trained, truth, tmp_path):
    readings, at = pgt.sample(truth, n=14, seed=0), np.array([[0.3, 0.4]])
    trained.save(tmp_path / "heat.safetensors")
    again = pgt.families.Pretrained.load(tmp_path / "heat.safetensors")
    one, two = trained(readings, NU).at(at), again(readings, NU).at(at)
    np.testing.assert_allclose(one.mean, two.mean, atol=0.02)  # weights are stored in 16 bits
    assert again.card == trained.card


def test_a_coefficient_outside_is_said(trained, truth):
    readings = pgt.sample(truth, n=14, seed=0)
    assert not any("diffusivity" in said for said in trained(readings, NU).outside)
    assert any("diffusivity" in said for said in trained(readings, {"diffusivity": 3.0}).outside)


def test_a_missing_coefficient_is_named(trained, truth):
    with pytest.raises(pgt.InputError, match="diffusivity"):
        trained(pgt.sample(truth, n=14), {"viscosity": 1.0})


def test_a_file_of_something_else_is_refused(tmp_path):
    from pgt.core import serialise

    serialise.save(tmp_path, "other", {"a": 1})
    with pytest.raises(pgt.InputError, match="not a pretrained network"):
        pgt.families.Pretrained.load(tmp_path / "other.safetensors")


def test_a_reconstruction_starts_from_its_answer(trained, truth):
    readings, domain = pgt.sample(truth, n=14, seed=0), pgt.Domain(x=(0, 1), t=(0, 1))
    training = pgt.Training(steps=0, polish=False, hold_out=0.0)
    result = pgt.reconstruct(
        readings, pgt.Heat(0.02), domain, start=trained, training=training, progress=False
    )
    expected = trained(readings, NU).grid(x=5, t=4)
    np.testing.assert_allclose(result.grid(x=5, t=4).u.transpose("x", "t"), expected.u, rtol=1e-4)


def test_many_systems_at_once_are_answered_as_one_by_one(trained):
    keys, at = jax.random.split(jax.random.key(7), 3), np.array([[0.2, 0.3], [0.7, 0.9]])
    systems = [FAMILY.draw(key) for key in keys]
    readings = [pgt.sample(FAMILY.dataset(s), n=16, seed=k) for k, s in enumerate(systems)]
    coefficients = {
        "diffusivity": np.array([float(s.coefficients["diffusivity"]) for s in systems])
    }
    means, reaches, outside = trained.answers(
        np.stack([np.asarray(r.points) for r in readings]),
        np.stack([np.asarray(r.values) for r in readings]),
        coefficients,
        at,
    )
    for k, one in enumerate(readings):
        said = trained(one, {"diffusivity": coefficients["diffusivity"][k]}).at(at)
        assert outside[k] == said.outside
        np.testing.assert_allclose(means[k], said.mean, rtol=2e-3, atol=1e-4)
        np.testing.assert_allclose(reaches[k], said.high - said.mean, rtol=2e-3, atol=1e-4)


def test_an_unknown_name_lists_the_others():
    with pytest.raises(pgt.InputError, match="heat"):
        shipped("heart")


def scaled(readings, factor=50):
    return eqx.tree_at(lambda r: r.values, readings, factor * np.asarray(readings.values))


@pytest.fixture(scope="module")
def with_law():
    return made_pretrained.with_law()


def test_the_law_answers_and_states_its_error(with_law, truth):
    readings = pgt.sample(truth, n=14, seed=0)
    answer, alone = with_law(readings, NU), with_law(readings, NU, law=False)
    assert answer.outside == ()
    miss, other = (np.abs(a.grid(**FAMILY.axes).u - truth.u).max() for a in (answer, alone))
    assert miss < 1e-3 < other
    assert answer.expected_error < alone.expected_error
    # The network answers where readings contradict the law.
    at, large = np.array([[0.3, 0.4]]), scaled(readings)
    fields = [with_law(large, NU, law=law).at(at) for law in (True, False)]
    np.testing.assert_array_equal(fields[0].mean, fields[1].mean)
    assert any("diffusivity" in text for text in with_law(readings, {"diffusivity": 0.3}).outside)


def test_many_systems_are_answered_by_the_law_as_one_by_one(with_law):
    at = np.array([[0.2, 0.3], [0.7, 0.9]])
    fields = [FAMILY.dataset(FAMILY.draw(jax.random.key(k), NU)) for k in range(2)]
    readings = [pgt.sample(field, n=14, seed=k) for k, field in enumerate(fields)]
    readings[1] = scaled(readings[1])
    points, values = (
        np.stack([np.asarray(getattr(r, name), float) for r in readings])
        for name in ("points", "values")
    )
    known = {"diffusivity": np.full(2, 0.02)}
    found = with_law.answers(points, values, known, at)
    band = with_law(readings[0], NU).at(at)
    np.testing.assert_allclose(found.mean[0], band.mean, atol=1e-6)
    np.testing.assert_allclose(found.mean[0] + found.reach[0], band.high, atol=1e-6)
    alone = with_law.answers(points, values, known, at, law=False)
    np.testing.assert_array_equal(found.mean[1], alone.mean[1])


def test_another_domain_is_refused(trained, truth):
    with pytest.raises(pgt.InputError, match=r"x, t, the domain has x \(periodic\), t"):
        trained(pgt.sample(truth, n=14), NU, pgt.Domain(x=(0, 1), t=(0, 1), periodic=("x",)))


def test_model_and_start_exclude_each_other(trained, truth):
    readings, domain = pgt.sample(truth, n=14), pgt.Domain(x=(0, 1), t=(0, 1))
    model = pgt.PINN(pgt.Scaling.fit(readings, domain))
    with pytest.raises(pgt.InputError, match="one of them"):
        pgt.reconstruct(readings, pgt.Heat(0.02), domain, model=model, start=trained)
