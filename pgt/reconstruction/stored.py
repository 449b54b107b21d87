"""What lies in a folder: a result, or work that is not finished."""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

from pgt.ground import serialise
from pgt.ground.errors import InputError
from pgt.training.checkpoint import NAME as CHECKPOINT

Kind = TypeVar("Kind")


def load_stored(folder: Path, name: str, kind: type[Kind], classes: Sequence[type] = ()) -> Kind:
    """The object of that kind that was saved as `name` in `folder`."""
    if not serialise.exists(folder, name) and serialise.exists(folder, CHECKPOINT):
        raise InputError(
            f"{folder} holds a checkpoint, the state of a fit that is not finished, and no result: call "
            "`reconstruct` again with checkpoint= this folder, or `pgt fit` with --resume."
        )
    found = serialise.load(folder, name, classes)
    if not isinstance(found, kind):
        raise InputError(
            f"{folder / name}.safetensors holds a {type(found).__name__}, not a {kind.__name__}; give a "
            "folder that `Reconstruction.save` or `pgt fit` wrote."
        )
    return found
