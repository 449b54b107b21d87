"""A problem of the generator, and how its readings are placed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float, Int

from pgt.data import Observations
from pgt.physics.conditions import AbstractCondition
from pgt.physics.pde import AbstractPDE
from pgt_bench.generator.draws import Draw
from pgt_bench.problems import Setup
from pgt_bench.zoo.problem import Domain, Formula, Readings, Solved, ZooProblem

GENERATED = "generated"
PLACEMENTS = ("scattered", "sensors", "clustered", "part")
FEWEST, MOST = 20, 400  # readings
NOISE = (0.003, 0.1)  # of the spread of a field, where its readings have any
CLEAN = 0.35  # of the problems have no noise
KNOWN = 0.5  # of the boundary values are given, and of the initial states


@dataclass(frozen=True, eq=False)
class Case:
    """An equation with a solution, before anything is said of readings.

    Attributes
    ----------
    about : what it is, in a few words.
    boundary, initial : conditions that hold, which may or may not be given.
    may_hide : fields that the others tell of.
    """

    about: str
    pde: AbstractPDE
    domain: Domain
    truth: Formula | Solved
    boundary: tuple[AbstractCondition, ...] = ()
    initial: tuple[AbstractCondition, ...] = ()
    may_hide: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Problem(ZooProblem):
    """A problem of the zoo whose readings were drawn with it.

    Attributes
    ----------
    places : indices of the readings into the grid of the truth, (n, d).
    noise : σ by field, relative to the spread of the field.
    placement : one of `PLACEMENTS`.
    """

    places: Int[np.ndarray, "n d"] = field(kw_only=True)
    noise: Mapping[str, float] = field(kw_only=True)
    placement: str = field(kw_only=True)

    def load(self, seed: int = 0) -> Setup:
        """Readings, and all that is told of them; the seed is that of the noise."""
        truth, rng = self.truth.on(self.domain), np.random.default_rng(seed)
        axes = self.domain.axes
        points = np.stack(
            [truth[axis].to_numpy()[column] for axis, column in zip(axes, self.places.T, strict=True)],
            axis=-1,
        )  # fmt: skip
        values, sigma = {}, {}
        for name in self.measured:
            table = truth[name].transpose(*axes).to_numpy()
            sigma[name] = self.noise[name] * float(table.std())
            clean = table[tuple(self.places.T)]
            values[name] = clean + sigma[name] * rng.standard_normal(len(clean))
        readings = Observations.from_arrays(points, np.stack([*values.values()], axis=-1),
                                            coords=axes, fields=tuple(values))  # fmt: skip
        readings = readings.aligned(self.pde.fields)
        return Setup(readings, self.pde, self.domain, self.conditions, truth, sigma)


def posed(draw: Draw, name: str, case: Case) -> Problem:
    """The case with readings, noise, and what is known of its ends."""
    hidden = tuple(f for f in case.may_hide if draw.chance(0.6))
    if len(hidden) == len(case.pde.fields):
        hidden = hidden[1:]
    measured = [f for f in case.pde.fields if f not in hidden]
    truth, axes = case.truth.on(case.domain), case.domain.axes
    sizes = [truth.sizes[axis] for axis in axes]
    count = round(draw.decades(FEWEST if len(axes) < 3 else 2 * FEWEST, MOST))
    moves = "t" in axes and len(axes) > 1
    options = [p for p in PLACEMENTS if moves or p != "sensors"]
    placement = draw.choice(options)
    places = PLACED[placement](draw, sizes, min(count, int(np.prod(sizes)) // 2), axes)
    clean = draw.chance(CLEAN)
    noise = {f: 0.0 if clean else draw.decades(*NOISE) for f in measured}
    boundary = case.boundary if draw.chance(KNOWN) else ()
    initial = case.initial if draw.chance(KNOWN) else ()
    known = [word for word, part in (("boundary", boundary), ("start", initial)) if part]
    largest = max(noise.values())
    words = [
        case.about,
        f"{len(places)} readings, {placement}",
        f"noise up to {100 * largest:.1f} %" if largest else "no noise",
        *([f"{' and '.join(known)} known"] if known else []),
        *([f"{', '.join(hidden)} hidden"] if hidden else []),
    ]
    return Problem(
        name, GENERATED, "; ".join(words), case.pde, case.domain, case.truth,
        Readings(len(places), largest, hidden), GENERATED, (*boundary, *initial),
        places=places, noise=noise, placement=placement,
    )  # fmt: skip


# ------------------------------------------------------------------------------- placements

Places = Int[np.ndarray, "m d"]  # each once, so that they may be fewer


def _on_grid(unit: Float[np.ndarray, "n d"], sizes: Sequence[int]) -> Places:
    """The grid points next to places between 0 and 1, each once."""
    nearest = np.round(unit * (np.array(sizes) - 1)).astype(int)
    return np.unique(np.clip(nearest, 0, np.array(sizes) - 1), axis=0)


def scattered(draw: Draw, sizes, count: int, axes) -> Places:
    """Anywhere."""
    return _on_grid(draw.rng.uniform(size=(count, len(sizes))), sizes)


def sensors(draw: Draw, sizes, count: int, axes) -> Places:
    """At a few places that stand still, at regular times."""
    most = max(3, min(15, count // 6))
    stations = int(draw.rng.integers(3, most + 1))
    standing = draw.rng.uniform(size=(stations, len(sizes) - 1))
    times = (np.arange(max(2, count // stations)) + 0.5) / max(2, count // stations)
    pairs = [[*place, time] for place in standing for time in times]
    return _on_grid(np.array(pairs), sizes)


def clustered(draw: Draw, sizes, count: int, axes) -> Places:
    """In two to four clouds."""
    middles = draw.rng.uniform(0.1, 0.9, size=(draw.choice((2, 3, 4)), len(sizes)))
    around = middles[draw.rng.integers(len(middles), size=count)]
    return _on_grid(
        np.clip(around + 0.1 * draw.rng.standard_normal(around.shape), 0, 1), sizes
    )  # fmt: skip


def part(draw: Draw, sizes, count: int, axes) -> Places:
    """In a part of the domain, bounded along one axis."""
    unit = draw.rng.uniform(size=(count, len(sizes)))
    along, width = int(draw.rng.integers(len(sizes))), draw.between(0.4, 0.7)
    first = 0.0 if axes[along] == "t" else draw.between(0, 1 - width)
    unit[:, along] = first + width * unit[:, along]
    return _on_grid(unit, sizes)


PLACED = {"scattered": scattered, "sensors": sensors, "clustered": clustered, "part": part}
