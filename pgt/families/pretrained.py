"""A trained network in use: readings of a new system in, its field out, at once."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from pgt.data.asked import as_points
from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.families import networked
from pgt.families.assimilation import Assimilated, Draws, assimilate, solving
from pgt.families.at_once import CLEAN, AtOnce, judged_at_once, many_at_once
from pgt.families.card import Card
from pgt.families.family import AbstractFamily
from pgt.families.given import Given, given_numbers, strange_in
from pgt.families.networked import ByNetwork
from pgt.families.readout import precision
from pgt.families.rigs import Rigs, as_rigs, stand_still
from pgt.families.said import Answers, Asked, Said, answered_where, on_grid
from pgt.families.sensing import Guide
from pgt.ground import serialise
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.models.frame import Frame
from pgt.models.writer import Writer
from pgt.nn.precision import cast
from pgt.nn.scaling import Scaling
from pgt.physics.pde import AbstractPDE

NAME = "pretrained"
SMALL = 64  # numbers, which a file has in full
SLACK = 0.02  # of a range: its ends were drawn


class Answer(eqx.Module):
    """The field of one system.

    `by` says who answers: the law of the family and its solver (at_once.py), where they are at hand and
    the readings do not speak against them, or the network. `outside` says in words where the question
    lies outside what that knows: the field is then not to be trusted. `expected_error` is the relative
    error of systems with so many readings, by the law that of this one.
    """

    pretrained: "Pretrained"
    question: tuple[Observations, Given]
    by: ByNetwork | AtOnce
    domain: Domain
    factor: float
    outside: tuple[str, ...]
    expected_error: float

    def at(self, points: Float[np.ndarray, "m d"]) -> Said:
        """Mean and band at points, one a row, in the order of the domain's axes."""
        mean, spread = self.by.at(as_points(points, self.domain))
        reach = self.factor * spread
        return Said(mean, mean - reach, mean + reach, list(self.outside))

    def grid(self, **axes: Asked) -> xr.Dataset:
        """Fields and bands (`u`, `u_low`, `u_high`) on a grid: a number of nodes or positions by axis."""
        about = {"expected_error": self.expected_error, "outside": "; ".join(self.outside)}
        return on_grid(self.at, self.domain, self.pretrained.family.fields, axes, about)

    def model(self) -> Frame:
        """The network's field as an ordinary model, a SIREN, for `reconstruct(..., start=...)` to
        refine."""
        if isinstance(self.by, AtOnce):
            return self.pretrained(*self.question, self.domain, law=False).model()
        network = cast(self.by.written.network, jnp.float32)
        return Frame(scaling=self.by.scaling, network=network)


class Pretrained(eqx.Module):
    """A network that was trained over a family; called with readings and coefficients it answers.

    >>> import jax
    >>> import pgt
    >>> network = pgt.families.shipped("heat")
    >>> truth = network.family.dataset(network.family.draw(jax.random.key(1), {"diffusivity": 0.02}))
    >>> answer = network(pgt.sample(truth, n=40), pgt.Heat(0.02))
    >>> answer.outside, answer.grid(x=5, t=3).u.shape
    ((), (5, 3))
    """

    writer: Writer
    family: AbstractFamily
    card: Card

    @property
    def reads(self) -> tuple[str, ...]:
        """The fields that sensors read; all of them where none is named."""
        return tuple(self.card.sensing.reads)

    @checked
    def __call__(
        self,
        readings: Observations,
        coefficients: Mapping | AbstractPDE,
        domain: Domain | None = None,
        *,
        law: bool = True,
    ) -> Answer:
        """The field of a system from its readings; the domain is the family's where none is given.

        Where the family computes its systems, their law answers as far as `card.law` has it; the
        network does where readings speak against the law, in another domain, and with `law=False`.
        """
        domain = domain or self.family.domain
        self._require_axes(domain)
        numbers = self._coefficients(coefficients)
        readings = readings.wrapped(domain).aligned(self.family.fields)
        readings.check_inside(domain)
        scaling = networked.with_hidden(Scaling.fit(readings, domain), readings)
        # Nonlinear equations feel the mean itself, not what is left of it at the origin.
        mean = np.asarray(scaling.mean) + scaling.origin.along(self.family.fields)
        absolute = eqx.tree_at(lambda s: s.mean, scaling, mean.astype(np.float32))
        told = self.family.numbers(numbers, absolute)
        outside, count = strange_in(self.family, coefficients), len(readings)
        question = (readings, coefficients)
        found, against = None, []
        if law and not outside:
            found, against = self._by_law(readings, numbers, domain)
        if found is not None:
            still = stand_still(np.asarray(readings.points, float), domain)
            row = self.card.by_law(count, found.is_clean, still)
            error = found.error(np.asarray(scaling.spread, float), row.factor)
            beyond = self._beyond(numbers) + self.card.noisy(found.noise) + found.doubts
            return Answer(self, question, found, domain, row.factor, tuple(beyond), error)
        by, off = self._by_network(readings, numbers, told, scaling, domain)
        outside += against + self._strange(np.asarray(told)) + self._unusual(count, off)
        factor, error = self.card.by_network(count, off)
        return Answer(self, question, by, domain, factor, tuple(outside), error)

    def _by_law(
        self, readings: Observations, numbers, domain: Domain
    ) -> tuple[AtOnce | None, list[str]]:
        """The answer of the law, or what readings have against it."""
        if not self.card.law or domain != self.family.domain:
            return None, []
        known = {name: float(value) for name, value in numbers.items()}
        return judged_at_once(solving(self.family), readings, known)

    def _by_network(self, readings, numbers, told, scaling: Scaling, domain: Domain):
        """What the network writes, and how far that is from its readings."""
        shifted = scaling.origin.readings(readings)
        points, values, mask = networked.padded(shifted.points, shifted.values, shifted.mask)
        seen, learnt = networked.encode(
            self.writer, self.family, Guide(self.card.kernel), numbers, told, scaling, points, values,
            mask,
        )  # fmt: skip
        with precision(self.card.noise):
            field, off = networked.write(self.writer, learnt, seen, self.card.noise)
        by = ByNetwork(
            self.writer, field, scaling, domain, tuple(self.family.fields), self.card.noise
        )
        return by, float(off)

    def answer(
        self,
        points: Float[np.ndarray, "n d"],
        values: Float[np.ndarray, "n c"],
        coefficients: Given,
        at: Float[np.ndarray, "m d"],
    ) -> Said:
        """The same for plain arrays in the family's own domain; a value that is NaN was not read."""
        family, values = self.family, np.asarray(values, float)
        read = np.isfinite(values).any(axis=-1)
        points, values = np.asarray(points, float)[read], values[read]
        columns = {name: values[:, k] for k, name in enumerate(family.fields)}
        places = dict(zip(family.domain.axes, points.T, strict=True))
        return self(Observations.from_arrays(places, columns), coefficients).at(at)

    def answers(
        self,
        points: Float[np.ndarray, "k n d"],
        values: Float[np.ndarray, "k n c"],
        coefficients: Mapping[str, Float[np.ndarray, " k"]],
        at: Float[np.ndarray, "m d"],
        *,
        law: bool = True,
    ) -> Answers:
        """Many systems at once, in the family's own domain; a value that is NaN was not read."""
        rigs = as_rigs(self.family, points, values, coefficients, at)
        found, lawful = None, np.zeros(len(rigs.points), bool)
        if law and self.card.law:
            found, lawful = self._many_by_law(rigs)
        if found is not None and lawful.all():
            return found
        other = self._many_by_network(rigs)
        return other if found is None else answered_where(lawful, found, other)

    def _many_by_law(self, rigs: Rigs) -> tuple[Answers, np.ndarray]:
        """The law's answers, and where they may be believed."""
        mean, spread, noise, lawful, doubts = many_at_once(solving(self.family), rigs)
        still = rigs.still(self.family.domain)
        rows = map(self.card.by_law, rigs.counts, (noise <= CLEAN).tolist(), still)
        reach = np.array([row.factor for row in rows])[:, None, None] * spread
        outside = [
            self._beyond({name: float(of[k]) for name, of in rigs.coefficients.items()})
            + self.card.noisy(float(noise[k]))
            + doubts[k]
            if lawful[k]
            else doubts[k]
            for k in range(len(mean))
        ]
        return Answers(mean, reach, outside), lawful

    def _many_by_network(self, rigs: Rigs) -> Answers:
        *arrays, at = jax.tree.map(
            lambda a: jnp.asarray(a, None if a.dtype == bool else jnp.float32),
            (rigs.coefficients, rigs.points, rigs.values, rigs.mask, rigs.at),
        )
        seen, learnt, scaling = networked.encode_many(
            self.writer, self.family, Guide(self.card.kernel), *arrays
        )
        with precision(self.card.noise):
            mean, spread, off = networked.write_many(
                self.writer, learnt, seen, scaling, at, self.card.noise
            )
        counts, misfits = rigs.counts, np.asarray(off).tolist()
        factors = np.array(
            [self.card.by_network(*pair)[0] for pair in zip(counts, misfits, strict=True)]
        )
        outside = [
            self._strange(row) + self._unusual(*pair)
            for row, *pair in zip(np.asarray(seen.numbers), counts, misfits, strict=True)
        ]
        reach = factors[:, None, None] * np.asarray(spread)
        return Answers(np.asarray(mean), reach, outside)

    @checked
    def refined(
        self,
        readings: Observations,
        coefficients: Mapping | AbstractPDE,
        draws: Draws | None = None,
    ) -> Assimilated:
        """The answer, and from there the most probable system of the family: its law and its solver.

        In the family's own units. See `pgt.families.assimilate`.
        """
        family = solving(self.family)
        begun = self(readings, coefficients, law=False).grid(**family.axes)[list(family.fields)]
        return assimilate(family, readings, coefficients, start=begun, draws=draws)

    def save(self, path: str | os.PathLike) -> None:
        """One safetensors file, its card in it and beside it as JSON."""
        path = Path(path)
        half = jax.tree.map(_halved, self.writer)
        kept = Pretrained(half, self.family.without_systems(), self.card)
        serialise.save(path.parent, path.name.removesuffix(".safetensors"), kept)

    @staticmethod
    @checked
    def load(path: str | os.PathLike, classes: Sequence[type] = ()) -> "Pretrained":
        """What `save` wrote. `classes` are your own (a family you wrote) that the file may refer to."""
        path = Path(path)
        found = serialise.load(path.parent, path.name.removesuffix(".safetensors"), classes)
        if not isinstance(found, Pretrained):
            raise InputError(
                f"{path}: holds a {type(found).__name__}, not a pretrained network; give a file that "
                "`pgt pretrain` or `Pretrained.save` wrote."
            )
        writer = jax.tree.map(
            lambda a: jnp.asarray(a, jnp.float32) if eqx.is_inexact_array_like(a) else a,
            found.writer,
        )
        return Pretrained(writer, found.family, found.card)

    def _require_axes(self, domain: Domain) -> None:
        known = self.family.domain
        if domain.axes != known.axes or set(domain.periodic) != set(known.periodic):
            raise InputError(
                f"the family {self.card.family!r} has axes {_described(known)}, the domain has "
                f"{_described(domain)}: give it the same."
            )

    def _coefficients(self, given: Given) -> dict[str, Array]:
        found = given_numbers(self.family, given)
        missing = [name for name in self.card.ranges if name not in found]
        if missing:
            raise InputError(
                f"the family {self.card.family!r} needs the coefficient {missing[0]!r}; write "
                f"{{{', '.join(f'{n!r}: ...' for n in self.card.ranges)}}}."
            )
        return {name: jnp.asarray(value, jnp.float32) for name, value in found.items()}

    def _beyond(self, numbers: Mapping) -> list[str]:
        """Which coefficients the family does not draw."""
        found = []
        for name, (low, high) in self.card.ranges.items():
            value, slack = float(numbers[name]), SLACK * min(abs(low), abs(high))
            if not low - slack <= value <= high + slack:
                found.append(f"{name} is {value:g}, in the family {low:g} to {high:g}")
        return found

    def _strange(self, told: np.ndarray) -> list[str]:
        """What about a system differs from those that it was trained on."""
        low, high = np.array(self.card.told).reshape(-1, 2).T
        slack = SLACK * (high - low)
        strange = np.flatnonzero(~((low - slack <= told) & (told <= high + slack)))
        # Names are asked for where there is one to say: to find them the family is traced.
        names = self.family.told if len(strange) else ()
        return [
            f"{names[k]} is {told[k]:.2f}, in training {low[k]:.2f} to {high[k]:.2f}"
            for k in strange
        ]

    def _unusual(self, count: int, off: float) -> list[str]:
        """What about the readings does, and about how the network's field meets them."""
        found, sensing = [], self.card.sensing
        if not sensing.least <= count <= sensing.most:
            found.append(f"{count} readings, in training {sensing.least} to {sensing.most}")
        if off > self.card.misfit:
            found.append(
                f"the field misses its own readings by {100 * off:.0f} % of their spread, those of the "
                f"family by less than {100 * self.card.misfit:.0f} %"
            )
        return found


def _halved(leaf):
    """Large arrays in half precision. Small ones have rates among them, which count over many waves."""
    is_large = eqx.is_inexact_array(leaf) and leaf.size > SMALL
    return np.asarray(leaf, np.float16) if is_large else leaf


def _described(domain: Domain) -> str:
    return ", ".join(f"{a} (periodic)" if a in domain.periodic else a for a in domain.axes)
