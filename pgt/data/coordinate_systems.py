"""Cylindrical and spherical coordinates: scale factors, volumes and areas.

In orthogonal coordinates q with scale factors h, a step dq along an axis has the length h dq. A box of
such steps has the volume J dq dq ..., where J is the product of the scale factors and of a factor for the
axes that are left out: 2 pi for a full turn, 4 pi for a whole sphere. Then

    grad u = (1/h) u_q,     div F = sum (1/h) F_q + F s,     s = (1/h) d ln(J/h)/dq

for every axis. `TURNS` holds s, which says how a flux is diluted as it spreads.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jaxtyping import Float

from pgt.core.errors import InputError

CARTESIAN, CYLINDRICAL, SPHERICAL = "cartesian", "cylindrical", "spherical"
NAMES = {
    **{name: name for name in (CARTESIAN, CYLINDRICAL, SPHERICAL)},
    "polar": CYLINDRICAL,
    "axisymmetric": CYLINDRICAL,
}
AXES_OF = {
    CARTESIAN: ("x", "y", "z"),
    CYLINDRICAL: ("r", "θ", "z"),  # θ is the angle around the axis
    SPHERICAL: ("r", "θ"),  # θ is the angle from the axis
}
# The formulas of the scale factors h and of s by axis; for all other axes h = 1 and s = 0.
SCALES = {CARTESIAN: {}, CYLINDRICAL: {"θ": "r"}, SPHERICAL: {"θ": "r"}}
TURNS = {
    CARTESIAN: {},
    CYLINDRICAL: {"r": "1/r"},
    SPHERICAL: {"r": "2/r", "θ": "cos(θ)/(r*sin(θ))"},
}


def system_of(name: str, axes: Sequence[str]) -> str:
    """The coordinate system of a name or alias; raises where the axes do not fit it.

    >>> system_of("polar", ("r", "t"))
    'cylindrical'
    """
    space = tuple(axis for axis in axes if axis != "t")
    if name not in NAMES:
        raise InputError(
            f"Domain(coordinates={name!r}): write one of {', '.join(map(repr, NAMES))}."
        )
    system = NAMES[name]
    strange = [axis for axis in space if axis not in AXES_OF[system]]
    if system == CARTESIAN and strange:
        raise InputError(
            f"Domain: {strange[0]} of which coordinates? Write coordinates='cylindrical' (or 'polar', "
            "'axisymmetric'; r is the distance from an axis) or coordinates='spherical' (r is the "
            "distance from a point)."
        )
    if strange or (system != CARTESIAN and "r" not in space):
        raise InputError(
            f"Domain(coordinates={name!r}): the axes of space are named {', '.join(AXES_OF[system])}, "
            f"and r is one of them; got {', '.join(space) or 'none'}."
        )
    return system


def check_limits(system: str, bounds: Mapping[str, tuple[float, float]]) -> None:
    """Raise where a radius is negative, or a range of angles is too large."""
    if "r" in bounds and bounds["r"][0] < 0:
        raise InputError(
            f"Domain(r={bounds['r']}): a radius is not negative; write r=(0, ...) to begin at the axis."
        )
    if "θ" in bounds:
        low, high = bounds["θ"]
        largest = np.pi if system == SPHERICAL else 2 * np.pi
        if high - low > largest * (1 + 1e-9) or (system == SPHERICAL and low < 0):
            raise InputError(
                f"Domain(θ=({low:g}, {high:g})): the angle is in radians, and at most "
                f"{'pi' if system == SPHERICAL else '2 pi'} from end to end."
            )


def volume_factor(system: str, point: Mapping[str, Any]) -> Any:
    """The volume factor J at coordinates that are numbers or arrays.

    >>> volume_factor("spherical", {"r": 2.0, "t": 0.0}) / np.pi
    16.0
    """
    if system == CARTESIAN:
        return 1.0
    r, angle = point["r"], point.get("θ")
    if system == CYLINDRICAL:
        return r if angle is not None else 2 * np.pi * r
    return 4 * np.pi * r**2 if angle is None else 2 * np.pi * r**2 * np.sin(angle)


def area_factor(system: str, point: Mapping[str, Any], normal: str) -> Any:
    """The area of a unit step along every axis but the `normal` one."""
    return volume_factor(system, point) / (point["r"] if normal in SCALES[system] else 1.0)


def scale_factors(
    system: str, axes: Sequence[str], points: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "n d"]:
    """The scale factor h of every axis at points; 1 for time."""
    found = np.ones((len(points), len(axes)))
    for axis, formula in SCALES[system].items():
        if axis in axes:
            assert formula == "r"
            found[:, list(axes).index(axis)] = points[:, list(axes).index("r")]
    return found
