"""The folder of a run: no damage is read as something else, and no run is taken for another one."""

import json
import os
import random
import shutil

import numpy as np
import pytest

import pgt
from pgt.core import manifest, serialise
from pgt.core.errors import InputError
from pgt.io import read_field, write_field
from pgt.problem.checkpoint import POLISH_FILE, load_checkpoint, save_checkpoint
from pgt.runs.folder import (
    CHECKPOINT,
    FOLDS,
    IDENTITY,
    METRICS,
    RUN_FILE,
    check_folder,
    claim,
    clear_folder,
    is_begun,
    sign,
    work_files,
)
from pgt.runs.predict import info, load, predict

FLIPS = int(os.environ.get("PGT_FLIPS", "300"))  # 10000 takes minutes


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished run, made without a fit."""
    folder = tmp_path_factory.mktemp("whole")
    x, t = np.random.default_rng(0).uniform(size=(2, 6))
    readings = pgt.Observations.from_arrays(
        {"x": x, "t": t}, {"u": x + t}, units={"x": "mm", "u": "°C"}
    )
    domain, pde = pgt.Domain(x=(0, 1), t=(0, 1)), pgt.Heat(pgt.Unknown(0.25))
    model = pgt.SIREN(pgt.Scaling.fit(readings, domain), width=2, layers=2)
    record = {
        "history": {}, "seed": 3, "version": "1", "jax": "2", "seconds": 1.25,
        "stopped": "budget spent", "parameter_count": 1234, "held_out_error": None,
    }  # fmt: skip
    fitted, held_out = readings.take(np.arange(4)), readings.take(np.arange(4, 6))
    result = pgt.Reconstruction(model, pde, fitted, held_out, record, domain)
    result.save(folder)
    write_field(result.grid(x=4, t=3), folder / "field.nc")
    (folder / RUN_FILE).write_text("seed = 3\n")
    (folder / "field.png").write_bytes(bytes(range(256)))
    held = {"held_out": {"u": {"relative": 0.5, "rmse": 2.0}}, "doubts": ["It is odd."]}
    (folder / METRICS).write_text(json.dumps(held))
    identity = {"seed": 0, "model": {"": "PINN", "heads": "2"}}
    serialise.save(folder / CHECKPOINT, IDENTITY, identity, copy=False)
    state = (np.arange(8.0), np.ones((2, 4), np.float32))
    save_checkpoint(folder / CHECKPOINT, identity, (*state, {"rows": [1.5, None], "stopped": ""}))
    serialise.save(folder / FOLDS, "fold-1", {"predictions": np.arange(3.0)}, copy=False)
    manifest.write_manifest(folder, [*manifest.file_stamps(folder), *work_files(folder)])
    return folder


def complaint(folder):
    """What is said when every command has read its files; nothing where all is well."""
    try:
        found = dict(info(folder)).get("note", "")
        load(folder)
        read_field(folder / "field.nc")
        identity = serialise.load(folder / CHECKPOINT, IDENTITY)
        start = (np.zeros(8), np.zeros((2, 4), np.float32), {})
        load_checkpoint(folder / CHECKPOINT, identity, start)
    except InputError as error:
        return str(error)
    return found


def damaged(content, chance):
    """One bit flipped, or cut short."""
    if chance.random() < 0.2:
        return content[: chance.randrange(len(content))]
    changed = bytearray(content)
    place = chance.randrange(8 * len(content))
    changed[place // 8] ^= 1 << (place % 8)
    return bytes(changed)


def test_every_flip_and_every_cut_is_found(whole, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    assert complaint(folder) == ""
    contents = {p: p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
    chance, files = random.Random(FLIPS), list(contents)
    assert len(files) == 10
    for number in range(FLIPS):
        path = files[number % len(files)]
        path.write_bytes(damaged(contents[path], chance))
        assert path.name in complaint(folder)
        path.write_bytes(contents[path])


@pytest.mark.parametrize("name", [f"{FOLDS}/fold-1", f"{CHECKPOINT}/checkpoint"])
def test_a_run_is_not_continued_from_a_damaged_file(whole, tmp_path, name):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    identity = serialise.load(folder / CHECKPOINT, IDENTITY)
    path = folder / f"{name}.safetensors"
    path.write_bytes(damaged(path.read_bytes(), random.Random(0)))
    with pytest.raises(InputError, match=path.name):
        claim(folder, identity, resume=True, overwrite=False)
    path.unlink()
    claim(folder, identity, resume=True, overwrite=False)


def test_what_is_written_into_a_finished_run_is_covered_too(whole, tmp_path):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    predict(folder, folder / "values.csv", "x=3,t=2", None, ())
    load(folder).save(folder)
    assert complaint(folder) == ""
    for name in ("values.csv", "reconstruction.json"):
        path = folder / name
        whole_text = path.read_bytes()
        path.write_bytes(damaged(whole_text, random.Random(1)))
        assert name in complaint(folder)
        path.write_bytes(whole_text)
    predict(folder, tmp_path / "values.csv", "x=3,t=2", None, ())
    assert not (tmp_path / manifest.NAME).exists()


# ------------------------------------------------------------------------------- which run it is

IDENTITIES = {"seed": 0, "model": {"heads": "2"}}, {"seed": 0, "model": {"heads": "4"}}


def begun(folder):
    serialise.save(folder, "reconstruction", {})
    (folder / "mine.txt").write_text("mine")
    claim(folder, IDENTITIES[0], resume=False, overwrite=False)
    sign(folder, IDENTITIES[0])
    (folder / RUN_FILE).write_text("old")
    manifest.write_manifest(folder, ["reconstruction.json", RUN_FILE])
    return folder


def test_another_run_is_refused_and_nothing_changed(tmp_path):
    begun(tmp_path)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match=r"heads: 2 there, 4 here.*--overwrite"):
        claim(tmp_path, IDENTITIES[1], resume=True, overwrite=False)
    assert before == {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    claim(tmp_path, IDENTITIES[0], resume=True, overwrite=False)


def test_begun_anew_only_what_a_run_wrote_is_removed(tmp_path):
    begun(tmp_path)
    (tmp_path / FOLDS).mkdir()
    (tmp_path / FOLDS / "weights.pt").write_text("of another program")
    claim(tmp_path, IDENTITIES[1], resume=False, overwrite=True)
    sign(tmp_path, IDENTITIES[1])
    assert serialise.load(tmp_path / CHECKPOINT, IDENTITY) == IDENTITIES[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == [CHECKPOINT, FOLDS, "mine.txt"]
    (tmp_path / FOLDS / "fold-1.json").write_text("")
    (tmp_path / manifest.NAME).write_text("damaged")
    clear_folder(tmp_path)
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_what_is_in_the_way_is_said(tmp_path):
    check_folder(tmp_path, resume=False, folds=None)
    with pytest.raises(InputError, match="no run to resume"):
        check_folder(tmp_path, resume=True, folds=None)
    serialise.save(tmp_path / CHECKPOINT / "member_0", POLISH_FILE, {})
    assert is_begun(tmp_path)
    with pytest.raises(InputError, match=r"--resume.*--overwrite"):
        check_folder(tmp_path, resume=False, folds=None)
    with pytest.raises(InputError, match="give one of them"):
        check_folder(tmp_path, resume=True, folds=None, overwrite=True)
    check_folder(tmp_path, resume=False, folds=None, overwrite=True)
    (tmp_path / FOLDS).mkdir()
    with pytest.raises(InputError, match="--folds"):
        check_folder(tmp_path, resume=True, folds=None)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"held_out": 3}', '{"held_out": {"u": {}}}', "\x00"]
)
def test_damaged_numbers_are_said_where_nothing_else_tells(whole, tmp_path, text):
    folder = tmp_path / "run"
    shutil.copytree(whole, folder)
    (folder / manifest.NAME).unlink()
    (folder / METRICS).write_text(text)
    with pytest.raises(InputError, match=r"metrics\.json: damaged"):
        info(folder)


def test_a_run_that_does_not_say_what_it_is_is_not_continued(tmp_path):
    serialise.save(tmp_path, "reconstruction", {})
    with pytest.raises(InputError, match=r"not what it was made of.*--overwrite"):
        claim(tmp_path, IDENTITIES[0], resume=True, overwrite=False)
