"""Flow past a cylinder at many Reynolds numbers at once, by Fourier modes in a periodic box.

    u_t + ω × u = −∇(p + |u|²/2) + Δu / Re − χ/η u − λ (u − U)

χ is 1 in the cylinder and falls over one cell; its radius is so much smaller that a shear along such an
edge vanishes where the wall should be. Inside, nine tenths of the pressure gradient are taken away, which
would press fluid through the cylinder. λ is a fringe behind the wake in which the stream becomes even.
The flux through the box is 1, by a mean pressure gradient. Viscosity is exact, the rest Runge and
Kutta's fourth order. Lengths in diameters, single precision; arrays are (flow, x, y).
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Complex, Float
from scipy.integrate import solve_ivp

LEFT, LENGTH, WIDTH = -10.0, 32.0, 16.0  # the box; the width is that of the packaged simulation
FRINGE, RISE, FALL, STRENGTH = 15.5, 3.0, 1.0, 3.0
EDGE = 1.0  # width δ of the cylinder's edge, in cells
RATE = 2.0  # 1 / η, in steps
TAKEN = 0.9  # of the pressure gradient, inside
FILTER = 36.0  # of the highest modes (Hou and Li, 2007)
STEPS = 2.4  # in a unit of time, for every cell of a unit of length

State = Complex[Array, "flow 3 kx ky"]  # u, v, and p + |u|²/2 as it was last


class Box(NamedTuple):
    """The grid, and what on it does not change."""

    cells: int  # of a unit of length
    steps: int  # of a unit of time
    viscosity: Float[Array, " flow"]
    kx: Float[Array, "kx 1"]
    ky: Float[Array, " ky"]
    body: Float[Array, "flow x y"]  # χ
    fringe: Float[Array, "x 1"]
    keep: Float[Array, "kx ky"]


def box(cells: int, reynolds: Float[np.ndarray, " flow"]) -> Box:
    nx, ny = int(LENGTH * cells), int(WIDTH * cells)
    x, y = lines(cells)
    viscosity, steps = 1 / np.asarray(reynolds, float), 10 * int(np.ceil(STEPS * cells / 10))
    body = np.stack([_body(x, y, EDGE / cells, nu, RATE * steps) for nu in viscosity])
    kx, ky = 2 * np.pi * np.fft.fftfreq(nx, 1 / cells), 2 * np.pi * np.fft.rfftfreq(ny, 1 / cells)
    highest = np.pi * cells
    keep = np.exp(-FILTER * ((kx[:, None] / highest) ** FILTER + (ky / highest) ** FILTER))
    single = partial(jnp.asarray, dtype=jnp.float32)
    return Box(
        cells, steps, single(viscosity), single(kx[:, None]), single(ky), single(body),
        single(_fringe(x)[:, None]), single(keep),
    )  # fmt: skip


def lines(cells: int) -> tuple[np.ndarray, np.ndarray]:
    """The nodes along x and y; the axis of the cylinder is one of them."""
    x = LEFT + np.arange(int(LENGTH * cells)) / cells
    return x, -WIDTH / 2 + np.arange(int(WIDTH * cells)) / cells


def _body(x: np.ndarray, y: np.ndarray, edge: float, viscosity: float, rate: float) -> np.ndarray:
    """χ of a cylinder whose wall is where it should be."""
    depth = (viscosity / rate) ** 0.5  # to which the stream enters
    radius = 0.5 - depth * wall(edge / depth)
    return (1 - np.tanh(2 * (np.hypot(x[:, None], y) - radius) / edge)) / 2


def wall(edge: float) -> float:
    """Where a shear flow along an edge ends: u″ = χ u, χ = (1 − tanh(2 x / edge)) / 2.

    With no edge at all it ends one depth inside.

    >>> round(wall(1e-3), 3), round(wall(6.0), 3)
    (-1.0, 2.841)
    """
    far = 10 + 4 * edge
    shear = solve_ivp(
        lambda x, u: [u[1], u[0] / (1 + np.exp(np.clip(4 * x / edge, -50, 50)))],
        (-far, far), [1e-9, 1e-9], rtol=1e-8, atol=1e-16, max_step=max(edge, 0.05),
    )  # fmt: skip
    value, slope = shear.y[:, -1]
    return float(far - value / slope)


def _fringe(x: np.ndarray) -> np.ndarray:
    end = LEFT + LENGTH
    return STRENGTH * (_step((x - FRINGE) / RISE) - _step((x - end) / FALL + 1))


def _step(s: np.ndarray) -> np.ndarray:
    """From 0 at 0 to 1 at 1, with all derivatives."""
    s = np.clip(s, 0.01, 0.99)
    return 1 / (1 + np.exp(1 / (s - 1) + 1 / s))


def begun(grid: Box) -> State:
    """An even stream with a push to one side behind the cylinder, so that shedding starts soon."""
    x, y = lines(grid.cells)
    push = 0.5 * np.exp(-((x[:, None] - 1.5) ** 2) - y**2)
    u = np.stack([np.ones_like(push), push])
    velocity, _ = _projected(grid, jnp.fft.rfft2(jnp.asarray(u, jnp.float32))[None])
    velocity = velocity.at[:, 0, 0, 0].set(u[0].size)
    state = jnp.concatenate([velocity, 0 * velocity[:, :1]], axis=1)
    return jnp.repeat(state, len(grid.viscosity), axis=0)


def finer(state: State, grid: Box) -> State:
    """The same flow on a grid with more nodes."""
    nx, ky = state.shape[-2:]
    half, (wide, high) = nx // 2, grid.keep.shape
    found = jnp.zeros((*state.shape[:2], wide, high), state.dtype)
    found = found.at[..., :half, : ky - 1].set(state[..., :half, :-1])
    found = found.at[..., 1 - half :, : ky - 1].set(state[..., 1 - half :, :-1])
    return found * (wide / nx) ** 2


def _projected(grid: Box, force):
    """A force without the gradient in it, and the potential of that."""
    squares = grid.kx**2 + grid.ky**2
    squares = jnp.where(squares > 0, squares, 1.0)
    along = (grid.kx * force[:, 0] + grid.ky * force[:, 1]) / squares
    rest = force - jnp.stack([grid.kx * along, grid.ky * along], axis=1)
    return rest, -1j * along


def _force(grid: Box, state: State) -> Complex[Array, "flow 2 kx ky"]:
    """All but viscosity and pressure, of which |u|²/2 is a part."""
    spin = 1j * (grid.kx * state[:, 1] - grid.ky * state[:, 0])
    slopes = 1j * grid.kx * state[:, 2], 1j * grid.ky * state[:, 2]
    u, v, w, px, py = (jnp.fft.irfft2(part) for part in (state[:, 0], state[:, 1], spin, *slopes))
    drag, taken = RATE * grid.steps * grid.body + grid.fringe, TAKEN * grid.body
    along = v * w - drag * u + taken * px + grid.fringe
    return jnp.fft.rfft2(jnp.stack([along, -u * w - drag * v + taken * py], axis=1)) * grid.keep


def _slope(grid: Box, state: State) -> tuple[Complex[Array, "flow 2 kx ky"], Array]:
    slope, potential = _projected(grid, _force(grid, state))
    return slope.at[:, 0, 0, 0].set(0.0), potential  # the flux stays


@partial(jax.jit, static_argnums=(0, 1), donate_argnums=4)
def _advanced(cells: int, steps: int, rest: tuple, count: Array, state: State) -> State:
    grid, size = Box(cells, steps, *rest), 1 / steps
    squares = grid.kx**2 + grid.ky**2
    half = jnp.exp(-grid.viscosity[:, None, None, None] * squares * size / 2)

    def at(velocity, potential):
        return jnp.concatenate([velocity, potential[:, None]], axis=1)

    def step(_, state):
        start = state[:, :2]
        first, p = _slope(grid, state)
        second, p = _slope(grid, at(half * (start + size / 2 * first), p))
        third, p = _slope(grid, at(half * start + size / 2 * second, p))
        fourth, p = _slope(grid, at(half**2 * start + size * half * third, p))
        inner = half * (half * first + 2 * (second + third))
        return at(half**2 * start + size / 6 * (inner + fourth), p)

    return jax.lax.fori_loop(0, count, step, state)


def advanced(grid: Box, state: State, tenths: int) -> State:
    """So many tenths of a unit of time later; the state given is used up."""
    count = jnp.asarray(tenths * grid.steps // 10)
    return _advanced(grid.cells, grid.steps, tuple(grid[2:]), count, state)


@partial(jax.jit, static_argnums=(0, 1))
def _fields(cells: int, steps: int, rest: tuple, state: State) -> Float[Array, "flow x y 3"]:
    grid = Box(cells, steps, *rest)
    force = _force(grid, state)
    _, potential = _projected(grid, force)
    u, v, p = (jnp.fft.irfft2(part) for part in (state[:, 0], state[:, 1], potential))
    # What the flux needs is a pressure as well.
    mean = -force[:, 0, 0, 0].real / u[0].size
    x = jnp.asarray(lines(cells)[0], jnp.float32)
    p = p - (u**2 + v**2) / 2 - mean[:, None, None] * x[:, None]
    return jnp.stack([u, v, p], axis=-1)


def fields(grid: Box, state: State) -> Float[Array, "flow x y 3"]:
    """u, v and p at the nodes."""
    return _fields(grid.cells, grid.steps, tuple(grid[2:]), state)
