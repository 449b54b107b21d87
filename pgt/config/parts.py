"""From the sections of a run file to the library's objects, each built once."""

from functools import cached_property
from typing import Any

import numpy as np

from pgt import data, models, physics
from pgt.config.models import Pgt
from pgt.config.pdes import Equations
from pgt.config.run import RunFile
from pgt.config.schema import Table, UnknownCoefficient, did_you_mean
from pgt.config.sections import GaugeSection
from pgt.config.training import Fixed, PolishSection
from pgt.ground.unknown import Unknown
from pgt.io import read_observations
from pgt.nn.scaling import Scaling
from pgt.physics.gauge import check_gauges
from pgt.physics.parser import parse, parse_equation
from pgt.physics.quantities import parts_of
from pgt.training import error_bars, weighting
from pgt.training.default_model import default_model
from pgt.training.settings import Polish, Training


class Parts:
    """What a run file describes. A part is built when it is first asked for, and then kept.

    Any mistake is an `InputError` that names file, line and key.
    """

    def __init__(self, run: RunFile):
        self.run = run

    @cached_property
    def domain(self) -> data.Domain:
        """The domain, with the units of its axes."""
        run = self.run
        axes = run.domain.axes
        units = {n: unit for n, unit in (run.observations.units or {}).items() if n in axes}
        with run.located("domain"):
            return data.Domain(periodic=run.domain.periodic or (), units=units, **axes)

    @cached_property
    def observations(self) -> data.Observations:
        """The readings, all of them inside the domain."""
        section, domain = self.run.observations, self.domain
        with self.run.located("observations", "file"):
            return read_observations(
                self.run.observations_path,
                coords=section.coords,
                fields=section.fields,
                columns=section.columns,
                units=section.units,
                noise=section.noise,
                domain=domain,
            )

    @cached_property
    def pde(self) -> physics.AbstractPDE:
        """The equation; its coordinates are those of the domain."""
        run, axes = self.run, self.domain.axes
        pde = _equations(run) if isinstance(run.pde, Equations) else _of_the_zoo(run)
        if pde.coords != axes:
            raise run.error(
                f"the equation has the coordinates {', '.join(pde.coords)}, but [domain] has "
                f"{', '.join(axes)}; give both the same.",
                "pde",
            )
        for index, field in enumerate(run.observations.fields):
            if field not in pde.fields:
                hint = did_you_mean(field, pde.fields)
                raise run.error(
                    f"the equation has no field '{field}'{hint}", "observations", "fields", index
                )
        return pde

    @cached_property
    def conditions(self) -> tuple[physics.AbstractCondition, ...]:
        """The conditions, each of which makes sense for the domain and the equation."""
        run, domain, pde = self.run, self.domain, self.pde
        conditions = []
        for index, section in enumerate(run.conditions):
            values = {"value": section.value} if isinstance(section, GaugeSection) else {}
            for name, value in (values | (section.model_extra or {})).items():
                _check_formulas(run, value, "conditions", index, name)
            with run.located("conditions", index):
                condition = _made(physics, section)
                condition.check(domain, pde.fields)
                check_gauges([*conditions, condition], pde, run.observations.fields)
            conditions.append(condition)
        return tuple(conditions)

    @cached_property
    def quantities(self) -> tuple[str, ...]:
        """The names of what is to be written: by default the fields of the equation."""
        pde = self.pde
        for index, name in enumerate(self.run.output.quantities or ()):
            with self.run.located("output", "quantities", index):
                parts_of(name, pde.coords, pde.fields)
        return self.run.output.quantities or pde.fields

    @cached_property
    def training(self) -> Training:
        """The settings of the fit."""
        given = self.run.training.given()
        with self.run.located("training"):
            if "sampler" in given:
                given["sampler"] = _made(data, given["sampler"])
            if isinstance(given.get("weighting"), Fixed):
                options = given["weighting"].given()
                given["weighting"] = weighting.Fixed(**options.pop("weights", {}), **options)
            elif "weighting" in given:
                given["weighting"] = _made(weighting, given["weighting"])
            if isinstance(given.get("polish"), PolishSection):
                given["polish"] = Polish(**given["polish"].given())
            return Training(**given)

    @cached_property
    def error_bars(self) -> error_bars.ErrorBars | None:
        """How error bars are made; None: there are none."""
        with self.run.located("error_bars"):
            section = self.run.error_bars
            return None if section is None else _made(error_bars, section)

    def model(self, seed: int) -> models.AbstractFieldModel:
        """The network of a seed; what the file leaves out is as it suits the problem."""
        section, problem = self.run.model, (self.observations, self.pde, self.domain)
        with self.run.located("model"):
            if section is None or isinstance(section, Pgt):
                sizes = {} if section is None else section.given()
                return default_model(*problem, seed=seed, **sizes)
            scaling = Scaling.fit(self.observations.aligned(self.pde.fields), self.domain)
            return _made(models, section, scaling, seed=seed)


def _of_the_zoo(run: RunFile) -> physics.AbstractPDE:
    spatial = [axis for axis in run.domain.axes if axis != "t"]
    takes_dimension = "dimension" in type(run.pde).model_fields
    given = run.pde.given()
    derived = {"dimension": len(spatial)} if takes_dimension and "dimension" not in given else {}
    _check_formulas(run, given.get("source"), "pde", "source")
    with run.located("pde"):
        return _made(physics, run.pde, **derived)


def _equations(run: RunFile) -> physics.Equation:
    section = run.pde
    assert isinstance(section, Equations)
    for index, text in enumerate(section.equations):
        with run.located("pde", "equations", index):
            parse_equation(text)
    coefficients: dict[str, Any] = {n: _python(c) for n, c in section.coefficients.items()}
    with run.located("pde"):
        return physics.Equation(
            *section.equations,
            fields=section.fields or (),
            names=section.names,
            coords=tuple(run.domain.axes),
            **coefficients,
        )


def _check_formulas(run: RunFile, value, *key: str | int) -> None:
    """A mistake in a formula shows at its own line, before anything is built from it."""
    for formula in value if isinstance(value, tuple) else (value,):
        if isinstance(formula, str):
            with run.located(*key):
                parse(formula)


def _made(package, section: Any, *arguments, **more):
    """The object a section stands for: its class, with what the file gives."""
    options = {name: _python(value) for name, value in section.given().items()}
    return getattr(package, section.builds)(*arguments, **options, **more)


def _python(value):
    match value:
        case UnknownCoefficient():
            bounds = (value.bounds[0], value.bounds[1]) if value.bounds else None
            return Unknown(value.initial, bool(value.positive), bounds)
        case Table():
            return np.array(value.at), np.array(value.values)
        case tuple():
            return tuple(map(_python, value))
    return value
