"""Obstacles in the domain of a run file that `pgt init` writes."""

from collections.abc import Mapping, Sequence
from typing import Any

from pgt.config.schema import did_you_mean
from pgt.config.source import toml
from pgt.core.errors import InputError
from pgt.physics.pde import About

# An obstacle of every simple kind, about the size of a third of a unit box.
_OBSTACLES: dict[str, dict[str, Any]] = {
    "disk": {"centre": [0.5, 0.5], "radius": 0.15},
    "ellipse": {"centre": [0.5, 0.5], "radii": [0.2, 0.1]},
    "rectangle": {"x": [0.4, 0.6], "y": [0.4, 0.6]},
    "polygon": {"corners": [[0.4, 0.4], [0.6, 0.4], [0.5, 0.6]]},
    "formula": {"text": "sqrt((x - 0.5)^2 + (y - 0.5)^2) - 0.15"},
    "ball": {"centre": [0.5, 0.5, 0.5], "radius": 0.15},
    "cylinder": {"centre": [0.5, 0.5], "radius": 0.15, "z": [0.2, 0.8]},
    "box": {"x": [0.4, 0.6], "y": [0.4, 0.6], "z": [0.4, 0.6]},
    "file": {"path": "obstacle.stl"},
}
_IN_SPACE = ("ball", "cylinder", "box")


def obstacle(about: About, shape: str | None) -> str:
    """The table of an obstacle: in use where one is asked for, else switched off; none on a line."""
    space = [axis for axis in about.box if axis != "t"]
    if shape is None and len(space) < 2:
        return ""
    kind = shape or ("disk" if len(space) == 2 else "ball")
    if kind not in _OBSTACLES:
        raise InputError(f"there is no shape called '{kind}'{did_you_mean(kind, _OBSTACLES)}")
    if len(space) not in (2, 3) or (kind != "file" and (kind in _IN_SPACE) != (len(space) == 3)):
        raise InputError(f"a {kind} does not fit the axes {', '.join(space) or 'of time alone'}.")
    inside = {"kind": kind, **_fitted(_OBSTACLES[kind], about.box), "name": "obstacle"}
    lines = ["[domain.shape]", 'kind = "outside"  # all but:', f"shape = {toml(inside)}"]
    off = "" if shape else "#"
    note = '# With `wall = "obstacle"` a condition holds on the obstacle in the place of the box\'s ends.'
    return "\n\n" + "\n".join([*(off + line for line in lines), note])


def _fitted(obstacle: Mapping[str, Any], box: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """The obstacle moved and scaled from the unit box into that of an equation."""
    corners = [box[axis] for axis in box if axis != "t"]
    size = min(high - low for low, high in corners)

    def moved(place, axis):
        low, high = corners[axis]
        return round((low + high) / 2 + (place - 0.5) * size, 6)

    found = dict(obstacle)
    if "centre" in found:
        found["centre"] = [moved(p, k) for k, p in enumerate(found["centre"])]
    if "corners" in found:
        found["corners"] = [[moved(p, k) for k, p in enumerate(c)] for c in found["corners"]]
    for key in ("radius", "radii"):
        if key in found:
            found[key] = [size * r for r in found[key]] if key == "radii" else size * found[key]
    return found | {a: [moved(p, k) for p in found[a]] for k, a in enumerate("xyz") if a in found}
