"""What a sum of sines was found to be: with one band, or averaged over bands that are as good, or over
priors of what stands in its equation (smoothness.py).

Noisy readings hardly tell one band from the next, and yet what the field does between them, and a hidden
one everywhere, depends on it. So fields of several bands are averaged, each as probable as the readings
make it, and the posterior is that of all of them. A sum of such sums is one again, with more sines.

Exact readings leave the model's own error, which no posterior knows: it takes for granted that so many
sines of that band can follow the field. A field found once more, with other sines, errs otherwise. Two
such fields are averaged, too: half of what they differ by is about what their average gets wrong.
"""

import dataclasses
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, Int

from pgt.core.unknown import named_unknowns
from pgt.data.observations import Observations
from pgt.data.splits import Groups, choose_held_out_sensors
from pgt.inference.linear_gaussian import PLAINLY, Solved, shared_out
from pgt.methods.closed_form.design_rows import field_rows, weights_of, with_weights
from pgt.methods.coefficients import CoefficientEstimate, are_settled
from pgt.models.features import Features, Sines
from pgt.models.field_model import AbstractFieldModel
from pgt.models.linearised import LinearisedModel
from pgt.nn import batched
from pgt.nn.trees import cast
from pgt.physics.pde import AbstractPDE
from pgt.training.settings import Posterior

NARROW = 1.0  # of the log-evidence, for every doubling of a band
POLYNOMIAL = 1.0  # a band of a third of a wave over the domain
DRAWS = 64  # from the posterior
MOST_BANDS, LEAST_SHARE = 6, 0.03  # that are averaged, and what the least of them counts


def cost_of_band(band: tuple[float, ...]) -> float:
    """What a band costs of the log-evidence; a part of a wave costs nothing: there all sines are
    polynomials, and one band is as good as the other.

    >>> cost_of_band((8.0, 0.25)), cost_of_band((0.5,))
    (3.0, 0.0)
    """
    return NARROW * sum(math.log2(max(b, POLYNOMIAL)) for b in band)


@runtime_checkable
class Answer(Protocol):
    """An answer whose readings are those of a Gaussian model: a sum of sines, or a solution on a mesh."""

    @property
    def model(self) -> AbstractFieldModel: ...

    @property
    def sigma(self) -> float: ...

    @property
    def sigmas(self) -> Float[np.ndarray, " n"]: ...

    def left_out(self, groups: Groups | None = None) -> tuple[np.ndarray, np.ndarray]:
        """What is wrong with the prediction of every measured value from the others, and its σ."""
        ...

    def without(self, inside: Int[np.ndarray, " m"]) -> tuple[np.ndarray, np.ndarray]:
        """The same of some measured values, which are left out together."""
        ...


@dataclass(frozen=True)
class Found:
    """A field found with one band, and its posterior."""

    band: tuple[float, ...]
    model: Features
    pde: AbstractPDE
    solved: Solved
    learnt: dict[str, CoefficientEstimate]
    # The evidence by veil (band_solution.py).
    veiled: Mapping[float, float] = dataclasses.field(default_factory=dict)

    def is_better_than(self, other: "Found") -> bool:
        """More probable; where coefficients had not come to rest, nobody knows how probable."""
        mine, others = are_settled(self.learnt), are_settled(other.learnt)
        if mine is not others:
            return mine
        shared = self.veiled.keys() & other.veiled.keys()
        return self.evidence > other.evidence if not shared else self._sees_more_than(other, shared)

    def _sees_more_than(self, other: "Found", veils: Set[float]) -> bool:
        """Whether it is more probable under the thickest of the veils, by which an equation that holds is
        told from one that was dropped; else whether the equation holds under a thinner one."""
        mine, others = (part.veiled[max(veils)] - cost_of_band(part.band) for part in (self, other))
        if abs(mine - others) > PLAINLY:
            return mine > others
        thinnest = min(self.veiled), min(other.veiled)
        return (
            self.evidence > other.evidence if len({*thinnest}) == 1 else thinnest[0] < thinnest[1]
        )

    @property
    def evidence(self) -> float:
        """log p(readings | equation), less what a wide band costs: noisy readings hardly tell bands
        apart, and then the narrower one is closer to the truth."""
        return self.solved.peak.evidence - cost_of_band(self.band)

    @property
    def sigma(self) -> float:
        """The noise of the readings, in units of their spread."""
        return self.solved.sigma

    @property
    def sigmas(self) -> Float[np.ndarray, " n"]:
        """The same of every measured value."""
        return self.solved.sigma * self.solved.reduced.sigma

    def steps(self, count: int, exact: bool = True) -> Float[np.ndarray, "count p"]:
        """From the weights to those drawn from the posterior. Where they are to be `exact`, intervals of
        coefficients, which are the last of them, are as wide as it says at the most probable scales, not
        as these draws happen to be."""
        return self.solved.draw(count, last=len(named_unknowns(self.pde)) if exact else 0)

    def left_out(self, groups: Groups | None = None):
        """What is wrong with the prediction of every measured value from the others, and its σ."""
        return self.solved.left_out(groups)

    def without(self, inside: Int[np.ndarray, " m"]):
        """The same of some measured values, which are left out together."""
        return next(self.solved.without(inside))

    def spread(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n c"]:
        """The posterior's standard deviation of every field at points, in units of its spread."""
        sines = field_rows(self.model, points)
        network, others = self.model.network, len(named_unknowns(self.pde))
        fields, count = network.readout.shape
        columns = []
        for field in range(fields):
            rows = np.zeros((len(points), fields * count))
            rows[:, field * count : (field + 1) * count] = sines
            rows = np.pad(network.tied(rows), ((0, 0), (0, others)))
            columns.append(self.solved.spread(rows))
        return np.stack(columns, axis=1)


@dataclass(frozen=True)
class Averaged:
    """Fields found with several bands, the most probable first, and how much each of them counts.

    `model` is their average: it has the sines of all of them.
    """

    model: Features
    pde: AbstractPDE
    parts: tuple[Found, ...]
    shares: Float[np.ndarray, " k"]

    @property
    def band(self) -> tuple[float, ...]:
        """The most probable."""
        return self.parts[0].band

    @property
    def evidence(self) -> float:
        """Of the most probable."""
        return self.parts[0].evidence

    @property
    def learnt(self) -> dict[str, CoefficientEstimate]:
        """Of coefficients: there are none."""
        return {}

    @property
    def sigma(self) -> float:
        """The noise of the readings, in units of their spread."""
        return math.sqrt(self.shares @ [part.sigma**2 for part in self.parts])

    @property
    def sigmas(self) -> Float[np.ndarray, " n"]:
        """The same of every measured value."""
        return np.sqrt(self.shares @ np.array([part.sigmas**2 for part in self.parts]))

    def steps(self, count: int, exact: bool = True) -> Float[np.ndarray, "count p"]:
        """From the average's weights to those drawn from the posteriors, from each as many as it
        counts, and by how far it is from the average."""
        numbers = shared_out(self.shares, count)
        drawn = [
            self._placed(k, weights_of(part.model, part.pde) + part.steps(number, exact))
            for k, (part, number) in enumerate(zip(self.parts, numbers, strict=True)) if number
        ]  # fmt: skip
        return np.concatenate(drawn) - weights_of(self.model, self.pde)

    def left_out(self, groups: Groups | None = None):
        """What is wrong with the prediction of every measured value from the others, and its σ."""
        errors, sigmas = map(
            np.array, zip(*(part.left_out(groups) for part in self.parts), strict=True)
        )
        return self._mixed(errors, sigmas)

    def without(self, inside: Int[np.ndarray, " m"]):
        """The same of some measured values, which are left out together."""
        found = [part.without(inside) for part in self.parts]
        return self._mixed(*map(np.array, zip(*found, strict=True)))

    def spread(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n c"]:
        """The standard deviation of every field at points, in units of its spread."""
        fields = np.array([_fields(part.model, points) for part in self.parts])
        return self._mixed(fields, np.array([part.spread(points) for part in self.parts]))[1]

    @property
    def is_of_one(self) -> bool:
        """Whether all of them have the same sines."""
        return self.model.network.sines is self.parts[0].model.network.sines

    def _mixed(self, means, deviations):
        """Mean and standard deviation of what is drawn from all of them."""
        mean = np.tensordot(self.shares, means, 1)
        return mean, np.sqrt(np.tensordot(self.shares, deviations**2 + (means - mean) ** 2, 1))

    def _placed(self, part: int, weights: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "n p"]:
        """The weights of one of the fields as weights of all sines."""
        if self.is_of_one:
            return weights
        counts = [len(part.model.network.sines.phases) for part in self.parts]
        fields, size = self.model.network.readout.shape
        own = self.parts[part].model.network.readouts(weights)
        placed = np.zeros((len(weights), fields, size))
        start, count = sum(counts[:part]), counts[part]
        placed[..., start : start + count] = own[..., :count]
        placed[..., sum(counts) :] = own[..., count:]  # the functions of a shape, which they share
        return placed.reshape(len(weights), -1)


def averaged(best: Found, tried: Mapping[tuple[float, ...], Found]) -> Found | Averaged:
    """The best averaged with others of those `tried`; by itself where none is nearly as probable.

    `tried` has the best's own band, too, with as many sines as the others have.
    """
    local = best.model.local
    if local is not None and len(local.beats):  # functions of a shape that depend on the band
        return best
    excess = {band: found.evidence - tried[best.band].evidence for band, found in tried.items()}
    odds = {band: math.exp(min(e, 0.0)) for band, e in excess.items()}
    most = sorted(odds, key=lambda band: -odds[band] - (band == best.band))
    parts = {band: best if band == best.band else tried[band] for band in most}
    return _of_most([parts[band] for band in most], [odds[band] for band in most])


def as_probable(found: Sequence[Found]) -> Found | Averaged:
    """Those with the same sines averaged, each as probable as the readings make it."""
    ranked = sorted(found, key=lambda part: -part.evidence)
    return _of_most(ranked, [math.exp(p.evidence - ranked[0].evidence) for p in ranked])


def _of_most(parts: Sequence[Found], odds: Sequence[float]) -> Found | Averaged:
    """The average of the first of them as far as they count; the first one where no other does."""
    kept = [k for k, share in enumerate(odds[:MOST_BANDS]) if share >= LEAST_SHARE]
    if len(kept) < 2:
        return parts[0]
    shares = np.array([odds[k] for k in kept])
    return _average(tuple(parts[k] for k in kept), shares / shares.sum())


def of_two(first: Found, second: Found) -> Averaged:
    """The average of two fields found with one band and different sines."""
    return _average((first, second), np.full(2, 0.5))


def _average(parts: tuple[Found, ...], shares: Float[np.ndarray, " k"]) -> Averaged:
    first, sines = parts[0], [part.model.network.sines for part in parts]
    joined = sines[0]
    if any(other is not joined for other in sines):
        waves, phases = ([getattr(s, name) for s in sines] for name in ("frequencies", "phases"))
        growth = None
        if joined.growth is not None:
            growth = np.concatenate([np.asarray(s.growth) for s in sines])
        joined = Sines(np.concatenate(waves), np.concatenate(phases), joined.local, growth)
    empty = np.zeros((len(first.model.network.readout), joined.count))
    network = replace(first.model.network, sines=joined, readout=empty, amplitudes=None)
    model = eqx.tree_at(
        lambda m: (m.network, m.symbol), first.model, (network, None), is_leaf=lambda n: n is None
    )
    average = Averaged(model, first.pde, parts, shares)
    own = [weights_of(part.model, part.pde)[None] for part in parts]
    placed = [average._placed(k, weights)[0] for k, weights in enumerate(own)]
    return replace(average, model=with_weights(model, first.pde, shares @ np.array(placed))[0])


def _fields(model: Features, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n c"]:
    return field_rows(model, points) @ np.asarray(model.network.readout, float).T


# ----------------------------------------------------------------------- what is asked of either


def deviations(
    found: Found | Averaged, points: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "k n c"]:
    """How far fields drawn from the posterior are from the fit at points, in physical units."""
    network = found.model.network
    steps = network.readouts(found.steps(DRAWS, exact=False)[:, : network.size])
    sines = field_rows(found.model, points)
    return np.einsum("nm,kcm->knc", sines, steps) * np.asarray(found.model.scaling.spread)


def noise_of_fields(found: Answer, readings: Observations) -> Float[np.ndarray, " c"]:
    """The noise of the readings of each field, in units of its spread; the common one of fields that were
    not read."""
    counts = [len(readings.measured(name).rows) for name in readings.fields]
    parts = np.split(found.sigmas, np.cumsum(counts)[:-1])
    return np.array([np.median(part) if len(part) else found.sigma for part in parts])


def left_out_errors(found: Answer, readings: Observations, which: Groups | None):
    """What is wrong with the prediction of every measured value from the readings but that one, and
    its σ; with `which` sensor took each reading, from the other sensors."""
    if which is None:
        return found.left_out()
    by_field = [which[readings.measured(name).rows] for name in readings.fields]
    return found.left_out(np.concatenate(by_field))


def errors_without(
    found: Answer, readings: Observations, rows: Int[np.ndarray, " m"]
) -> Float[np.ndarray, " k"]:
    """What is wrong with the prediction of all values measured in some `rows`, in units of the spread,
    from the readings that are left: as a network is judged that was not shown those rows."""
    values = np.concatenate([readings.measured(name).rows for name in readings.fields])
    return found.without(np.flatnonzero(np.isin(values, rows)))[0]


def left_out_predictions(found: Answer, readings: Observations) -> Float[np.ndarray, "n c"]:
    """What is said of every measured value by the others, or by other sensors where they can be spared;
    NaN where there is none. The readings are those of the problem, in its order."""
    predictions = np.full(np.shape(readings.values), np.nan)
    spread, start = np.asarray(found.model.scaling.spread, float), 0
    zero = found.model.scaling.origin.along(readings.fields)
    errors, _ = left_out_errors(found, readings, choose_held_out_sensors(readings))
    for field, name in enumerate(readings.fields):
        rows, _, values, _ = readings.measured(name)
        own = errors[start : start + len(rows)]
        predictions[rows, field] = np.asarray(values, float) - spread[field] * own + zero[field]
        start += len(rows)
    return predictions


def drawn_members(found: Found | Averaged, settings: Posterior):
    """Models and equations drawn from the posterior, stacked, in pairs ± around the fit."""
    half = found.steps(settings.samples // 2)
    steps, weights = np.concatenate([half, -half]), weights_of(found.model, found.pde)
    network = found.model.network
    directions = network.readouts(steps[:, : network.size])
    with jax.enable_x64(True):
        bases = batched.repeat(found.model, len(steps))
        moved = [
            cast(with_weights(found.model, found.pde, weights + step)[1], jnp.float64)
            for step in steps
        ]
        return LinearisedModel(bases, jnp.asarray(directions)), batched.stack(moved)
