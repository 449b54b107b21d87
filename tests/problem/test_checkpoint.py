"""A run that is killed continues bit for bit.

A run is what decides its result: whatever is changed, it is another one, and that is said.
"""

import re
import shutil

import numpy as np
import optax
import pytest

import pgt
from pgt.core import serialise
from pgt.core.folder_lock import lock_folder
from pgt.physics import Heat
from pgt.problem.assembly import assemble
from pgt.problem.checkpoint import (
    TRAINING_FILE,
    describe_difference,
    identity_of,
)

DOMAIN = pgt.Domain(x=(0, 1), t=(0, 1))


def fit(folder, seed=0, values=1.0, width=8, **settings):
    points = np.random.default_rng(0).uniform(0, 1, (12, 2))
    readings = pgt.Observations.from_arrays(
        points, values * points[:, :1], coords=("x", "t"), fields=("u",)
    )
    model = pgt.PINN(pgt.Scaling.fit(readings, DOMAIN), width=width, layers=1)
    settings = {"steps": 4, "collocation": 8, "check_every": 2, "polish": False} | settings
    training = pgt.Training(**settings)
    return pgt.reconstruct(
        readings, Heat(0.1), DOMAIN, model=model, training=training, seed=seed,
        checkpoint=folder, progress=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    fit(folder)
    return folder


def test_a_finished_run_is_not_trained_again(folder):
    saved = (folder / f"{TRAINING_FILE}.safetensors").stat().st_mtime_ns
    result = fit(folder)
    assert result.history.step.values.tolist() == [1, 2, 4]
    assert (folder / f"{TRAINING_FILE}.safetensors").stat().st_mtime_ns == saved


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 1}, "seed: 0 there, 1 here"),
        ({"steps": 6}, "steps: 4 there, 6 here"),
        ({"learning_rate": 1e-2}, "learning_rate: 0.003 there, 0.01 here"),
        ({"width": 12}, "another model"),
    ],
)
def test_another_run_is_refused_with_the_difference(folder, change, message):
    with pytest.raises(pgt.InputError, match=message) as error:
        fit(folder, **change)
    assert str(folder) in str(error.value)
    assert "name another folder" in str(error.value)


def test_a_damaged_checkpoint_is_named(folder, tmp_path):
    content = (folder / f"{TRAINING_FILE}.safetensors").read_bytes()
    (tmp_path / f"{TRAINING_FILE}.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(pgt.InputError, match=TRAINING_FILE):
        fit(tmp_path)


def test_a_checkpoint_has_one_owner_and_partial_files_are_removed(tmp_path, folder):
    left = tmp_path / "member_0" / ".pgt-polish-x.safetensors"
    left.parent.mkdir()
    left.write_text("half")
    with lock_folder(tmp_path), pytest.raises(pgt.InputError, match=r"belongs to process \d+ on "):
        fit(tmp_path)
    for path in folder.glob("*.safetensors"):
        shutil.copy(path, tmp_path)
    fit(tmp_path)  # which was finished before
    assert not left.exists()


POINTS = np.random.default_rng(0).uniform(0, 1, (12, 2))


def value(x, t):
    return x * (1 - x)


def other_value(x, t):
    return x * (1 - 2 * x)


class Mine(Heat):
    def extra(self):
        return 1


def network(readings, domain, kind="pgt", kernel=None, **sizes):
    scaling = pgt.Scaling.fit(readings, domain)
    if kind != "pgt":
        return {"pinn": pgt.PINN, "siren": pgt.SIREN}[kind](scaling, width=4, layers=2, **sizes)
    sizes = {"width": 8, "blocks": 1, "heads": 2, "decoder_width": 8, "decoder_layers": 1} | sizes
    return pgt.PGT(scaling, kernel or Heat(0.1).kernel(), **sizes)


def identity(
    points=POINTS, values=None, pde=None, domain=None, initial=value, wall=0.0, side="both",
    model=None, kernel=None, seed=0, error_bars=None, noise=None, units=None, more=(), **training,
):  # fmt: skip
    values = POINTS[:, :1] if values is None else values
    readings = pgt.Observations.from_arrays(
        points, values, coords=("x", "t"), fields=("u",), noise=noise, units=units
    )
    domain = domain or pgt.Domain(x=(0, 1), t=(0, 1))
    conditions = [pgt.Initial(u=initial), pgt.Dirichlet("x", side, u=wall), *more]
    task = assemble(
        readings, pde or Heat(0.1), domain, conditions,
        model=network(readings, domain, kernel=kernel, **(model or {})), seed=seed,
        training=pgt.Training(**{"steps": 4, "polish": False} | training), error_bars=error_bars,
    )  # fmt: skip
    return identity_of(task)


@pytest.fixture(scope="module")
def before():
    return identity()


def moved(array, size=1e-12):
    changed = array.copy()
    changed[3, 0] += size
    return changed


CHANGES = {
    "a wall": ({"wall": 5.0}, "other conditions.*0.0 there, 5.0 here"),
    "a formula": ({"initial": "sin(pi*x)"}, "other conditions"),
    "another frequency": ({"initial": "sin(2*pi*x)"}, "other conditions"),
    "a function": ({"initial": other_value}, "other conditions"),
    "a lambda": ({"initial": lambda x, t: x}, "other conditions"),
    "one more condition": ({"more": [pgt.Initial(u=1.0)]}, "other conditions"),
    "another kind": ({"more": [pgt.Neumann("x", u=1.0)]}, "other conditions"),
    "heads": ({"model": {"heads": 4}}, "another model.*heads: 2 there, 4 here"),
    "seed of the weights": ({"model": {"seed": 1}}, "another model"),
    "width": ({"model": {"width": 12}}, "another model"),
    "blocks": ({"model": {"blocks": 2}}, "another model"),
    "frequency of the decoder": ({"model": {"frequency": 9.0}}, "another model"),
    "decoder": ({"model": {"decoder_layers": 2}}, "another model"),
    "anchors": ({"model": {"anchors": 4}}, "another model"),
    "another model": ({"model": {"kind": "pinn"}}, "another model.*PGT there, PINN here"),
    "kernel": ({"kernel": Heat(0.2).kernel()}, "another model"),
    "no kernel": ({"kernel": pgt.kernels.NoKernel()}, "another model.*HeatKernel there, NoKernel here"),
    "seed": ({"seed": 1}, "seed: 0 there, 1 here"),
    "steps": ({"steps": 6}, "steps: 4 there, 6 here"),
    "learning rate": ({"learning_rate": 1e-2}, "learning_rate: 0.003 there, 0.01 here"),
    "collocation": ({"collocation": 999}, "collocation: 1000 there, 999 here"),
    "batch": ({"batch": 10}, "batch"),
    "optimiser": ({"optimiser": "adam"}, "optimiser: soap there, adam here"),
    "optimiser's own number": ({"optimiser": optax.scale_by_adam(b1=0.8)}, "optimiser"),
    "sampler": ({"sampler": pgt.training.Sobol()}, "sampler: Uniform there, Sobol here"),
    "weighting": ({"weighting": pgt.training.Fixed()}, "weighting: Uncertainty there, Fixed here"),
    "weights": ({"weighting": pgt.training.Fixed(data=2.0)}, "weighting"),
    "share held out": ({"hold_out": 0.2}, "hold_out: None there, 0.2 here"),
    "held out in blocks": ({"hold_out_by": "block"}, "hold_out_by: reading there, block here"),
    "likelihood": ({"likelihood": "student"}, "likelihood: gauss there, student here"),
    "precision": ({"precision": "float64"}, "precision: float32 there, float64 here"),
    "polish": ({"polish": pgt.Polish(iterations=3)}, "polish: False there, Polish here"),
    "seconds": ({"seconds": 3.0}, "seconds: None there, 3.0 here"),
    "one reading by a little": ({"values": moved(POINTS[:, :1])}, "other readings"),
    "one place by a little": ({"points": moved(POINTS)}, "other readings"),
    "one reading less": ({"points": POINTS[:-1], "values": POINTS[:-1, :1]}, "other readings"),
    "noise": ({"noise": 0.1}, "other readings"),
    "unit": ({"units": {"u": "K"}}, "other readings.*K here"),
    "coefficient": ({"pde": Heat(0.2)}, "another equation.*diffusivity: 0.1 there, 0.2 here"),
    "learnt": ({"pde": Heat(pgt.Unknown(0.1))}, "another equation.*Unknown here"),
    "source": ({"pde": Heat(0.1, source="x")}, "another equation"),
    "equation": ({"pde": pgt.Equation("u_t = 0.1*u_xx")}, "another equation"),
    "own class": ({"pde": Mine(0.1)}, "another equation.*Heat there, Mine here"),
    "domain": ({"domain": pgt.Domain(x=(0, 1), t=(0, 2))}, "another domain"),
    "side": ({"side": "lower"}, "other conditions.*both there, lower here"),
    "table on a wall": ({"wall": ([0.0, 1.0], [0.0, 1.0])}, "other conditions"),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_is_another_run(before, change):
    changes, words = CHANGES[change]
    changed = identity(**changes)
    assert changed != before
    assert re.search(words, describe_difference(before, changed)), describe_difference(
        before, changed
    )


def test_the_code_of_a_users_class_is_part_of_the_identity():
    def made(number):
        class Mine(Heat):
            def extra(self):
                return number * 2

        return identity(pde=Mine(0.1))

    assert made(1) == made(1)
    assert "another equation" in describe_difference(made(1), made(2))


def test_other_readings_are_refused(folder):
    with pytest.raises(pgt.InputError):
        fit(folder, values=2.0)


def test_a_folder_that_cannot_be_written_is_refused_before_the_fit(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(pgt.InputError, match=r"cannot write to .*another checkpoint="):
        fit(tmp_path / "file" / "below")
    with pytest.raises(pgt.InputError, match=r"cannot write to .*another folder"):
        serialise.save(tmp_path / "file" / "below", "state", {})
