"""Problems added later: in the plane and in space."""

import jax.numpy as jnp

from pgt.data import Domain
from pgt.physics import Acoustics, Dirichlet, Equation, Heat, Initial
from pgt_bench.zoo.problem import LATER, NOISE, Readings, ZooProblem
from pgt_bench.zoo.truth import Formula, given

LAYER, VISCOSITY, SOUND, DENSITY = 0.04, 0.005, 340.0, 1.2

CONDUCTED = (
    "div((1 + 0.3*x + 0.2*y^2)*grad(T)) ="
    " -(1 + 0.3*x + 0.2*y^2)*11.6*pi^2*sin(pi*x/5)*cos(pi*y/2)"
    " + 2.4*pi*cos(pi*x/5)*cos(pi*y/2) - 8*pi*y*sin(pi*x/5)*sin(pi*y/2)"
)


def _plate(x, y):
    return {"T": 300 + 40 * jnp.sin(jnp.pi * x / 5) * jnp.cos(jnp.pi * y / 2)}


def _corner(x, y):
    return {"u": -jnp.expm1((x - 1) / LAYER) * -jnp.expm1((y - 1) / LAYER)}


def _bubble(x, y):
    """Liouville: log of 8 |f'|² / (1 + |f|²)² with f = z + 0.3 z²."""
    real, imaginary = x + 0.3 * (x**2 - y**2), y + 0.6 * x * y
    steep = (1 + 0.6 * x) ** 2 + (0.6 * y) ** 2
    return {"u": jnp.log(8 * steep / (1 + real**2 + imaginary**2) ** 2)}


def _colliding(x, y, t):
    """By the map of Hopf and Cole (Fletcher 1983)."""
    part = 0.25 / (1 + jnp.exp((4 * y - 4 * x - t) / (32 * VISCOSITY)))
    return {"u": 0.75 - part, "v": 0.75 + part}


def _room(x, y, t):
    u, v, p = 0.0, 0.0, 0.0
    for m, n, amplitude in ((1, 0, 0.8), (1, 1, -0.6), (2, 1, 0.5), (0, 2, 0.4)):
        a, b = m * jnp.pi / 5, n * jnp.pi / 3
        frequency = SOUND * (a**2 + b**2) ** 0.5
        moved = amplitude / (DENSITY * frequency) * jnp.sin(frequency * t)
        u = u + moved * a * jnp.sin(a * x) * jnp.cos(b * y)
        v = v + moved * b * jnp.cos(a * x) * jnp.sin(b * y)
        p = p + amplitude * jnp.cos(a * x) * jnp.cos(b * y) * jnp.cos(frequency * t)
    return {"u": u, "v": v, "p": p}


def _rolls(x, y):
    """Steady rolls in a heated fluid, held up by the forces and the heating in the text."""
    return {
        "u": jnp.sin(x) * jnp.cos(y),
        "v": -jnp.cos(x) * jnp.sin(y),
        "p": (jnp.cos(2 * x) + jnp.cos(2 * y)) / 4,
        "T": 300 + 30 * jnp.cos(x) * jnp.cos(y),
    }


ROLLS = (
    "u*u_x + v*u_y = -p_x + 0.02*lap(u) + 0.04*sin(x)*cos(y)",
    "u*v_x + v*v_y = -p_y + 0.02*lap(v) + 0.01*(T - 300) - 0.04*cos(x)*sin(y) - 0.3*cos(x)*cos(y)",
    "u*T_x + v*T_y = 0.02*lap(T) + 30*(cos(x)^2*sin(y)^2 - sin(x)^2*cos(y)^2) + 1.2*cos(x)*cos(y)",
    "u_x + v_y = 0",
)


def _glowing(x, y, z):
    return {"u": 1 + 0.5 * jnp.cos(x) * jnp.sin(y) * jnp.cos(z)}


GLOWING = "lap(u) = u^3 - (1 + 0.5*cos(x)*sin(y)*cos(z))^3 - 1.5*cos(x)*sin(y)*cos(z)"


def _oven(x, y, z, t):
    total = 180.0
    for (k, m, n), amplitude in {(1, 0, 0): 20.0, (1, 2, 0): 12.0, (2, 1, 1): -15.0}.items():
        a, b, c = k * jnp.pi / 2, m * jnp.pi, n * jnp.pi
        decay = jnp.exp(-0.02 * (a**2 + b**2 + c**2) * t)
        total = total + amplitude * jnp.cos(a * x) * jnp.cos(b * y) * jnp.cos(c * z) * decay
    return {"T": total}


PROBLEMS = (
    ZooProblem(
        "graded-plate", "elliptic", "a plate of graded conductivity, heated, two edges known",
        Equation(CONDUCTED), Domain(x=(0, 5), y=(0, 2)), Formula(_plate, (101, 41)),
        Readings(120, NOISE), group=LATER, conditions=(Dirichlet("x", T=300.0),),
    ),
    ZooProblem(
        "corner-layer", "elliptic", "a wind into a corner: layers at two edges, which are known",
        Equation("u_x + u_y = e*lap(u)", e=LAYER), Domain(x=(0, 1), y=(0, 1)),
        Formula(_corner, (81, 81)), Readings(80), group=LATER,
        conditions=(Dirichlet(u=given(_corner, "u")),),
    ),
    ZooProblem(
        "bubble", "elliptic", "a nonlinear potential (Liouville), readings only",
        Equation("lap(u) + exp(u) = 0", coords=("x", "y")), Domain(x=(-1, 1), y=(-1, 1)),
        Formula(_bubble, (81, 81)), Readings(80), group=LATER,
    ),
    ZooProblem(
        "burgers-2d", "flow", "two velocities with a front between them",
        Equation("u_t + u*u_x + v*u_y = n*lap(u)", "v_t + u*v_x + v*v_y = n*lap(v)", n=VISCOSITY),
        Domain(x=(0, 1), y=(0, 1), t=(0, 2)), Formula(_colliding, (41, 41, 31)), Readings(300),
        group=LATER,
    ),
    ZooProblem(
        "room", "hyperbolic", "sound in a room with hard walls, pressure read and velocity hidden",
        Acoustics(SOUND, DENSITY, 2), Domain(x=(0, 5), y=(0, 3), t=(0, 0.02)),
        Formula(_room, (51, 31, 41)), Readings(400, NOISE, hidden=("u", "v")), group=LATER,
        conditions=(Initial(u=0.0, v=0.0), Dirichlet("x", u=0.0), Dirichlet("y", v=0.0)),
    ),
    ZooProblem(
        "rolls", "flow", "convection in a heated fluid, pressure hidden",
        Equation(*ROLLS, fields=("u", "v", "p", "T")), Domain(x=(0, 3), y=(0, 3)),
        Formula(_rolls, (61, 61)), Readings(250, NOISE, hidden=("p",)), group=LATER,
    ),
    ZooProblem(
        "glowing", "elliptic", "a block that radiates: steady and nonlinear in three dimensions",
        Equation(GLOWING), Domain(x=(0, 3), y=(0, 3), z=(0, 3)), Formula(_glowing, (25, 25, 25)),
        Readings(300), group=LATER,
    ),
    ZooProblem(
        "oven", "parabolic", "heat in a box over time, many noisy readings, nothing known of its walls",
        Heat(0.02, 3, fields="T"), Domain(x=(0, 2), y=(0, 1), z=(0, 1), t=(0, 2)),
        Formula(_oven, (17, 15, 15, 13)), Readings(2000, NOISE), group=LATER,
    ),
)  # fmt: skip
