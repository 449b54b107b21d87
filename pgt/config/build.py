"""From the sections of a run file to the library's objects."""

from typing import Any

import numpy as np

from pgt import data, models, physics
from pgt._reconstruct import default_model
from pgt.config.models import Pgt
from pgt.config.pdes import Equations
from pgt.config.run import RunFile
from pgt.config.schema import Table, UnknownCoefficient, did_you_mean
from pgt.config.sections import GaugeSection
from pgt.config.training import Fixed, PolishSection
from pgt.ground.unknown import Unknown
from pgt.nn.scaling import Scaling
from pgt.physics.gauge import check_gauges
from pgt.physics.parser import parse, parse_equation
from pgt.physics.quantities import parts_of
from pgt.training import error_bars, weighting
from pgt.training.settings import Polish, Training


def build_domain(run: RunFile) -> data.Domain:
    axes = run.domain.axes
    units = {n: unit for n, unit in (run.observations.units or {}).items() if n in axes}
    with run.located("domain"):
        return data.Domain(periodic=run.domain.periodic or (), units=units, **axes)


def build_pde(run: RunFile) -> physics.AbstractPDE:
    pde = _equations(run) if isinstance(run.pde, Equations) else _of_the_zoo(run)
    axes = build_domain(run).axes
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


def build_conditions(run: RunFile) -> tuple[physics.AbstractCondition, ...]:
    domain, pde = build_domain(run), build_pde(run)
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


def build_quantities(run: RunFile) -> tuple[str, ...]:
    pde = build_pde(run)
    for index, name in enumerate(run.output.quantities or ()):
        with run.located("output", "quantities", index):
            parts_of(name, pde.coords, pde.fields)
    return run.output.quantities or pde.fields


def build_training(run: RunFile) -> Training:
    given = run.training.given()
    with run.located("training"):
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


def build_error_bars(run: RunFile) -> error_bars.ErrorBars | None:
    with run.located("error_bars"):
        return None if run.error_bars is None else _made(error_bars, run.error_bars)


def build_model(
    run: RunFile, observations: data.Observations, seed: int
) -> models.AbstractFieldModel | None:
    section = run.model
    if section is None or (isinstance(section, Pgt) and not section.given()):
        return None
    pde, domain = build_pde(run), build_domain(run)
    with run.located("model"):
        if isinstance(section, Pgt):  # what the file leaves out stays as it suits the problem
            return default_model(observations, pde, domain, seed=seed, **section.given())
        scaling = Scaling.fit(observations.aligned(pde.fields), domain)
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
