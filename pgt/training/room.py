"""Whether the points of a step fit into memory, said before they are drawn."""

from math import prod

import jax

from pgt.ground.memory import require_memory
from pgt.models.base import AbstractFieldModel
from pgt.nn import frozen
from pgt.training.dense import on_host
from pgt.training.polish import polish_settings
from pgt.training.settings import Training

# Numbers that are held of every point, however the compiler arranges them: its value and some derivatives
# in every hidden unit of a step; some rows of the polish, which works in pieces.
STREAMS, ROWS = 3, 25
FEWER = "write some thousands"


def check_room(training: Training, model: AbstractFieldModel) -> None:
    """Raise where a step on so many points needs more memory than there is, by the least estimate."""
    if not model.is_trained:
        return  # which has points of its own
    room, units = room_for_arrays(), STREAMS * hidden_units(model)
    size = 8 if training.precision == "float64" else 4
    for name in ("collocation", "condition_points"):
        count = getattr(training, name) if training.steps else 0
        asked = f"Training({name}={count})"
        require_memory(float(size * units * count), asked, FEWER, room)
    finish = polish_settings(model, training)
    if finish and finish.points is not None:
        asked = f"Polish(points={finish.points})"
        require_memory(8.0 * ROWS * finish.points, asked, f"{FEWER}, or leave it out", room)


def hidden_units(model: AbstractFieldModel) -> int:
    """How many numbers a model computes on the way to its answer, counted by the rows of its weights."""
    arrays = jax.tree.leaves(frozen.partition(model)[0])
    return sum(prod(array.shape[:-1]) for array in arrays if array.ndim > 1)


def room_for_arrays() -> float | None:
    """Bytes where arrays lie: of the device that computes; None: those of this machine."""
    if on_host():
        return None
    return (jax.devices()[0].memory_stats() or {}).get("bytes_limit")
