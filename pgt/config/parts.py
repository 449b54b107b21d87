"""Construction of the library's objects from the sections of a run file, each built once."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any

import numpy as np

from pgt import data, models, physics
from pgt.config.condition_text import Curve, OfReadings, UnknownCoefficient
from pgt.config.derive import PartSection
from pgt.config.descriptions import RESERVED, Equations, described
from pgt.config.run import RunFile
from pgt.config.schema import Section, did_you_mean
from pgt.core.arguments import powers_of
from pgt.core.errors import InputError
from pgt.core.parser import parse_equation
from pgt.core.registry import parts
from pgt.data.dates import dates, seconds
from pgt.data.sensors import Sensors
from pgt.data.units import amount, in_units
from pgt.io import Columns, Dialect, read_columns
from pgt.io.readers import build_observations
from pgt.io.time_stamps import elapsed_since, split_origin
from pgt.kernels.kernel import AbstractKernel
from pgt.nn.scaling import Scaling
from pgt.physics.curved_coordinates import at_axis, in_domain
from pgt.physics.derivatives import parts_of
from pgt.physics.equation import without_arguments
from pgt.physics.gauge import check_gauges
from pgt.physics.unknown_conditions import bordered
from pgt.training.settings import ErrorBars, Training


def arguments_of(builds: Callable) -> Mapping[str, inspect.Parameter]:
    """The arguments of a class or function by name."""
    return inspect.signature(builds).parameters


class Builder:
    """Builds parts; an error during construction also names file, line and key.

    `for_kernels` gives the defaults of kernels, which are those of the equation's kernel. `of_readings`
    gives the names of the axes in the file of readings, and their units, which are also those of tables
    from other files.
    """

    def __init__(
        self,
        run: RunFile,
        for_kernels: Callable[[], Mapping[str, Any]],
        of_readings: OfReadings,
    ):
        self.run = run
        self.for_kernels, self.of_readings = for_kernels, of_readings

    def part(self, section: PartSection, *key: str | int, known: Mapping[str, Any] | None = None):
        """The object that a section describes; `known` has arguments that the file may leave out."""
        takes = arguments_of(section.builds)
        if getattr(section.builds, "part", None) == "kernel":
            known = self.for_kernels()
        options = {name: value for name, value in (known or {}).items() if name in takes}
        options |= self.options(section, *key)
        items: list = []
        spread = any(argument.kind is argument.VAR_POSITIONAL for argument in takes.values())
        for name, argument in takes.items():
            if argument.kind is argument.VAR_POSITIONAL:
                items += options.pop(name, ())
            elif argument.kind is argument.VAR_KEYWORD:
                options |= options.pop(name, {})
            elif argument.default is argument.empty and name not in options:
                raise self.run.error(f"this is missing; add for example {name} = 1", *key, name)
            elif spread and argument.kind is argument.POSITIONAL_OR_KEYWORD and name in options:
                items.append(options.pop(name))  # arguments before `*several` have no keyword
        with self.run.located(*key):
            return section.builds(*items, **options)

    def options(self, section: Section, *key: str | int) -> dict[str, Any]:
        """The arguments that the file gives, as objects of the library."""
        return {name: self._value(value, *key, name) for name, value in section.given().items()}

    def _value(self, value: Any, *key: str | int) -> Any:
        match value:
            case UnknownCoefficient():
                return value.value()
            case Curve():
                with self.run.located(*key):
                    return value.table(self.run.path.parent, self.of_readings)
            case PartSection():
                return self.part(value, *key)
            case tuple():
                return tuple(self._value(item, *key, index) for index, item in enumerate(value))
            case dict():
                return {name: self._value(item, *key, name) for name, item in value.items()}
        return value


class Parts:
    """The objects that a run file describes; each is built on first access and then kept.

    Any mistake is an `InputError` that names file, line and key. Mistakes in the file are reported at
    once, whichever part is accessed first.
    """

    def __init__(self, run: RunFile):
        self.run = run
        axes = dict.fromkeys(run.domain.axes, "")  # whose units may be unknown
        pde = in_run_units(run, lambda: axes | self.columns.units)
        self.has_amounts = pde != run.pde  # coefficients that were converted
        self.tables = run.model_copy(update={"pde": pde}).checked(described())
        self._build = Builder(run, self._for_kernels, self._of_readings)

    @cached_property
    def domain(self) -> data.Domain:
        """The domain, with the units of its axes."""
        run = self.run
        axes = bounds_of(run, lambda: self.columns.units)
        given = (run.observations and run.observations.units) or {}
        units = {n: unit for n, unit in given.items() if n in axes}
        section = self.tables.domain.shape
        shape = None if section is None else self._build.part(section, "domain", "shape")
        with run.located("domain", *(("shape",) if shape is not None else ())):
            return data.Domain(
                periodic=run.domain.periodic or (),
                units=units,
                shape=shape,
                coordinates=run.domain.coordinates,
                **axes,
            )

    @cached_property
    def columns(self) -> Columns:
        """The columns of the files of readings, with notes on how they were understood."""
        section, run = self.run.observations, self.run
        if section is None:
            return Columns({})
        dialect = None if section.dialect is None else Dialect(**section.dialect.given())
        with run.located("observations", "file"):
            return read_columns(
                run.observations_paths,
                coords=section.coords,
                fields=section.fields,
                columns=section.columns,
                units=section.units,
                noise=section.noise,
                sensors=run.sensors_path,
                dialect=dialect,
            )

    @cached_property
    def observations(self) -> data.Observations:
        """The readings, all of them inside the domain."""
        section, domain = self.run.observations, self.domain
        if section is None:
            return data.Observations.none(domain.axes, self.pde.fields)
        with self.run.located("observations", "file"):
            return build_observations(
                self.columns,
                self.run.observations_paths,
                coords=section.coords,
                duplicates=section.duplicates,
                domain=domain,
                sensors=self.sensors,
            )

    @cached_property
    def pde(self) -> physics.AbstractPDE:
        """The equation; its coordinates are those of the domain."""
        run, axes, section = self.run, self.domain.axes, self.tables.pde
        if isinstance(section, Equations):
            pde = self._equations(section)
        else:
            spatial = [axis for axis in axes if axis != "t"]
            known = {"dimension": len(spatial), "steady": "t" not in axes}
            pde = self._build.part(section, "pde", known=known)
        with run.located("pde"):
            pde = in_domain(pde, self.domain)
        if pde.coords != axes:
            raise run.error(
                f"the equation has the coordinates {', '.join(pde.coords)}, but [domain] has "
                f"{', '.join(axes)}; give both the same.",
                "pde",
            )
        for index, field in enumerate(run.observations.fields if run.observations else ()):
            if field not in pde.fields:
                hint = did_you_mean(field, pde.fields)
                if len(pde.fields) == 1 and not isinstance(section, Equations):
                    hint += f' To call its field so, write fields = ["{field}"] in [pde].'
                raise run.error(
                    f"the equation has no field '{field}'{hint}", "observations", "fields", index
                )
        return pde

    def _equations(self, section: Equations) -> physics.Equation:
        options = self._build.options(section, "pde")
        texts = options.pop("equations")
        functions = {n: f for n, f in options.items() if isinstance(f, physics.UnknownFunction)}
        for index, text in enumerate(section.equations):
            with self.run.located("pde", "equations", index):
                parse_equation(without_arguments(text, functions))
        with self.run.located("pde"):
            return physics.Equation(*texts, coords=self.domain.axes, **options)

    @cached_property
    def conditions(self) -> tuple[physics.AbstractCondition, ...]:
        """The conditions, each of which makes sense for the domain and the equation."""
        run, domain, pde = self.run, self.domain, self.pde
        conditions = []
        for index, section in enumerate(self.tables.conditions):
            self._check_axis(getattr(section, "axis", None), index)
            condition = self._build.part(section, "conditions", index)
            with run.located("conditions", index):
                condition.check(domain, pde.fields)
                measured = run.observations.fields if run.observations else ()
                check_gauges([*conditions, condition], pde, measured)
            conditions.append(condition)
        return at_axis(conditions, pde, domain)

    def _check_axis(self, axis: str | tuple[str, ...] | None, index: int) -> None:
        walls = [axis for axis in self.domain.axes if axis != "t"]
        for name in (axis,) if isinstance(axis, str) else axis or ():
            why = f"'{name}' is not an axis of the domain{did_you_mean(name, walls)}"
            if name == "t":
                why = 'time has no walls; for its start write kind = "initial"'
            if name not in walls:
                raise self.run.error(why, "conditions", index, "axis")

    @cached_property
    def governing(self) -> physics.AbstractPDE:
        """The equation together with the unknowns of the conditions."""
        return bordered(self.pde, self.conditions)[0]

    @cached_property
    def quantities(self) -> tuple[str, ...]:
        """The names of what is to be written: by default the fields of the equation."""
        pde = self.governing
        for index, name in enumerate(self.run.output.quantities or ()):
            with self.run.located("output", "quantities", index):
                parts_of(name, pde.coords, pde.fields, pde.quantities)
        return self.run.output.quantities or (*pde.fields, *pde.quantities)

    @cached_property
    def training(self) -> Training:
        """The settings of the fit."""
        return self._build.part(self.tables.training, "training")

    @cached_property
    def sensors(self) -> Sensors:
        """What is known about the errors of the sensors."""
        section = self.tables.sensors
        return Sensors() if section is None else self._build.part(section, "sensors")

    @cached_property
    def error_bars(self) -> ErrorBars | None:
        """The method of error bars; None without error bars."""
        section = self.tables.error_bars
        return None if section is None else self._build.part(section, "error_bars")

    @cached_property
    def kernel(self) -> AbstractKernel | None:
        """The kernel of [model], or else that of the equation; None for a model without a kernel."""
        section = self.tables.model
        if section is None or "kernel" not in arguments_of(section.builds):
            return None
        named = getattr(section, "kernel", None)
        return self._build.part(named, "model", "kernel") if named else self.pde.kernel()

    def _of_readings(self) -> tuple[dict[str, str], dict[str, str]]:
        section, axes = self.run.observations, tuple(self.run.domain.axes)
        own = {} if section is None else section.columns or {}
        units = self.columns.units
        return {a: own.get(a, a) for a in axes}, {a: units[a] for a in axes if a in units}

    def _for_kernels(self) -> dict[str, Any]:
        own, sizes = self.pde.kernel(), arguments_of(models.PGT)
        of_the_run = {
            "kernel": own,
            "heads": getattr(self.tables.model, "heads", None) or sizes["heads"].default,
            "has_time": self.domain.has_time,
        }
        return {field.name: getattr(own, field.name) for field in fields(own)} | of_the_run

    @property
    def named_model(self) -> Callable[[int], models.AbstractFieldModel] | None:
        """The `model` of the file's [model]; None where the library chooses one."""
        return None if self.tables.model is None else self.model

    def model(self, seed: int) -> models.AbstractFieldModel:
        """The model of [model] for a seed; the problem determines what the file leaves out."""
        section, problem = self.tables.model, (self.observations, self.governing, self.domain)
        assert section is not None  # see `named_model`
        if section.builds is models.PGT:
            sizes = self._build.options(section, "model")
            with self.run.located("model"):
                return models.PGT.for_problem(*problem, seed=seed, **sizes)
        scaling = Scaling.fit(self.observations.aligned(self.governing.fields), self.domain)
        known = {"scaling": scaling, "seed": seed, "kernel": self.kernel, "domain": self.domain}
        return self._build.part(section, "model", known=known)


def in_run_units(run: RunFile, units: Callable[[], Mapping[str, str]]) -> dict[str, Any]:
    """The table [pde] with numbers for amounts such as "1.2e-5 m^2/s".

    `units` is called only if there is one, because it reads the files.
    """
    table = run.pde
    needed = powers_of(parts("equation").get(str(table.get("name"))))

    def number(value: Any, *key: str | int) -> Any:
        match value:
            case str() if amount(value) is not None:
                with run.located(*key):
                    return in_units(value, units(), needed.get(str(key[1])))
            case {"value": int() | float() as given, "units": str(unit), **rest} if not rest:
                return number(f"{given!r} {unit}", *key)
            case list():
                return [number(item, *key, index) for index, item in enumerate(value)]
            case dict():
                return {name: number(item, *key, name) for name, item in value.items()}
        return value

    return {
        name: value if name in RESERVED else number(value, "pde", name)
        for name, value in table.items()
    }


def bounds_of(run: RunFile, units: Callable[[], Mapping[str, str]]) -> dict[str, tuple[float, ...]]:
    """The bounds of every axis as numbers; `units` is called only if some are dates."""
    axes: dict[str, tuple[Any, ...]] = run.domain.axes
    if "t" not in axes or not isinstance(axes["t"][0], str):
        return axes
    with run.located("domain", "t"):
        return axes | {"t": _counted(axes["t"], units().get("t", ""))}


def _counted(pair: tuple[str, ...], unit: str) -> tuple[float, ...]:
    plain, origin = split_origin(unit)
    if origin is None:
        raise InputError(
            "the bounds are dates, but the time of the readings is a number; write numbers, or say from "
            'when they count: `units={"t": "s since 2024-03-01"}`.'
        )
    moments = dates(seconds("t", np.array(pair, object)))
    low, high = elapsed_since(moments, origin, plain or "s").tolist()
    if not low < high:
        raise InputError(f"{pair[0]} is not before {pair[1]}; write [first, last].")
    return low, high
