"""Exact solutions of elasticity."""

import jax.numpy as jnp

from exact_solutions.case import XYZ, ExactCase, Solution, box
from pgt.physics.equations.elasticity import Elasticity


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


def kirsch(young: float, ratio: float, pull: float, radius: float) -> Solution:
    """A wide plate in plane stress with a round hole, far from which it is pulled along x (Kirsch).

    With κ = (3 - ν)/(1 + ν), q = a/r and the stress S far away, in units of S a / 8μ

    u = (κ + 1)/q cos θ + 2q ((1 + κ) cos θ + cos 3θ) - 2q³ cos 3θ,
    v = (κ - 3)/q sin θ + 2q ((1 - κ) sin θ + sin 3θ) - 2q³ sin 3θ.
    """

    def solution(z):
        q, angle = radius / jnp.linalg.norm(z), jnp.arctan2(z[1], z[0])
        k = (3 - ratio) / (1 + ratio)
        cosine, sine, thrice = jnp.cos(angle), jnp.sin(angle), 3 * angle
        u = (k + 1) / q * cosine + 2 * q * ((1 + k) * cosine + jnp.cos(thrice) * (1 - q**2))
        v = (k - 3) / q * sine + 2 * q * ((1 - k) * sine + jnp.sin(thrice) * (1 - q**2))
        return pull * radius * (1 + ratio) / (4 * young) * jnp.stack([u, v])

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
)
