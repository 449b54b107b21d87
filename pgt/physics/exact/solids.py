"""Exact solutions of elasticity."""

import jax.numpy as jnp

from pgt.physics.elasticity import Elasticity
from pgt.physics.exact.case import XYZ, ExactCase, Solution, box


def kelvin(
    shear: float, ratio: float, force: tuple[float, ...], pole: tuple[float, ...]
) -> Solution:
    """The displacement by a point force F at a pole outside the box (Kelvin); r is counted from there.

    plane strain  u = (-(3 - 4ν) log r F + r (r·F)/r²) / 8πμ(1 - ν),
    space         u = ((3 - 4ν) F/r + r (r·F)/r³) / 16πμ(1 - ν).
    """

    def solution(z):
        apart, load = z - jnp.asarray(pole), jnp.asarray(force)
        r = jnp.linalg.norm(apart)
        if len(pole) == 2:
            near, along = -jnp.log(r), apart * (apart @ load) / r**2
        else:
            near, along = 1 / r, apart * (apart @ load) / r**3
        scale = 8 * jnp.pi * shear * (1 - ratio) * (len(pole) - 1)
        return ((3 - 4 * ratio) * near * load + along) / scale

    return solution


def stretched(young: float, ratio: float, force: float) -> Solution:
    """A plate in plane stress that a body force f along y stretches: the stress along y is -f y.

    u = ν f x y / E,  v = -f (y² + ν x²) / 2E.
    """

    def solution(z):
        x, y = z
        u = ratio * force * x * y / young
        return jnp.stack([u, -force * (y**2 + ratio * x**2) / (2 * young)])

    return solution


_POLE, _FORCE = (-0.4, -0.7, -0.5), (1.0, -2.0, 0.5)
_YOUNG, _RATIO = 2.0, 0.3
_SHEAR = _YOUNG / (2 * (1 + _RATIO))

CASES: tuple[ExactCase, ...] = (
    *(
        ExactCase(
            f"elasticity_{n}d",
            Elasticity(_YOUNG, _RATIO, n),
            kelvin(_SHEAR, _RATIO, _FORCE[:n], _POLE[:n]),
            box(*XYZ[:n]),
        )
        for n in (2, 3)
    ),
    # A plate is a long solid of another ratio: ν / (1 + ν).
    ExactCase(
        "elasticity_plane_stress",
        Elasticity(_YOUNG, _RATIO, plane="stress"),
        kelvin(_SHEAR, _RATIO / (1 + _RATIO), _FORCE[:2], _POLE[:2]),
        box("x", "y"),
    ),
    ExactCase(
        "elasticity_with_weight",
        Elasticity(_YOUNG, _RATIO, plane="stress", source=(None, -0.5)),
        stretched(_YOUNG, _RATIO, -0.5),
        box("x", "y"),
    ),
)
