"""Use of a trained network: it maps the readings of a new system to its field without further training.

Where the family has a usable law, the law answers by `assimilate`, and the network answers only where the
readings contradict the law.
"""

import os
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Bool, Float

from pgt.core import serialise
from pgt.core.checked import checked
from pgt.core.errors import InputError
from pgt.core.parser import suggestion
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.data.query_points import as_points
from pgt.families.assimilation import REACH, Assimilation, as_solved, assimilate
from pgt.families.family import (
    AbstractFamily,
    CoefficientSource,
    coefficient_values,
    equation_doubts,
)
from pgt.families.field_posterior import AxisRequest, BatchAnswers, FieldBand, on_grid
from pgt.families.map_estimate import estimate_many
from pgt.families.networks import readout
from pgt.families.networks.card import MAX_CLEAN_NOISE, Card
from pgt.families.networks.readout import FamilyNetwork, NetworkField, readout_precision
from pgt.families.sensing import KernelGuide, SensorBatch, are_stations
from pgt.models.field_model import Frame
from pgt.models.hypernetwork import FieldPosterior
from pgt.nn.scaling import Scaling
from pgt.nn.trees import cast
from pgt.physics.pde import AbstractPDE

FOLDER = Path(__file__).parent / "weights"
# Arrays of at most this many entries are saved in single precision, because they include the decay rates
# of waves; larger ones are saved in half precision.
MAX_FULL_PRECISION = 64
RANGE_SLACK = 0.02  # Values outside a range by less than this share of it count as inside.


class PretrainedAnswer(eqx.Module):
    """The predicted field of one system, with bands.

    `by` holds the field: an `Assimilation` if the family's law answers, or else a `NetworkField`.
    `outside` says in words how the question differs from the family or from the training; the field is
    then unreliable. `expected_error` is the expected relative error.
    """

    pretrained: "Pretrained"
    question: tuple[Observations, CoefficientSource]
    by: NetworkField | Assimilation
    domain: Domain
    factor: float
    outside: tuple[str, ...]
    expected_error: float

    def at(self, points: Float[np.ndarray, "m d"]) -> FieldBand:
        """The mean and the band at points, one point per row, in the order of the domain's axes."""
        mean, spread = self.by.mean_and_spread(as_points(points, self.domain))
        reach = self.factor * spread
        return FieldBand(mean, mean - reach, mean + reach, list(self.outside))

    def grid(self, **axes: AxisRequest) -> xr.Dataset:
        """Fields and bands (`u`, `u_low`, `u_high`) on a grid of numbers of nodes, or of positions."""
        attributes = {"expected_error": self.expected_error, "outside": "; ".join(self.outside)}
        return on_grid(self.at, self.domain, self.pretrained.family.fields, axes, attributes)

    def model(self) -> Frame:
        """The network's field as an ordinary model, a SIREN, for `reconstruct(..., start=...)`."""
        if isinstance(self.by, Assimilation):
            return self.pretrained(*self.question, self.domain, law=False).model()
        if not isinstance(self.by.field, FieldPosterior):
            raise InputError(
                "start=: a pretrained PGT answers by attention to the readings and has no weights of one "
                'system that a fit could refine; pretrain with model="hypernetwork".'
            )
        return Frame(scaling=self.by.scaling, network=cast(self.by.field.network, jnp.float32))


class Pretrained(eqx.Module):
    """A network that was trained over a family; a call with readings and coefficients returns the field.

    >>> import pgt
    >>> network = pgt.families.shipped("heat")
    >>> truth = network.family.dataset(network.family.draw(jax.random.key(1), {"diffusivity": 0.02}))
    >>> answer = network(pgt.sample(truth, n=40), pgt.Heat(0.02))
    >>> answer.outside, answer.grid(x=5, t=3).u.shape
    ((), (5, 3))
    """

    network: FamilyNetwork
    family: AbstractFamily
    card: Card

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields that sensors measure; all of them where none is named."""
        return tuple(self.card.sensing.reads)

    @checked
    def __call__(
        self,
        readings: Observations,
        coefficients: Mapping | AbstractPDE,
        domain: Domain | None = None,
        *,
        law: bool = True,
    ) -> PretrainedAnswer:
        """The field of a system from its readings, by default in the family's domain.

        The law of the family answers if the card has it (`card.law`). The network answers where the
        readings contradict the law, in another domain, and with `law=False`.
        """
        domain = domain or self.family.domain
        self._require_axes(domain)
        values = self._all_coefficients(coefficients)
        readings = readings.wrapped(domain).aligned(self.family.fields)
        readings.check_inside(domain)
        scaling = readout.with_hidden_spread(Scaling.fit(readings, domain), readings)
        outside, question = equation_doubts(self.family, coefficients), (readings, coefficients)
        if law and not outside and self.card.law and domain == self.family.domain:
            estimated = assimilate(self.family, readings, values)
            if estimated.is_lawful:
                return self._by_law(question, values, scaling, estimated, domain)
            outside = list(estimated.outside)
        numbers = {name: jnp.asarray(value, jnp.float32) for name, value in values.items()}
        # Nonlinear equations depend on the mean itself, so the shift to the origin is undone.
        mean = np.asarray(scaling.mean) + scaling.origin.along(self.family.fields)
        absolute = eqx.tree_at(lambda s: s.mean, scaling, mean.astype(np.float32))
        row = self.family.numbers(numbers, absolute)
        by, off = self._by_network(readings, numbers, row, scaling, domain)
        outside += self._number_doubts(np.asarray(row)) + self._reading_doubts(len(readings), off)
        factor, error = self.card.network_error(len(readings), off)
        return PretrainedAnswer(self, question, by, domain, factor, tuple(outside), error)

    def _by_law(self, question, values, scaling: Scaling, found: Assimilation, domain: Domain):
        """The answer of the law, from the estimated system `found`."""
        readings = question[0]
        has_noise = bool((np.asarray(readings.noise)[np.asarray(readings.mask)] > 0).any())
        is_clean = found.noise_level <= MAX_CLEAN_NOISE and not has_noise
        stations = are_stations(np.asarray(readings.points, float), domain)
        row = self.card.law_error(len(readings), is_clean, stations)
        spreads = np.asarray(scaling.spread, float)
        relative_spread = np.asarray(found.spread, float).reshape(-1, len(spreads)) / spreads
        error = row.factor / REACH * float(np.sqrt(np.mean(relative_spread**2)))
        doubts = self._range_doubts(values) + self.card.noise_doubts(found.noise_level)
        outside = (*doubts, *found.outside)
        return PretrainedAnswer(self, question, found, domain, row.factor, outside, error)

    def _by_network(self, readings, coefficients, numbers, scaling: Scaling, domain: Domain):
        """The network's field and its misfit."""
        shifted, source = scaling.origin.readings(readings), self.card.noise_source
        arrays = readout.padded(shifted.points, shifted.values, shifted.mask)
        guide = KernelGuide(self.card.kernel)
        unit_readings, summary = readout.encode(
            self.network, self.family, guide, coefficients, numbers, scaling, *arrays
        )
        with readout_precision(source):
            field, off = readout.solve_field(self.network, summary, unit_readings, source)
        fields = tuple(self.family.fields)
        return NetworkField(self.network, field, scaling, domain, fields, source), float(off)

    def answer(
        self,
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n c"],
        coefficients: CoefficientSource,
        at: Float[np.ndarray, "m d"],
    ) -> FieldBand:
        """The field and band at points `at`, for plain arrays in which NaN marks a missing value."""
        family, values = self.family, np.asarray(values, float)
        has_value = np.isfinite(values).any(axis=-1)
        points, values = np.asarray(points, float)[has_value], values[has_value]
        columns = {name: values[:, k] for k, name in enumerate(family.fields)}
        positions = dict(zip(family.domain.axes, points.T, strict=True))
        return self(Observations.from_arrays(positions, columns), coefficients).at(at)

    def answers(
        self,
        points: Float[np.ndarray, "k n d"],
        values: Float[np.ndarray, "k n c"],
        coefficients: Mapping[str, Float[np.ndarray, " k"]],
        at: Float[np.ndarray, "m d"],
        *,
        law: bool = True,
    ) -> BatchAnswers:
        """The answers for many systems in the family's domain, with NaN for missing values."""
        batch = SensorBatch.of(self.family, points, values, coefficients, at)
        if not (law and self.card.law):
            return self._many_by_network(batch)
        law_answers, is_lawful = self._many_by_law(batch)
        return (
            law_answers
            if is_lawful.all()
            else law_answers.or_else(is_lawful, self._many_by_network(batch))
        )

    def _many_by_law(self, batch: SensorBatch) -> tuple[BatchAnswers, Bool[np.ndarray, " k"]]:
        """The law's answers, and for each system whether its answer may be used."""
        estimates = estimate_many(as_solved(self.family), batch)
        is_clean = (estimates.noise <= MAX_CLEAN_NOISE).tolist()
        rows = map(
            self.card.law_error, batch.counts, is_clean, batch.has_stations(self.family.domain)
        )
        reach = np.array([row.factor for row in rows])[:, None, None] * estimates.spread
        outside = []
        for k, doubts in enumerate(estimates.doubts):
            values = {name: float(of[k]) for name, of in batch.coefficients.items()}
            range_doubts = self._range_doubts(values) + self.card.noise_doubts(
                float(estimates.noise[k])
            )
            outside.append(range_doubts + doubts if estimates.is_lawful[k] else doubts)
        return BatchAnswers(estimates.mean, reach, outside), estimates.is_lawful

    def _many_by_network(self, batch: SensorBatch) -> BatchAnswers:
        """The network's answers."""
        *arrays, at = jax.tree.map(
            lambda a: jnp.asarray(a, None if a.dtype == bool else jnp.float32),
            (batch.coefficients, batch.points, batch.values, batch.mask, batch.at),
        )
        guide, source = KernelGuide(self.card.kernel), self.card.noise_source
        unit_readings, summaries, scaling = readout.encode_many(
            self.network, self.family, guide, *arrays
        )
        with readout_precision(source):
            mean, spread, off = readout.solve_many(
                self.network, summaries, unit_readings, scaling, at, source
            )
        counts, misfits = batch.counts, np.asarray(off).tolist()
        factors = np.array(
            list(map(lambda *pair: self.card.network_error(*pair)[0], counts, misfits))
        )
        outside = [
            self._number_doubts(row) + self._reading_doubts(*pair)
            for row, *pair in zip(np.asarray(unit_readings.numbers), counts, misfits, strict=True)
        ]
        return BatchAnswers(np.asarray(mean), factors[:, None, None] * np.asarray(spread), outside)

    def save(self, path: str | os.PathLike) -> None:
        """Write a safetensors file that includes the card, and a copy of the structure as JSON."""
        path = Path(path)
        half = jax.tree.map(_as_half_precision, self.network)
        kept = Pretrained(half, self.family.without_systems(), self.card)
        serialise.save(path.parent, path.name.removesuffix(".safetensors"), kept)

    @staticmethod
    @checked
    def load(path: str | os.PathLike, classes: Sequence[type] = ()) -> "Pretrained":
        """The network that `save` wrote; `classes` are your own classes to which the file refers."""
        path = Path(path)
        loaded = serialise.load(path.parent, path.name.removesuffix(".safetensors"), classes)
        if not isinstance(loaded, Pretrained):
            raise InputError(
                f"{path}: holds a {type(loaded).__name__}, not a pretrained network; give a file that "
                "`pgt pretrain` or `Pretrained.save` wrote."
            )
        network = jax.tree.map(
            lambda a: jnp.asarray(a, jnp.float32) if eqx.is_inexact_array_like(a) else a,
            loaded.network,
        )
        return Pretrained(network, loaded.family, loaded.card)

    # --------------------------------------------------------------------------- checks

    def _require_axes(self, domain: Domain) -> None:
        known = self.family.domain
        if domain.axes != known.axes or set(domain.periodic) != set(known.periodic):
            raise InputError(
                f"the family {self.card.family!r} has axes {_axes_in_words(known)}, the domain has "
                f"{_axes_in_words(domain)}: give it the same."
            )

    def _all_coefficients(self, given: CoefficientSource) -> dict[str, float]:
        values = coefficient_values(self.family, given)
        missing = [name for name in self.card.ranges if name not in values]
        if missing:
            raise InputError(
                f"the family {self.card.family!r} needs the coefficient {missing[0]!r}; write "
                f"{{{', '.join(f'{n!r}: ...' for n in self.card.ranges)}}}."
            )
        return values

    def _range_doubts(self, values: Mapping[str, float]) -> list[str]:
        """Sentences on coefficients outside the family's ranges."""
        doubts = []
        for name, (low, high) in self.card.ranges.items():
            value, slack = values[name], RANGE_SLACK * min(abs(low), abs(high))
            if not low - slack <= value <= high + slack:
                doubts.append(f"{name} is {value:g}, in the family {low:g} to {high:g}")
        return doubts

    def _number_doubts(self, numbers: np.ndarray) -> list[str]:
        """Sentences on dimensionless numbers outside the ranges of training."""
        low, high = np.array(self.card.number_ranges).reshape(-1, 2).T
        slack = RANGE_SLACK * (high - low)
        outside = np.flatnonzero(~((low - slack <= numbers) & (numbers <= high + slack)))
        names = (
            self.family.number_names if len(outside) else ()
        )  # tracing the family for them takes time
        return [
            f"{names[k]} is {numbers[k]:.2f}, in training {low[k]:.2f} to {high[k]:.2f}"
            for k in outside
        ]

    def _reading_doubts(self, count: int, off: float) -> list[str]:
        """Sentences on the number of readings, and on a field that misses them."""
        doubts, sensing = [], self.card.sensing
        if not sensing.min_readings <= count <= sensing.max_readings:
            doubts.append(
                f"{count} readings, in training {sensing.min_readings} to {sensing.max_readings}"
            )
        if off > self.card.misfit:
            doubts.append(
                f"the field misses its own readings by {100 * off:.0f} % of their spread, those of the "
                f"family by less than {100 * self.card.misfit:.0f} %"
            )
        return doubts


def _as_half_precision(leaf):
    is_large = eqx.is_inexact_array(leaf) and leaf.size > MAX_FULL_PRECISION
    return np.asarray(leaf, np.float16) if is_large else leaf


def _axes_in_words(domain: Domain) -> str:
    return ", ".join(f"{a} (periodic)" if a in domain.periodic else a for a in domain.axes)


# ------------------------------------------------------------------------------- with the library


def shipped_names() -> tuple[str, ...]:
    """The families whose network comes with the library.

    >>> shipped_names()
    ('advection_diffusion', 'burgers', 'heat', 'wave')
    """
    return tuple(sorted(path.stem for path in FOLDER.glob("*.safetensors")))


@checked
def shipped(name: str) -> Pretrained:
    """The network of a family that comes with the library.

    >>> shipped("heat").card.family
    'heat'
    """
    known = shipped_names()
    if name not in known:
        raise InputError(
            f"no network for {name!r} comes with the library; there are {', '.join(known)}."
            f"{suggestion(name, known)} Others are trained by `pgt pretrain`."
        )
    return _loaded(name)


@cache
def _loaded(name: str) -> Pretrained:
    return Pretrained.load(FOLDER / f"{name}.safetensors")
