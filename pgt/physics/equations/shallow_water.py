"""The shallow-water equations."""

import math
from collections.abc import Sequence
from typing import Annotated, ClassVar

import equinox as eqx
from jaxtyping import Array, Float

from pgt.core.arguments import Limits, Positive, Powers
from pgt.core.errors import InputError
from pgt.core.registry import register
from pgt.kernels.wave_kernel import WaveKernel
from pgt.physics.coefficient_tree import Coefficient, Given, Rate, as_coefficient, current
from pgt.physics.condition_values import Source, Value, as_source, source_at
from pgt.physics.pde import About, AbstractPDE, Derivatives
from pgt.physics.vectors import as_fields, by_own_names, carried, divergence

Gravity = Annotated[Given, Limits(above=0), Powers(length=1, time=-2)]

FIELDS = ("h", "u", "v")


@register("shallow_water")
class ShallowWater(AbstractPDE):
    r"""Water much wider than deep: its depth h and its velocity (u, v).

    $$ h_t + (h u)_x + (h v)_y = 0 $$
    $$ u_t + u\, u_x + v\, u_y - f v = -g (h_x + b_x) $$
    $$ v_t + u\, v_x + v\, v_y + f u = -g (h_y + b_y) $$

    `gravity` is g, `slope` the pair (b_x, b_y) by which the bed rises along x and y, each a number or a
    formula and None where it is flat, and `coriolis` the f of a rotating earth. Good starting values:
    g = 9.81 m/s², a slope of 0.001 for a river. `depth` is a typical depth: it says how fast influence
    travels in the attention, √(g·depth), and nothing else.

    >>> ShallowWater(slope=(-0.001, None)).fields
    ('h', 'u', 'v')
    """

    about: ClassVar[About] = About(
        "h_t + u*h_x + v*h_y + h*(u_x + v_y) = 0; u_t + u*u_x + v*u_y - coriolis*v = "
        "-gravity*(h_x + slope); v alike",
        {"gravity": 9.81, "slope": (-0.001, 0), "coriolis": 1e-4},
        box={"x": (0, 10), "y": (0, 10), "t": (0, 5)},
        measured=("h",),
        conditions=({"kind": "initial", "u": 0, "v": 0},),
        units={"h": Powers(1), "u": Powers(1, -1), "v": Powers(1, -1)},
        fields=FIELDS,
    )
    coords: tuple[str, ...] = eqx.field(static=True)
    fields: tuple[str, ...] = eqx.field(static=True)
    gravity: Coefficient
    slope: tuple[Value | None, Value | None]
    coriolis: Coefficient
    depth: Coefficient

    def __init__(
        self,
        gravity: Gravity = 9.81,
        slope: Sequence[Source | None] | None = None,
        coriolis: Rate = 0.0,
        depth: Positive = 1.0,
        fields: str | Sequence[str] = FIELDS,
    ):
        self.coords = ("x", "y", "t")
        self.fields = as_fields("ShallowWater", fields, FIELDS)
        self.gravity = as_coefficient("ShallowWater(gravity)", gravity, positive=True)
        self.slope = _as_slope(slope, self.coords)
        self.coriolis = as_coefficient("ShallowWater(coriolis)", coriolis)
        self.depth = as_coefficient("ShallowWater(depth)", depth, positive=True)

    def residual(self, d: Derivatives) -> dict[str, Float[Array, ""]]:
        d = by_own_names(d, self, FIELDS)
        moved = {name: d(f"{name}_t") + carried(d, name, self.coords) for name in FIELDS}
        rise_x, rise_y = (source_at(rise, d, self.coords) for rise in self.slope)
        turned_x, turned_y = -self.coriolis * d("v"), self.coriolis * d("u")
        return {
            "mass": moved["h"] + d("h") * divergence(d, self.coords),
            "momentum_x": moved["u"] + turned_x + self.gravity * (d("h_x") + rise_x),
            "momentum_y": moved["v"] + turned_y + self.gravity * (d("h_y") + rise_y),
        }

    def kernel(self) -> WaveKernel:
        return WaveKernel(math.sqrt(current(self.gravity) * current(self.depth)))


def _as_slope(slope, coords: tuple[str, ...]) -> tuple[Value | None, Value | None]:
    if slope is None:
        return None, None
    if not isinstance(slope, (tuple, list)) or len(slope) != 2:
        raise InputError(
            "ShallowWater(slope) must be the pair (b_x, b_y) by which the bed rises; write None where it "
            "is flat, e.g. slope=(-0.001, None)."
        )
    rise_x, rise_y = slope
    return (
        as_source("ShallowWater(slope[0])", rise_x, coords),
        as_source("ShallowWater(slope[1])", rise_y, coords),
    )
