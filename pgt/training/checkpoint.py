"""Work in progress survives a kill: one file, replaced atomically, that holds everything."""

import time
from pathlib import Path

import jax

from pgt.ground import serialise
from pgt.ground.errors import InputError

NAME, POLISH_NAME = "checkpoint", "polish"
SECONDS_BETWEEN = 2.0  # two checkpoints of a polish
LAYOUT = 4  # one more whenever what is stored changes its form
# What is said where a part differs; the settings of the training are named one by one.
WORDS = {
    "model": "another model",
    "equation": "another equation",
    "conditions": "other conditions",
    "readings": "other readings",
    "held out": "other readings held out",
    "domain": "another domain",
    "error bars": "other error bars",
}
MOST_NAMED = 3  # differences within a part


def save_checkpoint(folder: Path, identity: dict, content) -> None:
    """Replace the checkpoint in `folder`; `identity` says which run it belongs to.

    `content` = (state, best, logbook): of the first two only the arrays are written, since the run
    that resumes has the same structure; so equations of the user's own class need no import.
    """
    state, best, logbook = content
    arrays = jax.tree.leaves((state, best))
    folder.mkdir(parents=True, exist_ok=True)
    saved = {"layout": LAYOUT, "identity": identity, "arrays": arrays, "logbook": logbook}
    serialise.save(folder, NAME, saved, copy=False)


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
            serialise.save(self.folder, POLISH_NAME, saved, copy=False)
            self.written = time.monotonic()


def require_same(folder: Path, saved: dict, identity: dict) -> None:
    """Raise unless what lies in `folder` belongs to this run."""
    if saved != identity:
        raise _belongs_elsewhere(folder, difference(saved, identity))


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


def difference(old: dict, new: dict) -> str:
    """What differs between two runs, in words.

    >>> difference({"seed": 0, "training": {"steps": "4"}}, {"seed": 1, "training": {"steps": "6"}})
    'seed: 0 there, 1 here, steps: 4 there, 6 here'
    """
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return ", ".join(_said(name, old.get(name), new.get(name)) for name in changed)


def _said(name: str, old, new) -> str:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return f"{name}: {_absent(old)} there, {_absent(new)} here"
    paths = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    # The shortest paths say most: a class, a number of heads; weights only follow from it.
    telling = sorted(paths, key=lambda path: (_is_array(new.get(path)), path.count(".")))
    found = [
        f"{path or name}: {_absent(old.get(path))} there, {_absent(new.get(path))} here"
        for path in telling[:MOST_NAMED]
    ]
    more = f" and {len(paths) - len(found)} more" if len(paths) > len(found) else ""
    return f"{WORDS[name]}: {', '.join(found)}{more}" if name in WORDS else ", ".join(found) + more


def _absent(value) -> str:
    return "nothing" if value is None else str(value)


def _is_array(value) -> bool:
    return value is not None and "[" in value
