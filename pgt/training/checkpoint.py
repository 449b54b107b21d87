"""Work in progress survives a kill: one file, replaced atomically, that holds everything."""

from pathlib import Path

from pgt import _serialise
from pgt._errors import InputError

NAME = "checkpoint"


def save_checkpoint(folder: Path, identity: dict, content) -> None:
    """Replace the checkpoint in `folder`; `identity` says which run it belongs to."""
    folder.mkdir(parents=True, exist_ok=True)
    _serialise.save(folder, NAME, {"identity": identity, "content": content})


def load_checkpoint(folder: Path, identity: dict, start):
    """What the checkpoint in `folder` holds, or `start` where there is none."""
    if not _serialise.exists(folder, NAME):
        return start
    saved = _serialise.load(folder, NAME)
    if saved["identity"] != identity:
        raise InputError(
            f"{folder}: the checkpoint belongs to a run with other settings "
            f"({_difference(saved['identity'], identity)}). Delete the folder to start again, or "
            "write another checkpoint=."
        )
    return saved["content"]


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
