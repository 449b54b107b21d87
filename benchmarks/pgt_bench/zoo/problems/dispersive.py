"""Waves whose speed depends on their length: solitons and packets."""

import jax.numpy as jnp

from pgt.data import Domain
from pgt.physics import Equation
from pgt_bench.zoo.problem import HELD_BACK, NOISE, TUNED, Readings, ZooProblem
from pgt_bench.zoo.truth import Formula

FAST, SLOW = 1.4, 0.9  # wave numbers of the two solitons
FREQUENCY = 0.6  # of the breather


def _two_solitons(x, t):
    """2 (log F)_xx with F = 1 + e^a + e^b + A e^(a + b) (Hirota 1971); they meet at x = 0, t = 3."""
    ratio = ((FAST - SLOW) / (FAST + SLOW)) ** 2
    a = jnp.exp(FAST * x - FAST**3 * (t - 3))
    b = jnp.exp(SLOW * x - SLOW**3 * (t - 3))
    both = ratio * a * b
    f = 1 + a + b + both
    slope = FAST * a + SLOW * b + (FAST + SLOW) * both
    bend = FAST**2 * a + SLOW**2 * b + (FAST + SLOW) ** 2 * both
    return {"u": 2 * (f * bend - slope**2) / f**2}


def _packet(x, t, width=0.7, number=3.0):
    """A Gaussian that moves at its wave number k and spreads, ψ = a + i b."""
    age = t / width**2
    square = (x + 2 - number * t) ** 2 / (2 * width**2 * (1 + age**2))
    size = (1 + age**2) ** -0.25 * jnp.exp(-square)
    phase = number * (x + 2) - number**2 * t / 2 + square * age - jnp.arctan(age) / 2
    return {"a": size * jnp.cos(phase), "b": size * jnp.sin(phase)}


def _two_in_one(x, t):
    """Two solitons bound to each other, from 2 sech x (Satsuma and Yajima 1974)."""
    below = jnp.cosh(4 * x) + 4 * jnp.cosh(2 * x) + 3 * jnp.cos(4 * t)
    slow, fast = jnp.cosh(3 * x) / below, 3 * jnp.cosh(x) / below
    return {
        "a": 4 * (slow * jnp.cos(t / 2) + fast * jnp.cos(9 * t / 2)),
        "b": 4 * (slow * jnp.sin(t / 2) + fast * jnp.sin(9 * t / 2)),
    }


def _breather(x, t):
    rest = (1 - FREQUENCY**2) ** 0.5
    return {"u": 4 * jnp.arctan(rest / FREQUENCY * jnp.sin(FREQUENCY * t) / jnp.cosh(rest * x))}


PROBLEMS = (
    ZooProblem(
        "kdv", "dispersive", "two solitons in shallow water, one overtaking the other",
        Equation("u_t + 6*u*u_x + u_xxx = 0"), Domain(x=(-10, 10), t=(0, 6)),
        Formula(_two_solitons, (161, 81)), Readings(300), group=TUNED,
    ),
    ZooProblem(
        "schrodinger", "dispersive", "a free packet, real and imaginary part",
        Equation("a_t = -0.5*b_xx", "b_t = 0.5*a_xx"), Domain(x=(-5, 5), t=(0, 1)),
        Formula(_packet, (161, 81)), Readings(200), group=HELD_BACK,
    ),
    ZooProblem(
        "nls", "dispersive", "two solitons of the cubic Schrödinger equation, bound and breathing",
        Equation("a_t = -0.5*b_xx - (a^2 + b^2)*b", "b_t = 0.5*a_xx + (a^2 + b^2)*a"),
        Domain(x=(-4, 4), t=(0, 1.5)), Formula(_two_in_one, (161, 101)), Readings(400),
        group=TUNED,
    ),
    ZooProblem(
        "sine-gordon", "dispersive", "a breather",
        Equation("u_tt = u_xx - sin(u)"), Domain(x=(-8, 8), t=(0, 15)),
        Formula(_breather, (121, 121)), Readings(200, NOISE), group=HELD_BACK,
    ),
)  # fmt: skip
