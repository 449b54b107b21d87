"""A trained network in use: readings of a new system in, its field out, at once."""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import xarray as xr
from jaxtyping import Array, Float

from pgt.data.domain import Domain
from pgt.data.observations import Observations
from pgt.families.assimilation import Assimilated, Draws, assimilate, solving
from pgt.families.card import Card, misfit
from pgt.families.family import AbstractFamily
from pgt.families.given import Given, given_numbers, strange_in
from pgt.families.readout import precision, written
from pgt.families.rigs import as_rigs
from pgt.families.said import Asked, Said, on_grid
from pgt.families.sensing import Guide, scaling_of, unit_readings
from pgt.ground import serialise
from pgt.ground.checked import checked
from pgt.ground.errors import InputError
from pgt.models.frame import Frame
from pgt.models.writer import Writer
from pgt.models.written import Written
from pgt.nn.precision import cast
from pgt.nn.scaling import Scaling
from pgt.physics.pde import AbstractPDE

NAME = "pretrained"
SMALL = 64  # numbers, which a file has in full
SLACK = 0.02  # of a range: its ends were drawn


class Answers(NamedTuple):
    """Of many systems: fields at the points asked, how far bands of 90 % reach from them, and for each
    system what about it lies outside what the network was trained on."""

    mean: Float[np.ndarray, "k m c"]
    reach: Float[np.ndarray, "k m c"]
    outside: list[list[str]]


class Answer(eqx.Module):
    """The field of one system, as the network wrote it.

    `outside` says in words where the question lies outside what the network was trained on: the field is
    then not to be trusted. `expected_error` is the relative error of systems with so many readings.
    """

    pretrained: "Pretrained"
    written: Written
    scaling: Scaling
    domain: Domain
    factor: float
    outside: tuple[str, ...]
    expected_error: float

    def at(self, points: Float[np.ndarray, "m d"]) -> Said:
        """Mean and band at points, one a row, in the order of the domain's axes."""
        points = self.scaling.origin.local(np.asarray(points, float), self.domain.axes)
        with precision(self.pretrained.card.noise):
            asked = _ask(self.pretrained.writer, self.written, self.scaling, points)
        mean, spread = map(np.asarray, asked)
        fields = self.pretrained.family.fields
        return _said(mean, spread, self.factor, self.scaling, fields, self.outside)

    def grid(self, **axes: Asked) -> xr.Dataset:
        """Fields and bands (`u`, `u_low`, `u_high`) on a grid: a number of nodes or positions by axis."""
        about = {"expected_error": self.expected_error, "outside": "; ".join(self.outside)}
        return on_grid(self.at, self.domain, self.pretrained.family.fields, axes, about)

    def model(self) -> Frame:
        """The field as an ordinary model, a SIREN, for `reconstruct(..., start=...)` to refine."""
        return Frame(scaling=self.scaling, network=cast(self.written.network, jnp.float32))


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
    ) -> Answer:
        """The field of a system from its readings; the domain is the family's where none is given."""
        domain = domain or self.family.domain
        self._require_axes(domain)
        numbers = self._coefficients(coefficients)
        readings = readings.wrapped(domain).aligned(self.family.fields)
        readings.check_inside(domain)
        scaling = _with_hidden(Scaling.fit(readings, domain), readings)
        shifted = scaling.origin.readings(readings)
        points, values, mask = _padded(shifted.points, shifted.values, shifted.mask)
        # Nonlinear equations feel the mean itself, not what is left of it at the origin.
        mean = np.asarray(scaling.mean) + scaling.origin.along(self.family.fields)
        absolute = eqx.tree_at(lambda s: s.mean, scaling, mean.astype(np.float32))
        told = self.family.numbers(numbers, absolute)
        seen, learnt = _encode(
            self.writer, self.family, Guide(self.card.kernel), numbers, told, scaling,
            points, values, mask,
        )  # fmt: skip
        with precision(self.card.noise):
            field, off = _write(self.writer, learnt, seen, self.card.noise)
        count = len(readings)
        outside = strange_in(self.family, coefficients)
        outside += self._outside(np.asarray(told), count, float(off))
        return Answer(
            self, field, scaling, domain, self.card.factor(count, float(off)), tuple(outside),
            self.card.error(count, float(off))[0],
        )  # fmt: skip

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
    ) -> Answers:
        """Many systems at once, in the family's own domain; a value that is NaN was not read."""
        rigs = as_rigs(self.family, points, values, coefficients, at)
        *arrays, at = jax.tree.map(
            lambda a: jnp.asarray(a, None if a.dtype == bool else jnp.float32),
            (rigs.coefficients, rigs.points, rigs.values, rigs.mask, rigs.at),
        )
        seen, learnt, scaling = _encode_many(
            self.writer, self.family, Guide(self.card.kernel), *arrays
        )
        with precision(self.card.noise):
            mean, spread, off = _write_many(self.writer, learnt, seen, scaling, at, self.card.noise)
        told = seen.numbers
        counts = rigs.mask.any(axis=-1).sum(axis=-1).tolist()
        misfits = np.asarray(off).tolist()
        factors = np.array(list(map(self.card.factor, counts, misfits)))
        outside = list(map(self._outside, np.asarray(told), counts, misfits))
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
        begun = self(readings, coefficients).grid(**family.axes)[list(family.fields)]
        return assimilate(family, readings, coefficients, start=begun, draws=draws)

    def save(self, path: str | os.PathLike) -> None:
        """One safetensors file, its card in it and beside it as JSON."""
        path = Path(path)
        half = jax.tree.map(_halved, self.writer)
        kept = Pretrained(half, self.family.without_systems(), self.card)
        serialise.save(path.parent, path.name.removesuffix(".safetensors"), kept)

    @staticmethod
    @checked
    def load(path: str | os.PathLike) -> "Pretrained":
        """What `save` wrote."""
        path = Path(path)
        found = serialise.load(path.parent, path.name.removesuffix(".safetensors"))
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

    def _outside(self, told: np.ndarray, count: int, off: float) -> list[str]:
        """What about the question differs from what the network was trained on."""
        low, high = np.array(self.card.told).reshape(-1, 2).T
        slack = SLACK * (high - low)
        strange = np.flatnonzero(~((low - slack <= told) & (told <= high + slack)))
        # Names are asked for where there is one to say: to find them the family is traced.
        names = self.family.told if len(strange) else ()
        found = [
            f"{names[k]} is {told[k]:.2f}, in training {low[k]:.2f} to {high[k]:.2f}"
            for k in strange
        ]
        sensing = self.card.sensing
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


def _with_hidden(scaling: Scaling, readings: Observations) -> Scaling:
    """A field that nobody read has the spread of the others, as in training."""
    seen = np.any(np.asarray(readings.mask), axis=0)
    usual = np.sqrt(np.mean(np.asarray(scaling.spread)[seen] ** 2)) if seen.any() else 1.0
    spread = np.where(seen, scaling.spread, usual).astype(np.float32)
    return eqx.tree_at(lambda s: s.spread, scaling, spread)


def _padded(*arrays) -> tuple[np.ndarray, ...]:
    """Rows of nothing up to a power of two, so that one reading more compiles nothing."""
    count = len(arrays[0])
    more = 2 ** max(int(np.ceil(np.log2(max(count, 1)))), 4) - count
    return tuple(np.pad(np.asarray(a), ((0, more), (0, 0))) for a in arrays)


@eqx.filter_jit
def _encode(writer, family, guide, coefficients, told, scaling, points, values, mask):
    """The readings in the frame of their system, and what the encoder makes of them."""
    unit = jnp.asarray(scaling.to_unit(points), jnp.float32)
    values = jnp.where(mask, values, 0.0).astype(jnp.float32)
    readings = unit_readings(family, coefficients, scaling, unit, values, mask, guide)
    readings = eqx.tree_at(lambda r: r.numbers, readings, told)
    return readings, writer.told(readings)


@eqx.filter_jit
def _write(writer, learnt, readings, noise: str):
    """The system's field, and its misfit at the readings."""
    found = written(writer, learnt, readings, noise)
    return found, misfit(writer, found, readings)


@eqx.filter_jit
def _ask(writer: Writer, written: Written, scaling: Scaling, points):
    unit = jnp.asarray(scaling.to_unit(points), written.factor.dtype)
    mean = jax.vmap(partial(writer.decode, written))(unit)
    return mean, jax.vmap(partial(writer.spread, written))(unit)


@eqx.filter_jit
def _encode_many(writer, family, guide, coefficients, points, values, mask):
    def one(coefficients, points, values, mask):
        scaling = scaling_of(family, values, mask)
        unit = jnp.asarray(scaling.to_unit(points))
        readings = unit_readings(family, coefficients, scaling, unit, values, mask, guide)
        return readings, writer.told(readings), scaling

    return jax.vmap(one)(coefficients, points, values, mask)


@eqx.filter_jit
def _write_many(writer, learnt, readings, scaling, at, noise: str):
    def one(learnt, readings, scaling):
        found, asked = written(writer, learnt, readings, noise), jnp.asarray(scaling.to_unit(at))
        mean = jax.vmap(partial(writer.decode, found))(asked)
        spread = jax.vmap(partial(writer.spread, found))(asked)
        off = misfit(writer, found, readings)
        return scaling.to_physical(mean), spread * scaling.spread, off

    return jax.vmap(one)(learnt, readings, scaling)


def _said(mean, spread, factor: float, scaling: Scaling, fields, outside: Sequence[str]) -> Said:
    """In physical units, counted from zero."""
    shift = scaling.origin.along(fields)
    ends = (mean, mean - factor * spread, mean + factor * spread)
    mean, low, high = (np.asarray(scaling.to_physical(np.asarray(v, float))) + shift for v in ends)
    return Said(mean, low, high, list(outside))
