"""What every kind of problem draws from: numbers, units, and states of four kinds of smoothness."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from pgt.data import Domain
from pgt.physics import Dirichlet, Neumann
from pgt.physics.conditions import AbstractCondition

Option = TypeVar("Option")
Real = Float[np.ndarray, " n"]

SHAPES = ("smooth", "rough", "kinked", "sharp")
MOST_MODES = 40  # of a state; enough for the narrowest peak
# How a line ends, and its period in lengths: a field held at its level is odd about both ends, an
# insulated one even; an open one is part of a longer periodic one.
PERIODS = {"held": 2.0, "insulated": 2.0, "periodic": 1.0, "open": 1.5}


@dataclass(frozen=True, eq=False)
class Draw:
    """A source of random numbers, and the units that all of a problem is expressed in.

    Attributes
    ----------
    length, duration, size : units of length (m), time (s) and of the field: a length between
        micrometers and kilometers.
    origin : where the axes of space begin, in lengths.
    """

    rng: np.random.Generator

    @cached_property
    def length(self) -> float:
        return rounded(self.decades(1e-5, 1e4))

    @cached_property
    def duration(self) -> float:
        return rounded(self.decades(1e-3, 1e6))

    @cached_property
    def size(self) -> float:
        return rounded(self.decades(1e-2, 1e3))

    @cached_property
    def origin(self) -> float:
        return self.choice((0.0, 0.0, -0.5, 4.0))

    def between(self, low: float, high: float) -> float:
        """Uniform."""
        return float(self.rng.uniform(low, high))

    def decades(self, low: float, high: float) -> float:
        """Uniform in the logarithm."""
        return float(np.exp(self.rng.uniform(np.log(low), np.log(high))))

    def choice(self, options: Sequence[Option]) -> Option:
        return options[int(self.rng.integers(len(options)))]

    def chance(self, probability: float) -> bool:
        return bool(self.rng.uniform() < probability)

    def signs(self, count: int) -> Real:
        """Random amplitudes that are not small."""
        return self.rng.choice((-1.0, 1.0), count) * self.rng.uniform(0.3, 1.0, count)

    def level(self) -> float:
        """A value that the field varies about, where its equation does not care."""
        return self.size * self.choice((0.0, 0.0, 3.0, 30.0))

    def bounds(self, lengths: float = 1.0) -> tuple[float, float]:
        """Of an axis of space that is so many lengths long."""
        return self.origin * self.length, (self.origin + lengths) * self.length

    def domain(self, periodic: Sequence[str] = (), **lengths: float) -> Domain:
        """Axes of space of so many lengths each, and time unless it is t=0."""
        timed = lengths.pop("t", 1.0) > 0
        bounds: dict[str, Any] = {axis: self.bounds(count) for axis, count in lengths.items()}
        bounds |= {"t": (0.0, self.duration)} if timed else {}
        units = dict.fromkeys(lengths, "m") | ({"t": "s"} if timed else {})
        return Domain(**bounds, periodic=periodic, units=units)

    def unit(self, place):
        """A coordinate of space in lengths from where its axis begins."""
        return place / self.length - self.origin


def rounded(value: float) -> float:
    """To two digits, as people choose lengths.

    >>> rounded(0.034567)
    0.035
    """
    return float(f"{value:.1e}")


# ------------------------------------------------------------------------------- states on a line


@dataclass(frozen=True, eq=False)
class State:
    """A function on a line as a sum of waves a cos(k ξ + φ), its largest value 1; ξ in lengths.

    `shape` is how smooth it is, `ends` how it ends (see `PERIODS`).
    """

    shape: str
    ends: str
    wave: Real
    amplitude: Real
    phase: Real

    @property
    def period(self) -> float:
        return PERIODS[self.ends]

    def at(self, place):
        """Its value at places in lengths from the start, in JAX."""
        angle = self.wave * jnp.asarray(place)[..., None] + self.phase
        return jnp.sum(self.amplitude * jnp.cos(angle), axis=-1)

    def values(self, place: Real) -> Real:
        """The same in float64."""
        with jax.enable_x64(True):
            return np.asarray(self.at(place))

    @property
    def in_words(self) -> str:
        ends = {"held": "ends held", "open": "ends open"}.get(self.ends, self.ends)
        return f"{self.shape} start, {ends}"


def state(
    draw: Draw,
    ends: Sequence[str] = tuple(PERIODS),
    shapes: Sequence[str] = SHAPES,
    modes: int = MOST_MODES,
) -> State:
    """A random state that ends in one of these ways, of one of these shapes, of at most so many modes."""
    end, shape = draw.choice(ends), draw.choice(shapes)
    if shape in ("smooth", "rough"):
        numbers = np.arange(1, min(modes, 4 if shape == "smooth" else 20) + 1)
        amplitude = draw.signs(len(numbers)) / numbers
        turned = end in ("periodic", "open")
        phase = draw.rng.uniform(0, 2 * np.pi, len(numbers)) if turned else np.zeros(len(numbers))
    else:
        numbers = np.arange(1, modes + 1)
        amplitude, phase = _projected(_peaks(draw, shape), end, numbers)
    if end == "held":
        phase = phase - np.pi / 2
    found = State(shape, end, 2 * np.pi * numbers / PERIODS[end], amplitude, phase)
    largest = float(np.abs(found.values(np.linspace(0, 1, 400))).max())
    return State(shape, end, found.wave, amplitude / largest, found.phase)


def _peaks(draw: Draw, shape: str):
    """Triangles, or narrow peaks, one or two; they are over before the line ends."""
    middles = draw.rng.uniform(0.25, 0.75, draw.choice((1, 2)))
    heights = draw.signs(len(middles))
    ends = (0.12, 0.25) if shape == "kinked" else (0.04, 0.06)
    widths = draw.rng.uniform(*ends, len(middles))

    def value(place):
        away = (place[:, None] - middles) / widths
        each = np.maximum(0, 1 - np.abs(away)) if shape == "kinked" else np.exp(-(away**2) / 2)
        return each @ heights

    return value


def _projected(function, ends: str, numbers: np.ndarray) -> tuple[Real, Real]:
    """Amplitude and phase of the first waves of a function that is given on the line itself."""
    period, count = PERIODS[ends], 4096
    place = (np.arange(count) + 0.5) / count * period
    values = function(np.where(place > 1, period - place, place) if period == 2 else place)
    if ends == "held":
        values = np.where(place <= 1, values, -values)
    angle = 2 * np.pi / period * numbers[:, None] * place
    cosine, sine = (2 / count * np.array([f(a) @ values for a in angle]) for f in (np.cos, np.sin))
    if ends == "held":
        return sine, np.zeros(len(numbers))
    if ends == "insulated":
        return cosine, np.zeros(len(numbers))
    return np.hypot(cosine, sine), -np.arctan2(sine, cosine)


def line(draw: Draw, start: State) -> Domain:
    """One axis of space and time, for a field with this start."""
    return draw.domain(("x",) if start.ends == "periodic" else (), x=1.0)


def walls(start: State, levels: Mapping[str, float]) -> tuple[AbstractCondition, ...]:
    """What holds at the ends of a line where every field starts like this, about its level."""
    if start.ends == "held":
        return tuple(Dirichlet("x", **{name: level}) for name, level in levels.items())  # pyright: ignore[reportArgumentType]
    if start.ends == "insulated":
        return tuple(Neumann("x", **{name: 0.0}) for name in levels)  # pyright: ignore[reportArgumentType]
    return ()
