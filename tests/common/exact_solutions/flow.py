"""Exact solutions of equations of flow."""

import jax
import jax.numpy as jnp

from exact_solutions.case import XYZ, ExactCase, Solution, box
from exact_solutions.scalar import advected_gaussian
from exact_solutions.solids import kelvin
from pgt.physics.equations.boussinesq import Boussinesq
from pgt.physics.equations.darcy import Darcy
from pgt.physics.equations.navier_stokes import NavierStokes2D, NavierStokes3D
from pgt.physics.equations.shallow_water import ShallowWater
from pgt.physics.equations.stokes import Stokes


def taylor_green(viscosity: float, drift: tuple[float, float] = (0.0, 0.0)) -> Solution:
    """Decaying vortices, carried by a uniform flow (a, b); ξ = x - a t, η = y - b t.

    u = a - cos ξ sin η e^(-2νt),  v = b + sin ξ cos η e^(-2νt),
    p = -¼ (cos 2ξ + cos 2η) e^(-4νt).
    """

    def solution(z):
        a, b = drift
        xi, eta, decay = z[0] - a * z[2], z[1] - b * z[2], jnp.exp(-2 * viscosity * z[2])
        u = a - jnp.cos(xi) * jnp.sin(eta) * decay
        v = b + jnp.sin(xi) * jnp.cos(eta) * decay
        p = -0.25 * (jnp.cos(2 * xi) + jnp.cos(2 * eta)) * decay**2
        return jnp.stack([u, v, p])

    return solution


def kovasznay(reynolds: float) -> Solution:
    """The steady wake of a grid of cylinders, of Kovasznay (1948); ν = 1 / Re.

    u = 1 - e^(λx) cos 2πy,  v = λ/2π e^(λx) sin 2πy,  p = -½ e^(2λx),  λ = Re/2 - √(Re²/4 + 4π²).
    """

    def solution(z):
        rate = reynolds / 2 - jnp.sqrt(reynolds**2 / 4 + 4 * jnp.pi**2)
        growth, phase = jnp.exp(rate * z[0]), 2 * jnp.pi * z[1]
        u = 1 - growth * jnp.cos(phase)
        v = rate / (2 * jnp.pi) * growth * jnp.sin(phase)
        return jnp.stack([u, v, -0.5 * growth**2])

    return solution


def abc_flow(a: float, b: float, c: float, viscosity: float = 0.0) -> Solution:
    """The flow of Arnold, Beltrami and Childress, which is its own vorticity; p = -½ |u|².

    u = (A sin z + C cos y,  B sin x + A cos z,  C sin y + B cos x) e^(-νt).
    """

    def solution(z):
        sine, cosine = jnp.sin(z[:3]), jnp.cos(z[:3])
        u = a * sine[2] + c * cosine[1]
        v = b * sine[0] + a * cosine[2]
        w = c * sine[1] + b * cosine[0]
        flow = jnp.stack([u, v, w]) * (jnp.exp(-viscosity * z[3]) if z.size == 4 else 1.0)
        return jnp.append(flow, -0.5 * jnp.sum(flow**2))

    return solution


def stokeslet(viscosity: float, force: tuple[float, ...], pole: tuple[float, ...]) -> Solution:
    """The flow that a point force F at a pole outside the box drives; r is counted from there.

    As of Kelvin with ν = ½, which no volume change is; p = F·r / 2πr² in the plane, F·r / 4πr³ in space.
    """
    velocity = kelvin(viscosity, 0.5, force, pole)

    def solution(z):
        apart = z - jnp.asarray(pole)
        sphere = 2 * jnp.pi * (len(pole) - 1) * jnp.linalg.norm(apart) ** len(pole)
        return jnp.append(velocity(z), jnp.asarray(force) @ apart / sphere)

    return solution


def internal_wave(diffusivity: float, buoyancy: float, gradient: float) -> Solution:
    """A plane wave in a fluid that is warmer above, T = S y + θ; of ν = κ, exact at any height.

    u = (m, -k) cos φ,  p = m ω/k cos φ + ½ b S y²,  θ = -S k/ω sin φ,  all waves times e^(-κK²t), with
    φ = k x + m y - ω t,  K² = k² + m²  and  ω² = b S k² / K².
    """
    k, m = 2.0, 1.0
    square = k**2 + m**2
    frequency = (buoyancy * gradient / square) ** 0.5 * k

    def solution(z):
        x, y, t = z
        phase, decay = k * x + m * y - frequency * t, jnp.exp(-diffusivity * square * t)
        wave, quarter = jnp.cos(phase) * decay, jnp.sin(phase) * decay
        p = m * frequency / k * wave + buoyancy * gradient * y**2 / 2
        theta = -gradient * k / frequency * quarter
        return jnp.stack([m * wave, -k * wave, p, gradient * y + theta])

    return solution


def dam_break(gravity: float, speed: float, slope: tuple[float, float]) -> Solution:
    """A dam that broke one time unit before t = 0, oblique to the axes, on a sloping bed (Ritter 1892).

    With the position ξ along (3, 4)/5 in a frame that falls down the slope b, x + ½ g b t²:
    h = (2c - ξ/τ)² / 9g,  u = 2/3 (c + ξ/τ) along ξ, less g b t,  τ = t + 1.
    """

    def solution(z):
        along, rise = jnp.array([0.6, 0.8]), gravity * jnp.asarray(slope)
        fan = along @ (z[:2] + rise * z[2] ** 2 / 2) / (z[2] + 1)
        depth = (2 * speed - fan) ** 2 / (9 * gravity)
        flow = 2 / 3 * (speed + fan) * along - rise * z[2]
        return jnp.concatenate([depth[None], flow])

    return solution


def pumped_well(conductivity: float, recharge: float) -> Solution:
    """A well at (-0.5, -0.5) under rain (Thiem): h = log r / 2πK - q r² / 4K."""

    def solution(z):
        square = jnp.sum((z + 0.5) ** 2)
        head = jnp.log(square) / (4 * jnp.pi) - recharge * square / 4
        return (head / conductivity)[None]

    return solution


def risen_mound(conductivity: float, storage: float, recharge: float) -> Solution:
    """A mound of groundwater that spreads while it rains: the level rises by q t / S."""
    mound = advected_gaussian((0.0, 0.0), conductivity / storage)
    return lambda z: mound(z) + recharge * z[-1] / storage


def with_fluxes(head: Solution, conductivity: float, axes: int) -> Solution:
    """The head, and -K ∇h beside it."""

    def solution(z):
        slope = jax.grad(lambda z: head(z)[0])(z)
        return jnp.concatenate([head(z), -conductivity * slope[:axes]])

    return solution


_POLE, _FORCE = (-0.4, -0.7, -0.5), (1.0, -2.0, 0.5)

CASES: tuple[ExactCase, ...] = (
    ExactCase("taylor_green", NavierStokes2D(0.05), taylor_green(0.05), box("x", "y", "t")),
    ExactCase("kovasznay", NavierStokes2D(0.05, steady=True), kovasznay(20.0), box("x", "y")),
    ExactCase("abc_flow", NavierStokes3D(0.05), abc_flow(1.0, 0.8, 0.6, 0.05), box(*XYZ, "t")),
    *(
        ExactCase(
            f"stokes_{n}d", Stokes(0.5, n), stokeslet(0.5, _FORCE[:n], _POLE[:n]), box(*XYZ[:n])
        )
        for n in (2, 3)
    ),
    ExactCase(
        "boussinesq", Boussinesq(0.05, 0.05, 2.0), internal_wave(0.05, 2.0, 0.7), box("x", "y", "t")
    ),
    ExactCase(
        "shallow_water",
        ShallowWater(9.81, slope=(-0.05, 0.02)),
        dam_break(9.81, 2.0, (-0.05, 0.02)),
        box("x", "y", "t"),
    ),
    ExactCase("darcy", Darcy(0.5, source=0.2), pumped_well(0.5, 0.2), box("x", "y")),
    ExactCase(
        "darcy_with_fluxes",
        Darcy(0.1, storage=0.5, source=0.2, fluxes=True),
        with_fluxes(risen_mound(0.1, 0.5, 0.2), 0.1, 2),
        box("x", "y", "t"),
    ),
)
