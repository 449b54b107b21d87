"""Checkpoints: one file, replaced atomically, from which a killed fit continues.

A checkpoint has the identity of its run, which is the content of everything that determines the result. A
fit of other readings, another equation or another network must not continue from it.
"""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax

from pgt.core import serialise
from pgt.core.devices import is_first_host
from pgt.core.errors import InputError
from pgt.core.fingerprint import contents
from pgt.problem.assembly import Task

TRAINING_FILE, POLISH_FILE = "checkpoint", "polish"
# The time between two checkpoints of a polish, in seconds. A shorter time costs more writing, and a kill
# loses less.
SECONDS_BETWEEN = 2.0
# The version of the stored format, which grows by one with every change.
LAYOUT = 5
# The words by which messages name a part that differs. Training settings are named one by one.
DIFFERENCE_WORDS = {
    "model": "another model",
    "equation": "another equation",
    "conditions": "other conditions",
    "readings": "other readings",
    "held out": "other readings held out",
    "domain": "another domain",
    "error bars": "other error bars",
}
# The largest number of differences within a part that a message names.
MAX_DIFFERENCES_NAMED = 3


def save_checkpoint(folder: Path, identity: dict, content) -> None:
    """Replace the checkpoint in `folder`; `identity` is that of its run.

    `content` = (state, best, logbook). Only the arrays of the first two are written, since a resumed run
    has the same structure. So an equation of a user's own class needs no import.
    """
    if not is_first_host():
        return
    state, best, logbook = content
    arrays = jax.tree.leaves((state, best))
    folder.mkdir(parents=True, exist_ok=True)
    saved = {"layout": LAYOUT, "identity": identity, "arrays": arrays, "logbook": logbook}
    serialise.save(folder, TRAINING_FILE, saved, copy=False)


def load_checkpoint(folder: Path, identity: dict, start):
    """The content of the checkpoint in `folder`, or `start` if there is none."""
    if not serialise.exists(folder, TRAINING_FILE):
        return start
    saved = serialise.load(folder, TRAINING_FILE)
    if saved.get("layout") != LAYOUT:
        raise _other_version(folder)
    require_same(folder, saved["identity"], identity)
    arrays, structure = jax.tree.flatten(start[:2])
    if [(a.shape, a.dtype) for a in arrays] != [(a.shape, a.dtype) for a in saved["arrays"]]:
        raise _other_run(folder, "another model or equation")
    return *jax.tree.unflatten(structure, saved["arrays"]), saved["logbook"]


class StageStates:
    """The states of the stages of a polish by name, stored in `folder` if there is one.

    A finished stage is stored at once, a running one every few seconds.
    """

    def __init__(self, folder: Path | None = None, identity: dict | None = None):
        self.folder, self.identity = folder, identity or {}
        self.states, self.written = {}, time.monotonic()
        if folder is not None and serialise.exists(folder, POLISH_FILE):
            saved = serialise.load(folder, POLISH_FILE)
            if saved.get("layout") != LAYOUT:
                raise _other_version(folder)
            require_same(folder, saved["identity"], self.identity)
            self.states = saved["states"]

    def get(self, stage: str, start) -> Any:
        """The last state of a stage, or `start`."""
        return self.states.get(stage, start)

    def keep(self, stage: str, state) -> None:
        """Store the state of a stage."""
        self.states[stage] = state
        is_due = time.monotonic() - self.written > SECONDS_BETWEEN
        if self.folder is not None and is_first_host() and (is_due or state.is_finished):
            saved = {"layout": LAYOUT, "identity": self.identity, "states": self.states}
            serialise.save(self.folder, POLISH_FILE, saved, copy=False)
            self.written = time.monotonic()


def require_same(folder: Path, saved: dict, identity: dict) -> None:
    """Raise unless the checkpoint in `folder` belongs to this run."""
    if saved != identity:
        raise _other_run(folder, describe_difference(saved, identity))


def _other_version(folder: Path) -> InputError:
    return InputError(
        f"{folder}: the checkpoint was written by another version of pgt and cannot be continued; "
        "delete the folder to start again, or name another folder."
    )


def _other_run(folder: Path, difference: str) -> InputError:
    return InputError(
        f"{folder}: the checkpoint belongs to a run with other settings ({difference}). "
        "Delete the folder to start again, or name another folder."
    )


def describe_difference(old: dict, new: dict) -> str:
    """The differences between two runs, in words.

    >>> old, new = ({"seed": k, "training": {"steps": str(k)}} for k in (4, 6))
    >>> describe_difference(old, new)
    'seed: 4 there, 6 here, steps: 4 there, 6 here'
    """
    changed = [name for name in {**old, **new} if old.get(name) != new.get(name)]
    return ", ".join(_describe_part(name, old.get(name), new.get(name)) for name in changed)


def _describe_part(name: str, old, new) -> str:
    if not isinstance(old, dict) or not isinstance(new, dict):
        return f"{name}: {_or_nothing(old)} there, {_or_nothing(new)} here"
    paths = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    # The shortest paths are the most informative, such as a class or a number of heads.
    ranked = sorted(paths, key=lambda path: (_is_array(new.get(path)), path.count(".")))
    named = [
        f"{path or name}: {_or_nothing(old.get(path))} there, {_or_nothing(new.get(path))} here"
        for path in ranked[:MAX_DIFFERENCES_NAMED]
    ]
    rest = f" and {len(paths) - len(named)} more" if len(paths) > len(named) else ""
    return (
        f"{DIFFERENCE_WORDS[name]}: {', '.join(named)}{rest}"
        if name in DIFFERENCE_WORDS
        else ", ".join(named) + rest
    )


def _or_nothing(value) -> str:
    return "nothing" if value is None else str(value)


def _is_array(value) -> bool:
    return value is not None and "[" in value


Identity = dict[str, Any]


def identity_of(task: Task) -> Identity:
    """The identity of the run of a task: seed, settings and content of everything that is fitted. A run
    may continue on another number of devices."""
    training = replace(task.requested_training or task.training, devices=None)
    return {
        "seed": task.seeds[0],
        "members": len(task.seeds),
        "training": contents(training),
    } | identity_parts(
        task.problem.observations, task.pde, task.domain, task.problem.conditions, task.networks,
        {"held out": task.held_out, "error bars": task.error_bars},
    )  # fmt: skip


def identity_parts(readings, pde, domain, conditions, model, others: dict[str, Any]) -> Identity:
    """The content of every part of a problem, by name."""
    named = {
        "readings": readings, "equation": pde, "domain": domain, "conditions": conditions,
        "model": model, **others,
    }  # fmt: skip
    return {name: contents(part) for name, part in named.items()}
