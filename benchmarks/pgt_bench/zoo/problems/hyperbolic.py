"""What travels: waves and what is carried."""

import jax.numpy as jnp

from pgt.data import Domain
from pgt.physics import Dirichlet, Equation, Wave
from pgt_bench.zoo.problem import HELD_BACK, NOISE, TUNED, Readings, ZooProblem
from pgt_bench.zoo.truth import Formula

SQUARE = Domain(x=(0, 1), t=(0, 1))
DAMPING, MASS = 0.5, 3.0


def _string(x, t):
    return {
        "u": jnp.sin(jnp.pi * x) * jnp.cos(jnp.pi * t)
        + 0.5 * jnp.sin(4 * jnp.pi * x) * jnp.cos(4 * jnp.pi * t)
    }


def _damped(x, t):
    total = 0.0
    for n, amplitude in ((1, 1.0), (3, -0.6)):
        rate = jnp.sqrt((n * jnp.pi) ** 2 - DAMPING**2)
        shape = jnp.cos(rate * t) + DAMPING / rate * jnp.sin(rate * t)
        total = total + amplitude * jnp.exp(-DAMPING * t) * shape * jnp.sin(n * jnp.pi * x)
    return {"u": total}


def _massive(x, t):
    total = 0.0
    for k, amplitude, phase in ((2.0, 1.0, 0.3), (5.0, 0.6, 1.2), (-4.0, 0.5, 2.0)):
        total = total + amplitude * jnp.cos(k * x - jnp.sqrt(k**2 + MASS**2) * t + phase)
    return {"u": total}


def _membrane(x, y, t):
    total = 0.0
    for m, n, amplitude in ((1, 2, 1.0), (2, 1, 0.7), (3, 3, 0.4)):
        shape = jnp.sin(m * jnp.pi * x) * jnp.sin(n * jnp.pi * y)
        total = total + amplitude * shape * jnp.cos(jnp.pi * (m**2 + n**2) ** 0.5 * t)
    return {"u": total}


def _blob(x, y, t, width=0.2):
    square = (x - 0.5 * jnp.cos(t)) ** 2 + (y - 0.5 * jnp.sin(t)) ** 2
    return {"u": jnp.exp(-square / (2 * width**2))}


def _seiche(x, t):
    """Standing waves in a basin with walls: the water moves between them."""
    height, velocity = 0.0, 0.0
    for n, amplitude in ((1, 0.5), (2, -0.4), (4, 0.3)):
        k = n * jnp.pi
        height = height + amplitude * jnp.cos(k * x) * jnp.cos(k * t)
        velocity = velocity + amplitude * jnp.sin(k * x) * jnp.sin(k * t)
    return {"h": height, "u": velocity}


PROBLEMS = (
    ZooProblem(
        "wave-modes", "hyperbolic", "two modes of a string, nothing known of its ends",
        Wave(1.0), SQUARE, Formula(_string, (101, 101)), Readings(100), group=TUNED,
    ),
    ZooProblem(
        "telegraph", "hyperbolic", "a damped string held at both ends",
        Equation("u_tt + 2*c*u_t = u_xx", c=DAMPING), Domain(x=(0, 1), t=(0, 2)),
        Formula(_damped, (101, 101)), Readings(150, NOISE), group=HELD_BACK,
        conditions=(Dirichlet("x", u=0.0),),
    ),
    ZooProblem(
        "klein-gordon", "hyperbolic", "three travelling waves of different speeds",
        Equation("u_tt = u_xx - m^2*u", m=MASS), Domain(x=(-1, 1), t=(0, 1)),
        Formula(_massive, (101, 101)), Readings(120), group=TUNED,
    ),
    ZooProblem(
        "wave-2d", "hyperbolic", "three modes of a square membrane held at its edge",
        Wave(1.0, 2), Domain(x=(0, 1), y=(0, 1), t=(0, 1)), Formula(_membrane, (41, 41, 31)),
        Readings(300), group=HELD_BACK, conditions=(Dirichlet(u=0.0),),
    ),
    ZooProblem(
        "blob", "hyperbolic", "a blob carried around half a turn without spreading",
        Equation("u_t - y*u_x + x*u_y = 0"), Domain(x=(-1, 1), y=(-1, 1), t=(0, 3.14)),
        Formula(_blob, (41, 41, 31)), Readings(400), group=TUNED,
    ),
    ZooProblem(
        "seiche", "hyperbolic", "shallow water in a basin, its height read and its velocity hidden",
        Equation("h_t + u_x = 0", "u_t + h_x = 0"), SQUARE, Formula(_seiche, (101, 101)),
        Readings(150, hidden=("u",)), group=HELD_BACK, conditions=(Dirichlet("x", u=0.0),),
    ),
)  # fmt: skip
