"""Linear equations on a line, each wave of the start by itself: Σ a cos(k x + φ) G(k, t).

Every function draws a `Case`. Coefficients are drawn without units first, then given those of the draw.
"""

from collections.abc import Callable

import jax.numpy as jnp

from pgt.physics import AdvectionDiffusion, Dirichlet, Equation, Heat, Initial, Wave
from pgt_bench.generator.draws import Draw, State, line, state, walls
from pgt_bench.generator.problem import Case
from pgt_bench.zoo.truth import Formula, given

POINTS = (121, 101)  # of the truth, along x and t


def _waves(draw: Draw, start: State, growth: Callable, level: float = 0.0):
    """The field that starts so, each of its waves times G(k, t); all in physical units."""
    wave = start.wave / draw.length

    def field(x, t):
        angle = start.wave * draw.unit(jnp.asarray(x))[..., None] + start.phase
        factor = growth(wave, jnp.asarray(t)[..., None])
        return level + draw.size * jnp.sum(start.amplitude * jnp.cos(angle) * factor, axis=-1)

    return field


def _case(draw: Draw, start: State, name: str, pde, field, level=0.0, at_rest=False) -> Case:
    """One field whose ends and start are known in the usual ways; `at_rest`: that it does not move at
    first, which has to be told where the equation is of second order in time."""

    def of(x, t):
        return {"u": field(x, t)}

    ends = walls(start, {"u": level}) or _values_at_ends(start, of)
    known = {"u": lambda x: field(x, 0.0)} | ({"u_t": 0.0} if at_rest else {})
    return Case(f"{name}, {start.in_words}", pde, line(draw, start), Formula(of, POINTS), ends,
                (Initial(**known),))  # fmt: skip


def _values_at_ends(start: State, of) -> tuple:
    return (Dirichlet("x", u=given(of, "u")),) if start.ends == "open" else ()


def heat(draw: Draw) -> Case:
    """Slow or fast: the first wave keeps between a half and nearly all of its height."""
    start, level = state(draw), draw.level()
    diffusivity = draw.decades(0.001, 0.05) * draw.length**2 / draw.duration
    field = _waves(draw, start, lambda k, t: jnp.exp(-diffusivity * k**2 * t), level)
    return _case(draw, start, "heat in a rod", Heat(diffusivity), field, level)


def cooling(draw: Draw) -> Case:
    start, level = state(draw), draw.level()
    diffusivity = draw.decades(0.001, 0.03) * draw.length**2 / draw.duration
    loss = draw.between(0.3, 2) / draw.duration
    pde = Equation("u_t = D*u_xx - h*(u - s)", D=diffusivity, h=loss, s=level)
    field = _waves(draw, start, lambda k, t: jnp.exp(-(diffusivity * k**2 + loss) * t), level)
    return _case(draw, start, "a rod that loses heat through its side", pde, field, level)


def transport(draw: Draw) -> Case:
    """Advection and diffusion, by up to one length."""
    start, level = state(draw, ("periodic", "open")), draw.level()
    diffusivity = draw.decades(3e-4, 0.02) * draw.length**2 / draw.duration
    velocity = draw.choice((-1, 1)) * draw.between(0.2, 1) * draw.length / draw.duration
    wave = start.wave / draw.length

    def of(x, t):
        angle = start.wave * draw.unit(jnp.asarray(x) - velocity * t)[..., None] + start.phase
        fade = jnp.exp(-diffusivity * wave**2 * jnp.asarray(t)[..., None])
        total = jnp.sum(start.amplitude * jnp.cos(angle) * fade, axis=-1)
        return {"u": level + draw.size * total}

    return Case(
        f"a tracer that drifts and spreads, {start.in_words}",
        AdvectionDiffusion(velocity, diffusivity), line(draw, start), Formula(of, POINTS),
        _values_at_ends(start, of), (Initial(u=lambda x: of(x, 0.0)["u"]),),
    )  # fmt: skip


def wave(draw: Draw) -> Case:
    start, level = state(draw, modes=12), draw.level()
    speed = draw.between(0.5, 2) * draw.length / draw.duration
    field = _waves(draw, start, lambda k, t: jnp.cos(speed * k * t), level)
    return _case(draw, start, "a string", Wave(speed), field, level, at_rest=True)


def telegraph(draw: Draw) -> Case:
    """The damping is below critical for every wave."""
    start, level = state(draw, modes=12), draw.level()
    speed = draw.between(0.5, 2) * draw.length / draw.duration
    damping = draw.between(0.1, 0.8) * speed * start.wave.min() / draw.length
    pde = Equation("u_tt + 2*b*u_t = c^2*u_xx", b=damping, c=speed)

    def growth(k, t):
        frequency = jnp.sqrt((speed * k) ** 2 - damping**2)
        swing = jnp.cos(frequency * t) + damping / frequency * jnp.sin(frequency * t)
        return jnp.exp(-damping * t) * swing

    field = _waves(draw, start, growth, level)
    return _case(draw, start, "a damped string", pde, field, level, at_rest=True)


def klein_gordon(draw: Draw) -> Case:
    start = state(draw, modes=12)
    speed = draw.between(0.5, 1.5) * draw.length / draw.duration
    mass = draw.between(1, 6) / draw.duration
    pde = Equation("u_tt = c^2*u_xx - m^2*u", c=speed, m=mass)
    field = _waves(draw, start, lambda k, t: jnp.cos(jnp.sqrt((speed * k) ** 2 + mass**2) * t))
    return _case(draw, start, "a string on springs (Klein and Gordon)", pde, field, at_rest=True)


def beam(draw: Draw) -> Case:
    """Euler and Bernoulli's; the field is w in print, u here."""
    start = state(draw, ("held", "open"), modes=5)
    stiffness = draw.decades(0.003, 0.03) * draw.length**4 / draw.duration**2
    pde = Equation("u_tt + s*u_xxxx = 0", s=stiffness)
    field = _waves(draw, start, lambda k, t: jnp.cos(jnp.sqrt(stiffness) * k**2 * t))
    return _case(draw, start, "a vibrating beam", pde, field, at_rest=True)


def schroedinger(draw: Draw) -> Case:
    """A free particle: a + ib, each wave turning with k²."""
    start = state(draw, modes=8)
    rate = draw.decades(0.005, 0.04) * draw.length**2 / draw.duration
    real = _waves(draw, start, lambda k, t: jnp.cos(rate * k**2 * t))
    imaginary = _waves(draw, start, lambda k, t: -jnp.sin(rate * k**2 * t))

    def of(x, t):
        return {"a": real(x, t), "b": imaginary(x, t)}

    return Case(
        f"a free quantum particle, {start.in_words}",
        Equation("a_t + q*b_xx = 0", "b_t = q*a_xx", q=rate), line(draw, start),
        Formula(of, POINTS), walls(start, {"a": 0.0, "b": 0.0}),
        (Initial(a=lambda x: real(x, 0.0), b=0.0),), ("b",),
    )  # fmt: skip


def shallow_water(draw: Draw) -> Case:
    """Long waves on water at rest, walls at both ends or periodic; the velocity may be hidden."""
    start = state(draw, ("insulated", "periodic", "open"), modes=12)
    speed = draw.between(0.5, 2) * draw.length / draw.duration
    depth = 20 * draw.size
    gravity = speed**2 / depth
    height = _waves(draw, start, lambda k, t: jnp.cos(speed * k * t))
    # A quarter of a wave apart from the height, in place and time.
    behind = State(start.shape, start.ends, start.wave, start.amplitude, start.phase - jnp.pi / 2)
    flow = _waves(draw, behind, lambda k, t: speed / depth * jnp.sin(speed * k * t))

    def of(x, t):
        return {"h": height(x, t), "u": flow(x, t)}

    return Case(
        f"long waves on water, {start.in_words}",
        Equation("h_t + H*u_x = 0", "u_t + g*h_x = 0", H=depth, g=gravity), line(draw, start),
        Formula(of, POINTS), (Dirichlet("x", u=0.0),) if start.ends == "insulated" else (),
        (Initial(h=lambda x: height(x, 0.0), u=0.0),), ("u",),
    )  # fmt: skip


def fokker_planck(draw: Draw) -> Case:
    """Ornstein and Uhlenbeck's: two clouds that drift to the middle and spread."""
    rate = draw.between(0.5, 2) / draw.duration
    spread = draw.decades(0.002, 0.02) * draw.length**2 / draw.duration
    middle = (draw.origin + draw.between(0.4, 0.6)) * draw.length
    places = [(draw.origin + draw.between(0.15, 0.85)) * draw.length for _ in range(2)]
    widths = [draw.between(0.05, 0.15) * draw.length for _ in range(2)]
    shares = (0.6, 0.4)

    def of(x, t):
        total, left = 0.0, jnp.exp(-rate * t)
        for place, width, share in zip(places, widths, shares, strict=True):
            variance = spread / rate * (1 - left**2) + (width * left) ** 2
            away = x - middle - (place - middle) * left
            total += share * jnp.exp(-(away**2) / (2 * variance)) / jnp.sqrt(2 * jnp.pi * variance)
        return {"p": total}

    return Case(
        "a probability that drifts to the middle (Fokker and Planck)",
        Equation("p_t = diff(k*(x - m)*p, x) + D*p_xx", k=rate, m=middle, D=spread),
        draw.domain(x=1.0), Formula(of, POINTS), (Dirichlet("x", p=given(of, "p")),),
        (Initial(p=lambda x: of(x, 0.0)["p"]),),
    )  # fmt: skip


KINDS = {
    "heat": heat,
    "cooling": cooling,
    "transport": transport,
    "wave": wave,
    "telegraph": telegraph,
    "klein-gordon": klein_gordon,
    "beam": beam,
    "schroedinger": schroedinger,
    "shallow-water": shallow_water,
    "fokker-planck": fokker_planck,
}
