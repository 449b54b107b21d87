"""Work in progress survives a kill: one file, replaced atomically, that holds everything."""

import time
import zlib
from pathlib import Path

import jax
import numpy as np

from pgt.ground import serialise
from pgt.ground.errors import InputError

NAME, POLISH_NAME = "checkpoint", "polish"
SECONDS_BETWEEN = 2.0  # two checkpoints of a polish
LAYOUT = 2  # one more whenever what is stored changes its form


def save_checkpoint(folder: Path, identity: dict, content) -> None:
    """Replace the checkpoint in `folder`; `identity` says which run it belongs to.

    `content` = (state, best, logbook): of the first two only the arrays are written, since the run
    that resumes has the same structure; so equations of the user's own class need no import.
    """
    state, best, logbook = content
    arrays = jax.tree.leaves((state, best))
    folder.mkdir(parents=True, exist_ok=True)
    saved = {"layout": LAYOUT, "identity": identity, "arrays": arrays, "logbook": logbook}
    serialise.save(folder, NAME, saved)


def load_checkpoint(folder: Path, identity: dict, start):
    """What the checkpoint in `folder` holds, or `start` where there is none."""
    if not serialise.exists(folder, NAME):
        return start
    saved = serialise.load(folder, NAME)
    if saved.get("layout") != LAYOUT:
        raise _too_old(folder)
    require_same(folder, saved["identity"], identity)
    arrays, structure = jax.tree.flatten(start[:2])
    if [(a.shape, a.dtype) for a in arrays] != [(a.shape, a.dtype) for a in saved["arrays"]]:
        raise _belongs_elsewhere(folder, "another model or equation")
    return *jax.tree.unflatten(structure, saved["arrays"]), saved["logbook"]


class States:
    """How far each stage of a polish came, by name; kept in `folder` where there is one.

    A finished stage is written at once, one that goes on every few seconds.
    """

    def __init__(self, folder: Path | None = None, identity: dict | None = None):
        self.folder, self.identity = folder, identity or {}
        self.states, self.written = {}, time.monotonic()
        if folder is not None and serialise.exists(folder, POLISH_NAME):
            saved = serialise.load(folder, POLISH_NAME)
            if saved.get("layout") != LAYOUT:
                raise _too_old(folder)
            require_same(folder, saved["identity"], self.identity)
            self.states = saved["states"]

    def get(self, stage: str, start):
        """Where the stage was left, or `start`."""
        return self.states.get(stage, start)

    def keep(self, stage: str, state) -> None:
        """Remember where the stage is."""
        self.states[stage] = state
        late = time.monotonic() - self.written > SECONDS_BETWEEN
        if self.folder is not None and (late or state.over):
            saved = {"layout": LAYOUT, "identity": self.identity, "states": self.states}
            serialise.save(self.folder, POLISH_NAME, saved)
            self.written = time.monotonic()


def fingerprint(described, arrays) -> str:
    """A short code of what is fitted: work on other readings must not be continued."""
    code = zlib.crc32(repr(described).encode())
    for array in jax.tree.leaves(arrays):
        code = zlib.crc32(np.ascontiguousarray(array).tobytes(), code)
    return f"{code:08x}"


def require_same(folder: Path, saved: dict, identity: dict) -> None:
    """Raise unless what lies in `folder` belongs to this run."""
    if saved != identity:
        raise _belongs_elsewhere(folder, _difference(saved, identity))


def _too_old(folder: Path) -> InputError:
    return InputError(
        f"{folder}: the checkpoint was written by another version of pgt and cannot be continued; "
        "delete the folder to start again, or name another folder."
    )


def _belongs_elsewhere(folder: Path, difference: str) -> InputError:
    return InputError(
        f"{folder}: the checkpoint belongs to a run with other settings ({difference}). "
        "Delete the folder to start again, or name another folder."
    )


def _difference(old: dict, new: dict) -> str:
    flat_old, flat_new = _flat(old), _flat(new)
    keys = [k for k in flat_new if flat_old.get(k) != flat_new[k]]
    return (
        ", ".join(f"{k}: {flat_old.get(k)} there, {flat_new[k]} here" for k in keys)
        or "unlike keys"
    )


def _flat(tree: dict) -> dict:
    return {
        name: value
        for key, part in tree.items()
        for name, value in (part.items() if isinstance(part, dict) else [(key, part)])
    }
