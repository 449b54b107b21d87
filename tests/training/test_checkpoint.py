"""A run that is killed continues bit for bit."""

import dataclasses
import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import jax
import numpy as np
import pytest

import pgt
from pgt.ground import serialise
from pgt.ground.owner import owned
from pgt.physics import Heat
from pgt.training.checkpoint import NAME, POLISH_NAME, States
from pgt.training.descent import State

ROOT = Path(__file__).parents[2]
SCRIPT = """
    import sys
    import numpy as np
    import pgt
    from pgt.nn.scaling import Scaling
    from pgt.physics import Heat

    class Mine(Heat):
        "An equation of the user's own: resuming must not need to know its class."

    random = np.random.default_rng(0)
    points = random.uniform(0, 1, (30, 2))
    values = np.sin(3 * points[:, :1]) + random.normal(0, 0.05, (30, 1))
    readings = pgt.Observations.from_arrays(points, values, coords=("x", "t"), fields=("u",))
    domain = pgt.Domain(x=(0, 1), t=(0, 1))
    pde = Mine(pgt.Unknown(0.2, positive=True))
    model = pgt.PGT(Scaling.fit(readings, domain), pde.kernel(), width=8, blocks=1, heads=2,
                    decoder_width=8, decoder_layers=1)
    folder, checkpoint, stage = sys.argv[1:]
    steps, finish = 300, False
    if stage == "polish":
        import pgt.training.checkpoint

        pgt.training.checkpoint.SECONDS_BETWEEN = 0.0
        steps, finish = 3, pgt.Polish(iterations=60, patience=100, points=25, fresh=0.5)
        model = pgt.PINN(Scaling.fit(readings, domain), width=6, layers=2)
    training = pgt.Training(steps=steps, collocation=16, check_every=3, polish=finish, patience=10.0)
    result = pgt.reconstruct(readings, pde, domain, model=model, training=training, progress=False,
                             checkpoint=checkpoint)
    result.save(folder)
"""


def started(folder, checkpoint, stage):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(folder), str(checkpoint), stage]
    quickly = {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}  # compiling is all that takes time here
    environment = os.environ | {"PYTHONPATH": str(ROOT)} | quickly
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def finished(process):
    _, errors = process.communicate(timeout=100)
    assert process.returncode == 0, errors


FILES = {"train": f"{NAME}.safetensors", "polish": f"member_0/{POLISH_NAME}.safetensors"}


@pytest.mark.parametrize(
    ("stage", "times"),
    [
        pytest.param(*each, marks=pytest.mark.slow)
        for each in (("polish", 1), ("train", 1), ("train", 3))
    ],
)
def test_killed_and_none_the_worse(tmp_path, stage, times):
    folder, progress = tmp_path / "killed", tmp_path / "progress"
    whole = started(tmp_path / "whole", tmp_path / "other", stage)
    pauses = random.Random(time.time_ns())
    killed = 0
    for _ in range(times):
        process = started(folder, progress, stage)
        file = progress / FILES[stage]
        before = file.stat().st_mtime_ns if file.exists() else 0
        # Killed a random moment after its first new checkpoint, perhaps in the middle of another.
        while process.poll() is None:
            if file.exists() and file.stat().st_mtime_ns > before:
                time.sleep(pauses.uniform(0, 0.05))
                break
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        killed += process.returncode == -signal.SIGKILL
    assert killed == times, "the run ended before it could be killed: give it more steps"
    finished(started(folder, progress, stage))
    finished(whole)

    class Mine(Heat):
        pass

    Mine.__qualname__ = "Mine"
    ours, theirs = (
        pgt.Reconstruction.load(f, classes=[Mine]) for f in (folder, tmp_path / "whole")
    )
    for a, b in zip(*(jax.tree.leaves((r.model, r.pde)) for r in (ours, theirs)), strict=True):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))
    assert [(s.name, s.costs, s.ended) for s in ours.stages] == [
        (s.name, s.costs, s.ended) for s in theirs.stages
    ]
    lengths = [len(stage.costs) for stage in ours.stages]
    assert (max(lengths, default=0) > 1) == (stage == "polish")
    for name in ours.history:
        np.testing.assert_array_equal(ours.history[name], theirs.history[name])


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
    saved = (folder / f"{NAME}.safetensors").stat().st_mtime_ns
    result = fit(folder)
    assert result.history.step.values.tolist() == [1, 2, 4]
    assert (folder / f"{NAME}.safetensors").stat().st_mtime_ns == saved


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


def test_other_readings_are_refused(folder):
    with pytest.raises(pgt.InputError):
        fit(folder, values=2.0)


def test_a_checkpoint_of_another_layout_is_refused_in_words(folder, tmp_path):
    """The first one kept rows under "record", and said nothing of its layout."""
    saved = serialise.load(folder, NAME)
    rows = [{"step": 1, "held_out": 0.3, "data": 1.0, "weight_data": 0.5}]
    old = {name: saved[name] for name in ("identity", "arrays")} | {"record": {"rows": rows}}
    serialise.save(tmp_path, NAME, old)
    with pytest.raises(pgt.InputError, match=r"another version of pgt.*delete the folder") as error:
        fit(tmp_path)
    assert str(tmp_path) in str(error.value)


def test_a_damaged_checkpoint_is_named(folder, tmp_path):
    content = (folder / f"{NAME}.safetensors").read_bytes()
    (tmp_path / f"{NAME}.safetensors").write_bytes(content[: len(content) // 2])
    with pytest.raises(pgt.InputError, match=NAME):
        fit(tmp_path)


def test_a_polish_is_kept_stage_by_stage(tmp_path):
    states = States(tmp_path, {"seed": 0})
    assert states.get("plain", None) is None
    running = State(np.arange(3.0), costs=(2.0, 1.0), best=np.ones(3), best_error=0.5)
    states.keep("plain", running)  # a moment after the start: not yet on disk
    assert not serialise.exists(tmp_path, POLISH_NAME)
    states.keep("plain", dataclasses.replace(running, over=True))
    again = States(tmp_path, {"seed": 0}).get("plain", None)
    np.testing.assert_array_equal(again.theta, running.theta)
    assert (again.over, again.costs, again.prior) == (True, running.costs, running.prior)
    with pytest.raises(pgt.InputError, match="seed: 0 there, 1 here"):
        States(tmp_path, {"seed": 1})
    serialise.save(tmp_path, POLISH_NAME, {"layout": 1})
    with pytest.raises(pgt.InputError, match=r"another version of pgt"):
        States(tmp_path, {"seed": 0})


def test_a_checkpoint_has_one_owner_and_leftovers_of_a_kill_are_removed(tmp_path, folder):
    left = tmp_path / "member_0" / ".pgt-polish-x.safetensors"
    left.parent.mkdir()
    left.write_text("half")
    with owned(tmp_path), pytest.raises(pgt.InputError, match=r"belongs to process \d+ on "):
        fit(tmp_path)
    for path in folder.glob("*.safetensors"):
        shutil.copy(path, tmp_path)
    fit(tmp_path)  # which was finished before
    assert not left.exists()


def test_a_folder_that_cannot_be_written_is_refused_before_the_fit(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(pgt.InputError, match=r"cannot write to .*another checkpoint="):
        fit(tmp_path / "file" / "below")
    with pytest.raises(pgt.InputError, match=r"cannot write to .*another folder"):
        serialise.save(tmp_path / "file" / "below", "state", {})
