"""What is at rest: potentials, standing waves, solids and seepage."""

import jax.numpy as jnp

from pgt.data import Domain
from pgt.physics import Dirichlet, Equation, Laplace, Poisson
from pgt_bench.zoo.problem import HELD_BACK, NOISE, TUNED, Readings, ZooProblem
from pgt_bench.zoo.truth import Formula, given

SQUARE = Domain(x=(0, 1), y=(0, 1))
WAVE_NUMBER, STIFFNESS, LAYER = 4.0, 5.0, 0.05


def _plane_waves(x, y):
    total = 0.0
    for angle, amplitude, phase in ((0.3, 1.0, 0.0), (1.4, -0.7, 0.8), (2.5, 0.6, 2.1)):
        along = WAVE_NUMBER * (x * jnp.cos(angle) + y * jnp.sin(angle))
        total = total + amplitude * jnp.cos(along + phase)
    return {"u": total}


# A peak of width 0.1 on a hill that fills the square; the source is its Laplacian.
SQUARED = "((x - 0.6)^2 + (y - 0.4)^2)"
PEAK = (
    f"({SQUARED}/0.0001 - 200)*exp(-50*{SQUARED}) - pi^2*sin(pi*x)*sin(pi*y)"
)  # fmt: skip


def _peak(x, y):
    square = (x - 0.6) ** 2 + (y - 0.4) ** 2
    return {"u": jnp.exp(-50 * square) + 0.5 * jnp.sin(jnp.pi * x) * jnp.sin(jnp.pi * y)}


def _harmonic(x, y):
    waves = jnp.sin(jnp.pi * x) * jnp.sinh(jnp.pi * y) / jnp.sinh(jnp.pi)
    return {"u": waves + 0.5 * jnp.cos(2 * y) * jnp.exp(-2 * x) + 0.5 * x * y}


def _layer(x):
    return {"u": x - jnp.expm1(x / LAYER) / jnp.expm1(1 / LAYER)}


def _beam(x):
    """Bent at both ends: w'''' + 4 β⁴ w = 0."""
    near, far = STIFFNESS * x, STIFFNESS * (1 - x)
    return {"w": jnp.exp(-near) * jnp.cos(near) - 0.7 * jnp.exp(-far) * jnp.sin(far)}


GRADE = (1.5, -1.0)  # log k = 1.5 x − y


def _seepage(x, y):
    """With p = w / √k the equation is ∇²w = |∇ log k|²/4 w; the fluxes are −k ∇p."""
    a, b = GRADE
    steep = (a**2 + b**2) / 4
    rate = jnp.sqrt(jnp.pi**2 + steep)
    root = jnp.exp(-(a * x + b * y) / 2)
    wave, rise = jnp.cos(jnp.pi * x), jnp.exp(-rate * y)
    plain = jnp.exp(jnp.sqrt(steep) * x)
    p = root * (wave * rise + 0.3 * plain)
    p_x = -a / 2 * p + root * (-jnp.pi * jnp.sin(jnp.pi * x) * rise + 0.3 * steep**0.5 * plain)
    p_y = -b / 2 * p - root * rate * wave * rise
    k = jnp.exp(a * x + b * y)
    return {"p": p, "u": -k * p_x, "v": -k * p_y}


def _cube(x, y, z):
    return {
        "u": jnp.sin(jnp.pi * x) * jnp.sin(2 * jnp.pi * y) * jnp.cos(jnp.pi * z)
        + 0.5 * jnp.cos(jnp.pi * x) * z
    }


CUBE = "-6*pi^2*sin(pi*x)*sin(2*pi*y)*cos(pi*z) - 0.5*pi^2*cos(pi*x)*z"
RATIO = 0.3  # Poisson's


def _solid(x, y):
    """Papkovich and Neuber: ∇(φ + y ψ) − 4 (1 − ν) ψ e_y with φ and ψ harmonic."""
    k = 2.0
    c, s, rise, fall = jnp.cos(k * x), jnp.sin(k * x), jnp.exp(k * (y - 1)), jnp.exp(-k * y)
    phi_x, phi_y = k * c * fall, -k * s * fall
    psi, psi_x, psi_y = c * rise, -k * s * rise, k * c * rise
    return {
        "u": 0.3 * phi_x + y * psi_x,
        "v": 0.3 * phi_y + psi + y * psi_y - 4 * (1 - RATIO) * psi,
    }


PROBLEMS = (
    ZooProblem(
        "helmholtz", "elliptic", "three plane waves, readings only",
        Equation("u_xx + u_yy + k^2*u = 0", k=WAVE_NUMBER), Domain(x=(-1, 1), y=(-1, 1)),
        Formula(_plane_waves, (81, 81)), Readings(60), group=TUNED,
    ),
    ZooProblem(
        "poisson-peak", "elliptic", "a sharp source, values given at the edge",
        Poisson(PEAK), SQUARE, Formula(_peak, (81, 81)), Readings(50), group=HELD_BACK,
        conditions=(Dirichlet(u=given(_peak, "u")),),
    ),
    ZooProblem(
        "laplace", "elliptic", "a potential without sources, readings only",
        Laplace(), SQUARE, Formula(_harmonic, (81, 81)), Readings(100, NOISE), group=TUNED,
    ),
    ZooProblem(
        "layer", "elliptic", "a boundary layer in one dimension",
        Equation("u_x = e*u_xx + 1", e=LAYER), Domain(x=(0, 1)), Formula(_layer, (401,)),
        Readings(50), group=HELD_BACK, conditions=(Dirichlet("x", u=0.0),),
    ),
    ZooProblem(
        "beam", "elliptic", "a beam on an elastic bed, fourth order",
        Equation("w_xxxx + 4*b^4*w = 0", b=STIFFNESS), Domain(x=(0, 1)), Formula(_beam, (401,)),
        Readings(60, NOISE), group=TUNED,
    ),
    ZooProblem(
        "darcy", "elliptic", "seepage through graded ground, pressure read and fluxes hidden",
        Equation(
            "u + exp(1.5*x - y)*p_x = 0", "v + exp(1.5*x - y)*p_y = 0", "u_x + v_y = 0",
            fields=("p", "u", "v"),
        ),
        SQUARE, Formula(_seepage, (61, 61)), Readings(100, hidden=("u", "v")), group=HELD_BACK,
    ),
    ZooProblem(
        "poisson-3d", "elliptic", "sources in a cube, readings only",
        Poisson(CUBE, 3), Domain(x=(0, 1), y=(0, 1), z=(0, 1)), Formula(_cube, (25, 25, 25)),
        Readings(200), group=TUNED,
    ),
    ZooProblem(
        "elasticity", "elliptic", "displacements of a solid in plane strain",
        Equation(
            "(1 - 2*n)*lap(u) + u_xx + v_xy = 0", "(1 - 2*n)*lap(v) + u_xy + v_yy = 0", n=RATIO
        ),
        SQUARE, Formula(_solid, (61, 61)), Readings(200, NOISE), group=HELD_BACK,
    ),
)  # fmt: skip
