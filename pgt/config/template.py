"""A commented run file to start from."""

import re
import tomllib
from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import Any

from pgt.config import from_data
from pgt.config.derive import section_of
from pgt.config.descriptions import RESERVED
from pgt.config.from_data import in_fitting_units
from pgt.config.schema import did_you_mean
from pgt.config.source import commented, dotted, toml
from pgt.core.errors import InputError
from pgt.core.expression_trees import CONSTANTS, names_in
from pgt.core.parser import CARTESIAN, LETTERS, parse_equation
from pgt.core.registry import parts
from pgt.io.column_aliases import explain_angles
from pgt.io.selection import explain_sensor_positions
from pgt.io.survey import Survey
from pgt.physics import AbstractPDE, Equation
from pgt.physics.equation_checks import units_of_arguments
from pgt.physics.pde import About

_DERIVED = re.compile(rf"(?P<field>\w+)_(?P<axes>[{LETTERS}]+)|lap\((?P<of>\w+)\)")


def template(pde: str | Sequence[str]) -> str:
    """A commented run file for a registered equation ("heat"), or for equations as text.

    In text, a name that is neither a coordinate nor ever differentiated becomes a coefficient.

    >>> print(template("u_t + u*u_x = nu*u_xx").split("[pde]")[1].split("[[")[0].splitlines()[1])
    equations = ["u_t + u*u_x = nu*u_xx"]
    """
    about, lines = _equation(pde)
    return _written(about, "\n".join(lines), *_to_fill_in(about))


def template_from(
    found: Survey,
    folder: Path,
    pde: str | Sequence[str] | None = None,
) -> str:
    """A commented run file for surveyed data; without an equation, it has one to fill in."""
    if pde is None:
        about = About("", box=found.bounds, measured=found.fields)
        lines = [from_data.equation(found)]
    else:
        about, lines = _equation(pde)
        lines = _with_units(lines, pde, found)
        if not is_steady(pde, found.coords):
            _check_axes(about, found)
        about = replace(about, box=found.bounds)
    data = from_data.observations(found, folder), from_data.bounds(found)
    return _written(about, "\n".join(lines), *data)


def fitting(found: Survey, pde: str | Sequence[str] | None) -> Survey:
    """The data in units that fit the equation, where it has a name."""
    return found if pde is None else in_fitting_units(found, _equation(pde)[0])


def is_steady(pde: str | Sequence[str], coords: Sequence[str]) -> bool:
    """Whether a registered equation is used without time, and has a steady form."""
    kind = parts("equation").get(pde) if isinstance(pde, str) else None
    return kind is not None and "t" not in coords and "steady" in signature(kind).parameters


def measured_by(pde: str | Sequence[str] | None) -> tuple[str, ...]:
    """The fields of an equation that are usually measured."""
    return tuple(_equation(pde)[0].measured) if pde is not None else ()


def axes_of(pde: str | Sequence[str] | None) -> tuple[str, ...]:
    """The coordinates of an equation."""
    return tuple(_equation(pde)[0].box) if pde is not None else ()


def is_of_the_library(pde: str | Sequence[str] | None) -> bool:
    """Whether an equation goes by a name, and so has the axes x, y, z in their order."""
    return isinstance(pde, str) and "=" not in pde


def _check_axes(about: About, found: Survey) -> None:
    for axis in about.box:
        is_spatial = axis != "t"  # of which most equations have as many as the domain
        if axis not in found.coords and not (is_spatial and set(found.coords) - {"t"}):
            raise InputError(
                f"the equation has the coordinate '{axis}', but the files have only "
                f'{", ".join(found.coords)}; say which column it is: `columns={{"{axis}": "name in '
                f'the file"}}`.{_hint(axis, found)}'
            )


def _hint(axis: str, found: Survey) -> str:
    """A hint on how to give a missing axis."""
    read = (*found.columns.values(), *found.unused)
    return explain_angles(read) or explain_sensor_positions(axis)


def _with_units(lines: Sequence[str], pde: str | Sequence[str], found: Survey) -> list[str]:
    """The lines of [pde] with the unit in which a number alone is taken."""
    kind = parts("equation").get(pde) if isinstance(pde, str) else None
    known = {} if kind is None else units_of_arguments(kind, found.coords, found.table.units)
    return [
        f"{line}  {commented(f'{known[name]}; or with its unit, as {toml(example)}')}"
        if (name := line.partition(" =")[0]) in known and (example := _as_amount(line, known[name]))
        else line
        for line in lines
    ]


def _as_amount(line: str, unit: str) -> str:
    """The number of a line with its unit; empty where the value is no number."""
    value = tomllib.loads(line).popitem()[1]
    return f"{value:g} {unit}" if isinstance(value, int | float) else ""


def _equation(pde: str | Sequence[str]) -> tuple[About, list[str]]:
    texts = (pde,) if isinstance(pde, str) else tuple(pde)
    return _named(texts[0]) if len(texts) == 1 and "=" not in texts[0] else _text(texts)


def _named(name: str) -> tuple[About, list[str]]:
    """The description of a registered equation, and the lines of [pde] with its coefficients."""
    known = parts("equation")
    if name not in known:
        meant = did_you_mean(_without_axes(name, known), known)
        raise InputError(
            f"there is no equation called '{name}'{meant} An equation as text has a `=`, as in "
            '"u_t + u*u_x = nu*u_xx".'
        )
    fields = section_of(known[name], "equation").model_fields
    needed = [str(f.examples[0]) for f in fields.values() if f.is_required() and f.examples]
    about = known[name].about
    if about is None:
        pde = known[name](**tomllib.loads("\n".join(needed)))
        return _guessed(pde), [f"name = {toml(name)}", *needed]
    optional = [n for n in about.coefficients if not fields[n].is_required()]
    offered = [f"#{n} = {toml(about.coefficients[n])}" for n in optional]
    return about, [f"# {about.equation}", f"name = {toml(name)}", *needed, *offered]


def _without_axes(name: str, known: Container[str]) -> str:
    """The name of an equation without its dimension: "heat" for "heat_2d"."""
    base = re.sub(r"_?[123]d$", "", name.lower())
    return base if base in known else name


def _text(texts: Sequence[str]) -> tuple[About, list[str]]:
    """Equations as text: their fields, coordinates and coefficients."""
    texts = [" ".join(text.split()) for text in texts]
    names = dict.fromkeys(n.name for text in texts for n in names_in(parse_equation(text)))
    derived = [found for name in names if (found := _DERIVED.fullmatch(name))]
    fields = {found["field"] or found["of"] for found in derived}
    axes = {letter for found in derived for letter in found["axes"] or ""} | set(names) & set(
        CARTESIAN
    )
    if not axes - {"t"} and any(found["of"] for found in derived):
        axes |= {"x", "y"}  # a Laplacian alone does not name its axes
    others = [n for n in names if not _DERIVED.fullmatch(n) and n not in {*CARTESIAN, *CONSTANTS}]
    coefficients = [name for name in others if name not in fields]
    for name in coefficients:
        if name in RESERVED:
            raise InputError(f"a coefficient cannot be called '{name}' in a run file; rename it.")
    values: dict[str, Any] = dict.fromkeys(coefficients, 0.01)
    pde = Equation(*texts, coords=[axis for axis in CARTESIAN if axis in axes], **values)
    lines = [f"{dotted((name,))} = 0.01" for name in coefficients]
    return _guessed(pde), [f"equations = {toml(texts)}", *lines]


def _guessed(pde: AbstractPDE) -> About:
    """A starting point for any equation: its start, and the values at walls, may be known."""
    value = {pde.fields[0]: 0}
    initial = ({"kind": "initial", **value},) if "t" in pde.coords else ()
    walls = ({"kind": "dirichlet", **value},) if pde.coords != ("t",) else ()
    box = dict.fromkeys(pde.coords, (0, 1))
    return About("", box=box, measured=pde.fields, conditions=initial + walls)


def _to_fill_in(about: About) -> tuple[str, str]:
    """[observations] and [domain] where nothing is known of the data."""
    coords, fields = list(about.box), list(about.measured)
    space = coords[0]
    readings = _OBSERVATIONS.format(
        coords=toml(coords),
        fields=toml(fields),
        columns=toml({space: space}),
        units=toml({space: "m"}),
        noise=toml({fields[0]: 0.01}),
    )
    return readings, "\n".join(f"{axis} = {toml(pair)}" for axis, pair in about.box.items())


def _written(about: About, pde: str, readings: str, bounds: str) -> str:
    import pgt.models  # noqa: F401, registers the models, which importing takes a second

    coords, fields = list(about.box), list(about.measured)
    space, small = coords[0], len(coords) <= 2
    periodic = f'\n#periodic = ["{space}"]  # axes whose two ends are one place'
    return _PAGE.format(
        observations=readings,
        bounds=bounds,
        periodic="" if space == "t" else periodic,
        shape=_obstacle(about),
        pde=pde,
        conditions="\n\n".join(_switched_off(table) for table in about.conditions),
        models=", ".join(name for name in parts("model") if name != "pgt"),
        error_bars="posterior" if small else "ensemble",
        grid=toml(dict.fromkeys(coords, 101 if small else 50)),
        quantities=toml(fields),
    )


def _switched_off(condition: Mapping[str, Any]) -> str:
    lines = [f"#{dotted((name,))} = {toml(value)}" for name, value in condition.items()]
    return "\n".join(["#[[conditions]]", *lines])


_OBSERVATIONS = """\
file = "sensors.csv"  # relative to this file
coords = {coords}
fields = {fields}  # what was measured; the equation's other fields are inferred
#columns = {columns}  # where the file's headings are other names
#units = {units}
#noise = {noise}  # standard deviation, or the name of a column"""

# Prose has a blank after the #; a setting that is switched off has none.
_PAGE = """\
# A run file of pgt. Check it with `pgt check`, run it with `pgt fit`.
# A # without a blank after it switches a setting off: remove it to use the setting.

seed = 0  # the only source of randomness
#method = "second-order"  # or "closed-form", "solver", "first-order"; default: as suits the problem

[observations]
{observations}

[domain]
{bounds}{periodic}{shape}

[pde]
{pde}
# Any coefficient may be unknown: {{unknown = true, initial = 0.05, positive = true}}.

# What else is known: a number, or a formula in the coordinates. What nobody knows of a value there is
# learnt: u = {{unknown = true, of = ["t"]}} is a function of t.
{conditions}

# Left out: what suits the problem, a sum of sines that is solved for in closed form where the equation is
# linear, else a small network. "pgt" is a transformer that reads the readings. Others:
# {models}.
#[model]
#name = "pgt"
#kernel = "none"  # of its attention; left out: as the equation spreads influence

[training]
#seconds = 60  # of the whole fit
#steps = 2000  # of a first-order optimiser, before the second-order ones
#collocation = 1000  # points at which the equation is enforced in each of these steps
#hold_out = 0.1  # the share of readings that is kept aside to measure the error
#hold_out_by = "block"  # whole blocks of space and time; or "sensor", or single readings, "reading"
#likelihood = "student"  # where some readings may be grossly wrong
#polish = false  # without the least-squares finish: faster, less exact

# Error bars: "posterior", of a fit that ends with the polish, or "ensemble", of several fits.
#[error_bars]
#name = "{error_bars}"

[output]
grid = {grid}
#quantities = {quantities}  # also derivatives, such as "u_x"
formats = ["nc", "png"]
"""


def _obstacle(about: About) -> str:
    """A commented table of an obstacle in the middle of the box; none on a line."""
    corners = [about.box[axis] for axis in about.box if axis != "t"]
    if len(corners) not in (2, 3):
        return ""
    size = min(high - low for low, high in corners)
    obstacle = {
        "kind": "disk" if len(corners) == 2 else "ball",
        "centre": [round((low + high) / 2, 6) for low, high in corners],
        "radius": 0.15 * size,
        "name": "obstacle",
    }
    return f"""

#[domain.shape]
#kind = "outside"  # all but:
#shape = {toml(obstacle)}
# With `wall = "obstacle"` a condition holds on the obstacle in the place of the box's ends."""
