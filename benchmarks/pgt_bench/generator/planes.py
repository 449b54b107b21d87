"""Closed solutions in the plane, and at rest."""

import jax.numpy as jnp

from pgt.physics import (
    AdvectionDiffusion,
    Dirichlet,
    Equation,
    Heat,
    Initial,
    Laplace,
    NavierStokes2D,
    Neumann,
    Wave,
)
from pgt_bench.generator.draws import Draw
from pgt_bench.generator.problem import Case
from pgt_bench.zoo.truth import Formula, given

STEADY, MOVING = (81, 81), (41, 41, 21)  # points of the truth


def _modes(draw: Draw, most: int) -> list[tuple[int, int, float]]:
    """Waves along x and y with their amplitudes; more of them where the field is rough."""
    count = draw.choice((2, 3, 8))
    pairs = draw.rng.integers(1, most + 1, size=(count, 2))
    return [
        (int(m), int(n), float(a / (m + n)))
        for (m, n), a in zip(pairs, draw.signs(count), strict=True)
    ]


def _standing(draw: Draw, growth, level: float):
    """Σ a sin(mπξ) sin(nπη) G, or cosines, and what holds at the edge; ξ and η from 0 to 1."""
    modes, shape = _modes(draw, 4), draw.choice((jnp.sin, jnp.cos))

    def of(x, y, t):
        total = 0.0
        for m, n, amplitude in modes:
            square = (m**2 + n**2) * (jnp.pi / draw.length) ** 2
            along = shape(m * jnp.pi * draw.unit(x)) * shape(n * jnp.pi * draw.unit(y))
            total = total + amplitude * along * growth(square, t)
        return {"u": level + draw.size * total}

    return of, Dirichlet(u=level) if shape is jnp.sin else Neumann(u=0.0)


def heat(draw: Draw) -> Case:
    level, diffusivity = draw.level(), draw.decades(0.002, 0.03) * draw.length**2 / draw.duration
    of, edge = _standing(draw, lambda square, t: jnp.exp(-diffusivity * square * t), level)
    return Case(
        "a cooling plate", Heat(diffusivity, 2), draw.domain(x=1.0, y=1.0), Formula(of, MOVING),
        (edge,), (Initial(u=lambda x, y: of(x, y, 0.0)["u"]),),
    )  # fmt: skip


def wave(draw: Draw) -> Case:
    level, speed = draw.level(), draw.between(0.4, 1.2) * draw.length / draw.duration
    of, edge = _standing(draw, lambda square, t: jnp.cos(speed * jnp.sqrt(square) * t), level)
    return Case(
        "a membrane", Wave(speed, 2), draw.domain(x=1.0, y=1.0), Formula(of, MOVING),
        (edge,), (Initial(u=lambda x, y: of(x, y, 0.0)["u"], u_t=0.0),),
    )  # fmt: skip


def plume(draw: Draw) -> Case:
    """Puffs that drift and mix over a plane of 2 by 1 lengths."""
    per = draw.length / draw.duration
    velocity = (draw.between(0.3, 1) * per, draw.between(-0.3, 0.3) * per)
    diffusivity = draw.decades(0.001, 0.02) * draw.length**2 / draw.duration
    puffs = [
        (draw.between(0.2, 1), draw.between(0.25, 0.75), draw.decades(0.05, 0.2))
        for _ in range(draw.choice((1, 2, 3)))
    ]

    def of(x, y, t):
        total = 0.0
        for a, b, width in puffs:
            first = (width * draw.length) ** 2
            variance = first + 2 * diffusivity * t
            far = draw.unit(x - velocity[0] * t) - a, draw.unit(y - velocity[1] * t) - b
            square = (far[0] ** 2 + far[1] ** 2) * draw.length**2
            total = total + first / variance * jnp.exp(-square / (2 * variance))
        return {"u": draw.size * total}

    return Case(
        f"{len(puffs)} puffs that drift and mix", AdvectionDiffusion(velocity, diffusivity, 2),
        draw.domain(x=2.0, y=1.0), Formula(of, MOVING), (Dirichlet(u=given(of, "u")),),
        (Initial(u=lambda x, y: of(x, y, 0.0)["u"]),),
    )  # fmt: skip


def laplace(draw: Draw) -> Case:
    """Waves along one axis that die away along the other, from all sides."""
    parts = [
        (draw.between(0.5, 6), draw.between(0, 6), float(a), draw.choice(("x", "y")), draw.chance(0.5))
        for a in draw.signs(draw.choice((2, 4)))
    ]  # fmt: skip

    def of(x, y):
        total, place = 0.0, {"x": draw.unit(x), "y": draw.unit(y)}
        for k, phase, amplitude, along, from_far in parts:
            across = place["y" if along == "x" else "x"]
            depth = 1 - across if from_far else across
            total = total + amplitude * jnp.cos(k * place[along] + phase) * jnp.exp(-k * depth)
        return {"u": draw.size * total}

    return Case("a potential without sources", Laplace(), draw.domain(x=1.0, y=1.0, t=0),
                Formula(of, STEADY), (Dirichlet(u=given(of, "u")),))  # fmt: skip


def poisson(draw: Draw) -> Case:
    """The source in the text of the equation belongs to a few waves."""
    modes = _modes(draw, 5)
    unit = f"(x/{draw.length!r} - ({draw.origin!r}))", f"(y/{draw.length!r} - ({draw.origin!r}))"
    terms = [
        f"({amplitude!r})*{m**2 + n**2}*sin({m}*pi*{unit[0]})*sin({n}*pi*{unit[1]})"
        for m, n, amplitude in modes
    ]

    def of(x, y):
        total = 0.0
        for m, n, a in modes:
            waves = jnp.sin(m * jnp.pi * draw.unit(x)) * jnp.sin(n * jnp.pi * draw.unit(y))
            total = total + a * waves
        return {"u": draw.size * total}

    factor = -draw.size * (jnp.pi / draw.length) ** 2
    return Case(
        "a field with known sources", Equation(f"lap(u) = q*({' + '.join(terms)})", coords=("x", "y"),
        q=float(factor)), draw.domain(x=1.0, y=1.0, t=0), Formula(of, STEADY), (Dirichlet(u=0.0),),
    )  # fmt: skip


def helmholtz(draw: Draw) -> Case:
    """Plane waves from all directions, one to three wavelengths across."""
    number = draw.between(5, 18)
    parts = [
        (draw.between(0, 6.28), draw.between(0, 6.28), float(a))
        for a in draw.signs(draw.choice((2, 3, 6)))
    ]

    def of(x, y):
        total = 0.0
        for angle, phase, amplitude in parts:
            along = draw.unit(x) * jnp.cos(angle) + draw.unit(y) * jnp.sin(angle)
            total = total + amplitude * jnp.cos(number * along + phase)
        return {"u": draw.size * total}

    return Case(
        f"sound of one frequency, {number / 6.28:.1f} wavelengths across",
        Equation("u_xx + u_yy + k^2*u = 0", k=number / draw.length),
        draw.domain(x=1.0, y=1.0, t=0), Formula(of, STEADY), (Dirichlet(u=given(of, "u")),),
    )  # fmt: skip


def layer(draw: Draw) -> Case:
    """Steady flow along a line with a source: a layer at the far end, sharp where little diffuses."""
    width, velocity = draw.decades(0.03, 0.3), draw.length / draw.duration

    def of(x):
        place = draw.unit(x)
        rise = jnp.expm1((place - 1) / width) - jnp.expm1(-1 / width)
        return {"u": draw.size * (place - rise / -jnp.expm1(-1 / width))}

    pde = Equation(
        "c*u_x = D*u_xx + q", c=velocity, D=width * draw.length * velocity,
        q=draw.size * velocity / draw.length,
    )  # fmt: skip
    return Case("a layer at the end of a channel", pde, draw.domain(x=1.0, t=0),
                Formula(of, (401,)), (Dirichlet("x", u=0.0),))  # fmt: skip


def vortices(draw: Draw) -> Case:
    """Taylor and Green's, carried by a steady stream; the pressure may be hidden."""
    speed = draw.length / draw.duration
    reynolds, waves = draw.decades(30, 500), draw.between(1, 2) * jnp.pi / draw.length
    viscosity = speed * draw.length / reynolds
    stream = draw.between(-0.5, 0.5) * speed

    def of(x, y, t):
        a, b = waves * (x - stream * t), waves * y
        fade = speed * jnp.exp(-2 * viscosity * waves**2 * t)
        return {
            "u": stream - jnp.cos(a) * jnp.sin(b) * fade,
            "v": jnp.sin(a) * jnp.cos(b) * fade,
            "p": -(jnp.cos(2 * a) + jnp.cos(2 * b)) * fade**2 / 4,
        }

    return Case(
        f"decaying vortices, Reynolds number {reynolds:.0f}", NavierStokes2D(viscosity),
        draw.domain(x=2.0, y=2.0), Formula(of, MOVING),
        (Dirichlet(u=given(of, "u"), v=given(of, "v")),), (), ("p",),
    )  # fmt: skip


def grid_wake(draw: Draw) -> Case:
    """Kovasznay's steady flow behind a grid; the pressure may be hidden."""
    reynolds, speed = draw.between(15, 80), draw.length / draw.duration
    rate = reynolds / 2 - (reynolds**2 / 4 + 4 * jnp.pi**2) ** 0.5

    def of(x, y):
        a, b = draw.unit(x) - 0.5, draw.unit(y) - 0.5
        swell = jnp.exp(rate * a)
        return {
            "u": speed * (1 - swell * jnp.cos(2 * jnp.pi * b)),
            "v": speed * rate / (2 * jnp.pi) * swell * jnp.sin(2 * jnp.pi * b),
            "p": -(speed**2) * swell**2 / 2,
        }

    pde = NavierStokes2D(speed * draw.length / reynolds, steady=True)
    return Case(
        f"a steady wake behind a grid, Reynolds number {reynolds:.0f}", pde,
        draw.domain(x=1.5, y=2.0, t=0), Formula(of, (61, 81)),
        (Dirichlet(u=given(of, "u"), v=given(of, "v")),), (), ("p",),
    )  # fmt: skip


KINDS = {
    "heat-2d": heat,
    "wave-2d": wave,
    "plume": plume,
    "laplace": laplace,
    "poisson": poisson,
    "helmholtz": helmholtz,
    "layer": layer,
    "vortices": vortices,
    "grid-wake": grid_wake,
}
