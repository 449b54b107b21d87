"""The posterior of a sum of sines in one band, or averaged over bands or priors.

For a band b, readings y and equation E, the fit is N(μ_b, Σ_b) with the evidence Z_b = p(y | E, b). Noisy
readings hardly distinguish neighboring bands, but the field between readings, and a hidden field
everywhere, depends on the band. The result is therefore the mixture

    p(u | y, E) = Σ_b w_b N(μ_b, Σ_b),    w_b ∝ Z_b exp(-log2 b)

with the mean Σ w_b μ_b, again a sum of sines, and the variance Σ w_b (Σ_b + (μ_b - mean)²).

With exact readings the error of the basis remains. No posterior contains it, because each assumes that
its sines can represent the field. A fit with other sines of the same band has an independent error of
this kind, so two such fits are averaged: half of their difference estimates the error of the average.
"""

import math
from collections.abc import Mapping, Sequence
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
from pgt.inference.evidence import MAX_EXACT_SIGMA
from pgt.inference.linear_gaussian import DECISIVE_EVIDENCE, GaussianPosterior, divide_draws
from pgt.methods.closed_form.design_rows import field_rows, weights_of, with_weights
from pgt.methods.coefficients import CoefficientEstimate, are_settled
from pgt.models.features import Features, Sines
from pgt.models.field_model import AbstractFieldModel
from pgt.models.linearised import LinearisedModel
from pgt.nn import batched
from pgt.nn.trees import cast
from pgt.physics.pde import AbstractPDE
from pgt.training.settings import POSTERIOR_DRAWS, Posterior

# The largest number of bands in an average, and the smallest weight of a band relative to the best.
MAX_AVERAGED_BANDS, MIN_BAND_WEIGHT = 6, 0.03


def band_penalty(band: tuple[float, ...]) -> float:
    """The negative log-prior of a band: 1 for every doubling along an axis. Noisy readings hardly
    distinguish bands, and then the narrower one is closer to the truth. Below a third of a wave over the
    domain all sines look like polynomials, so that no band is preferred.

    >>> band_penalty((8.0, 0.25)), band_penalty((0.5,))
    (3.0, 0.0)
    """
    return sum(math.log2(max(b, 1.0)) for b in band)


@runtime_checkable
class GaussianFit(Protocol):
    """A fit with a Gaussian model of the readings: a sum of sines, or a solution on a mesh."""

    @property
    def model(self) -> AbstractFieldModel: ...

    @property
    def sigma(self) -> float: ...

    @property
    def sigmas(self) -> Float[np.ndarray, " n"]: ...

    def left_out(self, groups: Groups | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The error of the leave-one-out prediction of every measured value, and its σ."""
        ...

    def without(self, inside: Int[np.ndarray, " m"]) -> tuple[np.ndarray, np.ndarray]:
        """The error of the prediction of values that are left out together, and its σ."""
        ...


@dataclass(frozen=True)
class BandFit:
    """The fit with the sines of one band.

    Attributes
    ----------
    model, pde : the field, and the equation with its coefficients.
    posterior : the posterior of the weights.
    learnt : by name, the estimate of each unknown coefficient.
    floor_evidence : the evidence with the noise held at a floor, which compares fits also where one of
        them ignores its equation (band_solution.py); None where no floor was needed.
    """

    model: Features
    pde: AbstractPDE
    posterior: GaussianPosterior
    learnt: dict[str, CoefficientEstimate]
    floor_evidence: float | None = None

    @property
    def band(self) -> tuple[float, ...]:
        """The largest frequency along each axis."""
        assert self.model.band is not None  # a search always sets it
        return self.model.band

    def is_better_than(self, other: "BandFit") -> bool:
        """Whether this fit is more probable than another one. A fit whose coefficients have converged is
        always better than one whose coefficients have not."""
        is_settled, is_other_settled = are_settled(self.learnt), are_settled(other.learnt)
        if is_settled is not is_other_settled:
            return is_settled
        if self.floor_evidence is not None and other.floor_evidence is not None:
            gain = self.floor_evidence - band_penalty(self.band)
            gain -= other.floor_evidence - band_penalty(other.band)
            if abs(gain) > DECISIVE_EVIDENCE:
                return gain > 0
            floors = (self.posterior.reduced.sigma_floor, other.posterior.reduced.sigma_floor)
            if floors[0] != floors[1]:  # one of them also fits with a lower noise level
                return floors[0] < floors[1]
        return self.evidence > other.evidence

    @property
    def evidence(self) -> float:
        """log p(readings | equation, band) plus the log-prior of the band."""
        return self.posterior.maximum.evidence - band_penalty(self.band)

    @property
    def sigma(self) -> float:
        """The noise level of the readings, in units of their spread."""
        return self.posterior.sigma

    @property
    def sigmas(self) -> Float[np.ndarray, " n"]:
        """The noise level of every measured value, in units of the spread."""
        return self.posterior.sigma * self.posterior.reduced.sigma

    def draw(self, count: int, exact: bool = True) -> Float[np.ndarray, "count p"]:
        """Steps from the weights to draws from the posterior. With `exact`, the sample covariance of the
        coefficients, which are the last weights, is exact at the most probable scales."""
        return self.posterior.draw(count, last=len(named_unknowns(self.pde)) if exact else 0)

    def left_out(self, groups: Groups | None = None):
        """The error of the leave-one-out prediction of every measured value, and its σ."""
        return self.posterior.left_out(groups)

    def without(self, inside: Int[np.ndarray, " m"]):
        """The error of the prediction of values that are left out together, and its σ."""
        return next(self.posterior.without(inside))

    def spread(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n c"]:
        """The posterior standard deviation of every field at points, in units of its spread."""
        sines = field_rows(self.model, points)
        network, coefficient_count = self.model.network, len(named_unknowns(self.pde))
        fields, count = network.readout.shape
        columns = []
        for field in range(fields):
            rows = np.zeros((len(points), fields * count))
            rows[:, field * count : (field + 1) * count] = sines
            rows = np.pad(network.tied(rows), ((0, 0), (0, coefficient_count)))
            columns.append(self.posterior.spread(rows))
        return np.stack(columns, axis=1)


@dataclass(frozen=True)
class BandAverage:
    """The mixture of fits `parts` with the probabilities `shares`, the most probable first. `model` is
    the mean of the mixture, which has the sines of all parts."""

    model: Features
    pde: AbstractPDE
    parts: tuple[BandFit, ...]
    shares: Float[np.ndarray, " k"]

    @property
    def band(self) -> tuple[float, ...]:
        """The band of the most probable part."""
        return self.parts[0].band

    @property
    def evidence(self) -> float:
        """The evidence of the most probable part."""
        return self.parts[0].evidence

    @property
    def learnt(self) -> dict[str, CoefficientEstimate]:
        """Empty: equations with unknown coefficients are not averaged."""
        return {}

    @property
    def sigma(self) -> float:
        """The noise level of the readings, in units of their spread."""
        return math.sqrt(self.shares @ [part.sigma**2 for part in self.parts])

    @property
    def sigmas(self) -> Float[np.ndarray, " n"]:
        """The noise level of every measured value, in units of the spread."""
        return np.sqrt(self.shares @ np.array([part.sigmas**2 for part in self.parts]))

    def draw(self, count: int, exact: bool = True) -> Float[np.ndarray, "count p"]:
        """Steps from the weights of the mean to draws from the mixture. The number of draws from each
        part is proportional to its share."""
        counts = divide_draws(self.shares, count)
        drawn = [
            self._embedded(k, weights_of(part.model, part.pde) + part.draw(part_count, exact))
            for k, (part, part_count) in enumerate(zip(self.parts, counts, strict=True))
            if part_count
        ]
        return np.concatenate(drawn) - weights_of(self.model, self.pde)

    def left_out(self, groups: Groups | None = None):
        """The error of the leave-one-out prediction of every measured value, and its σ."""
        results = [part.left_out(groups) for part in self.parts]
        return self._mixture_moments(*map(np.array, zip(*results, strict=True)))

    def without(self, inside: Int[np.ndarray, " m"]):
        """The error of the prediction of values that are left out together, and its σ."""
        results = [part.without(inside) for part in self.parts]
        return self._mixture_moments(*map(np.array, zip(*results, strict=True)))

    def spread(self, points: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n c"]:
        """The standard deviation of every field at points, in units of its spread."""
        readouts = [np.asarray(part.model.network.readout, float).T for part in self.parts]
        fields = [
            field_rows(part.model, points) @ readout
            for part, readout in zip(self.parts, readouts, strict=True)
        ]
        spreads = np.array([part.spread(points) for part in self.parts])
        return self._mixture_moments(np.array(fields), spreads)[1]

    def _mixture_moments(self, means, deviations):
        """The mean and the standard deviation of the mixture."""
        mean = np.tensordot(self.shares, means, 1)
        return mean, np.sqrt(np.tensordot(self.shares, deviations**2 + (means - mean) ** 2, 1))

    def _embedded(self, part: int, weights: Float[np.ndarray, "n q"]) -> Float[np.ndarray, "n p"]:
        """The weights of one of the parts as weights of all sines."""
        if self.model.network.sines is self.parts[0].model.network.sines:  # shared by all parts
            return weights
        counts = [len(part.model.network.sines.phases) for part in self.parts]
        fields, size = self.model.network.readout.shape
        readouts = self.parts[part].model.network.readouts(weights)
        embedded = np.zeros((len(weights), fields, size))
        start, count = sum(counts[:part]), counts[part]
        embedded[..., start : start + count] = readouts[..., :count]
        # After the sines come the functions of the domain's shape, which all parts share.
        embedded[..., sum(counts) :] = readouts[..., count:]
        return embedded.reshape(len(weights), -1)


def average_bands(best: BandFit, tried: Mapping[tuple[float, ...], BandFit]):
    """The average of the best fit with those of the `tried` bands that are nearly as probable; the best
    fit itself where there are none.

    `tried` also has a fit in the best band with as many sines as the other fits, for comparison.
    """
    local = best.model.local
    if local is not None and len(local.beats):  # the functions of the shape depend on the band
        return best
    gains = {band: fit.evidence - tried[best.band].evidence for band, fit in tried.items()}
    ranked = sorted(gains, key=lambda band: -min(gains[band], 0.0) - (band == best.band))
    parts = [best if band == best.band else tried[band] for band in ranked]
    return _average_likely_parts(parts, [math.exp(min(gains[band], 0.0)) for band in ranked])


def average_priors(fits: Sequence[BandFit]) -> "BandFit | BandAverage":
    """The average, by their evidence, of fits with the same sines and different priors."""
    ranked = sorted(fits, key=lambda part: -part.evidence)
    return _average_likely_parts(
        ranked, [math.exp(p.evidence - ranked[0].evidence) for p in ranked]
    )


def _average_likely_parts(parts: Sequence[BandFit], odds: Sequence[float]) -> BandFit | BandAverage:
    """The average of the parts whose odds are not negligible; the first part where no other counts."""
    kept = [k for k, share in enumerate(odds[:MAX_AVERAGED_BANDS]) if share >= MIN_BAND_WEIGHT]
    if len(kept) < 2:
        return parts[0]
    shares = np.array([odds[k] for k in kept])
    return _mixture(tuple(parts[k] for k in kept), shares / shares.sum())


def average_two(first: BandFit, second: BandFit) -> BandAverage:
    """The average of two fits with different sines, in equal shares."""
    return _mixture((first, second), np.full(2, 0.5))


def with_new_parts(average: BandAverage, parts: tuple[BandFit, ...]) -> BandAverage:
    """The average of the same bands, each fitted to more readings, whose evidence changes the shares.

    With exact readings the shares stay: the parts then measure the error of the basis.
    """
    shares = average.shares
    if average.sigma > MAX_EXACT_SIGMA:
        pairs = zip(parts, average.parts, strict=True)
        gains = np.array([part.evidence - before.evidence for part, before in pairs])
        odds = shares * np.exp(gains - gains.max())
        shares = odds / odds.sum()
    return _mixture(parts, shares)


def _mixture(parts: tuple[BandFit, ...], shares: Float[np.ndarray, " k"]) -> BandAverage:
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
    average = BandAverage(model, first.pde, parts, shares)
    weights_of_parts = [weights_of(part.model, part.pde)[None] for part in parts]
    embedded = [average._embedded(k, weights)[0] for k, weights in enumerate(weights_of_parts)]
    return replace(average, model=with_weights(model, first.pde, shares @ np.array(embedded))[0])


# ----------------------------------------------------------------------- draws and leave-out errors


def deviations(
    fit: BandFit | BandAverage, points: Float[np.ndarray, "n d"]
) -> Float[np.ndarray, "k n c"]:
    """The deviations of posterior draws of the fields from the fit at points, in physical units."""
    network = fit.model.network
    steps = fit.draw(2 * POSTERIOR_DRAWS, exact=False)
    readouts = network.readouts(steps[:, : network.size])
    sines = field_rows(fit.model, points)
    return np.einsum("nm,kcm->knc", sines, readouts) * np.asarray(fit.model.scaling.spread)


def noise_of_fields(fit: GaussianFit, readings: Observations) -> Float[np.ndarray, " c"]:
    """The noise level of each field, in units of its spread; the common level for fields without
    readings."""
    counts = [len(readings.measured(name).rows) for name in readings.fields]
    parts = np.split(fit.sigmas, np.cumsum(counts)[:-1])
    return np.array([np.median(part) if len(part) else fit.sigma for part in parts])


def left_out_errors(fit: GaussianFit, readings: Observations, sensor_of: Groups | None):
    """The error of the prediction of every measured value from all other readings, and its σ. With
    `sensor_of`, the sensor of each reading, it is predicted from the other sensors."""
    if sensor_of is None:
        return fit.left_out()
    by_field = [sensor_of[readings.measured(name).rows] for name in readings.fields]
    return fit.left_out(np.concatenate(by_field))


def errors_without(
    fit: GaussianFit, readings: Observations, rows: Int[np.ndarray, " m"]
) -> Float[np.ndarray, " k"]:
    """The errors of the predictions of all values in some `rows` from the other rows, in units of the
    spread. They are comparable with the errors of a network that was not trained on those rows."""
    values = np.concatenate([readings.measured(name).rows for name in readings.fields])
    return fit.without(np.flatnonzero(np.isin(values, rows)))[0]


def left_out_predictions(fit: GaussianFit, readings: Observations) -> Float[np.ndarray, "n c"]:
    """The prediction of every measured value from the others, or from other sensors where there are
    enough; NaN where nothing was measured. The readings are those of the problem, in the same order."""
    predictions = np.full(np.shape(readings.values), np.nan)
    spread, start = np.asarray(fit.model.scaling.spread, float), 0
    origin = fit.model.scaling.origin.along(readings.fields)
    errors, _ = left_out_errors(fit, readings, choose_held_out_sensors(readings))
    for field, name in enumerate(readings.fields):
        rows, _, values, _ = readings.measured(name)
        field_errors = errors[start : start + len(rows)]
        predictions[rows, field] = (
            np.asarray(values, float) - spread[field] * field_errors + origin[field]
        )
        start += len(rows)
    return predictions


def draw_members(fit: BandFit | BandAverage, settings: Posterior):
    """Models and equations drawn from the posterior, stacked, in pairs ± around the fit."""
    half = fit.draw(settings.samples // 2)
    steps, weights = np.concatenate([half, -half]), weights_of(fit.model, fit.pde)
    network = fit.model.network
    directions = network.readouts(steps[:, : network.size])
    with jax.enable_x64(True):
        bases = batched.repeat(fit.model, len(steps))
        pdes = [
            cast(with_weights(fit.model, fit.pde, weights + step)[1], jnp.float64) for step in steps
        ]
        return LinearisedModel(bases, jnp.asarray(directions)), batched.stack(pdes)
