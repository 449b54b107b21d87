"""The folder of a run: its files, whether a run may be written there, and to which run it belongs."""

import shutil
from contextlib import suppress
from pathlib import Path

from pgt.core import manifest, serialise
from pgt.core.errors import InputError
from pgt.core.files import require_writable
from pgt.core.serialise import exists
from pgt.problem.checkpoint import POLISH_FILE, TRAINING_FILE, Identity, describe_difference
from pgt.reconstruction import cross_validation, result

RUN_FILE, CHECKPOINT, METRICS, REPORT = "run.toml", "checkpoint", "metrics.json", "report.html"
FOLDS, IDENTITY = "folds", "identity"


def is_begun(folder: Path) -> bool:
    """Whether a run in this folder can be continued, or was finished there."""
    members = (folder / CHECKPOINT).glob("member_*")
    polished = any(exists(member, POLISH_FILE) for member in members)
    begun = exists(folder / CHECKPOINT, TRAINING_FILE) or polished or (folder / FOLDS).is_dir()
    return begun or exists(folder, result.FILE)


def check_folder(folder: Path, resume: bool, folds: int | None, overwrite: bool = False) -> None:
    """Raise, before the training, where the options do not fit the contents of the folder."""
    begun = is_begun(folder)
    if resume and overwrite:
        raise InputError(
            "--resume continues a run and --overwrite begins it anew: give one of them."
        )
    if begun and not (resume or overwrite):
        raise InputError(
            f"{folder} holds a run already; continue it with --resume, begin it anew with --overwrite, "
            "or name another folder with -o."
        )
    if resume and not begun:
        raise InputError(f"{folder} holds no run to resume; leave out --resume.")
    if folds is None and (folder / FOLDS).is_dir() and not overwrite:
        raise InputError(f"{folder} was begun with --folds; give it again, with the same number.")
    require_writable(folder)


def claim(folder: Path, identity: Identity, *, resume: bool, overwrite: bool) -> None:
    """Prepare the folder for this run; raises, before any change, where another run would be resumed."""
    if resume:
        for name in (CHECKPOINT, FOLDS):
            manifest.require_unchanged(folder, below=f"{name}/")
        require_same_run(folder, identity)
    if overwrite:
        clear_folder(folder)
    # From here on files change, so that the old manifest is no longer valid.
    (folder / manifest.NAME).unlink(missing_ok=True)


def sign(folder: Path, identity: Identity) -> None:
    """Write the identity of the run to the folder."""
    serialise.save(folder / CHECKPOINT, IDENTITY, identity, copy=False)


def require_same_run(folder: Path, identity: Identity) -> None:
    """Raise unless the run in the folder agrees with this one in everything that affects its result."""
    if not exists(folder / CHECKPOINT, IDENTITY):
        raise InputError(
            f"{folder} holds a run, but not what it was made of, so that it cannot be continued; begin "
            "anew with --overwrite, or name another folder with -o."
        )
    saved = serialise.load(folder / CHECKPOINT, IDENTITY)
    if saved != identity:
        raise InputError(
            f"{folder} holds another run ({describe_difference(saved, identity)}). Undo the change "
            "to continue it, begin anew with --overwrite, or name another folder with -o."
        )


def clear_folder(folder: Path) -> None:
    """Remove the files of a run from the folder; other files stay."""
    for name, mark in ((CHECKPOINT, f"{IDENTITY}.*"), (FOLDS, "fold-*")):
        if any((folder / name).glob(mark)):
            shutil.rmtree(folder / name)
    saved = (result.FILE, cross_validation.FILE)
    kept = [f"{name}.{end}" for name in saved for end in ("safetensors", "json")]
    with suppress(InputError):  # a damaged list: what it named is written over
        kept += manifest.read_manifest(folder)
    for name in (*kept, METRICS, REPORT):
        (folder / name).unlink(missing_ok=True)


def work_files(folder: Path) -> list[str]:
    """The paths in the folder of the checkpoints and finished folds of a run, which `--resume` reads."""
    found = [
        path for name in (CHECKPOINT, FOLDS) for path in (folder / name).rglob("*.safetensors")
    ]
    return sorted(path.relative_to(folder).as_posix() for path in found)
