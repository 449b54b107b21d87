"""A commented run file to start from."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from pgt.config.derive import section_of
from pgt.config.described import RESERVED
from pgt.config.schema import did_you_mean
from pgt.config.source import dotted, toml
from pgt.ground.errors import InputError
from pgt.ground.parser import parse_equation
from pgt.ground.registry import parts
from pgt.ground.trees import CONSTANTS, names_in
from pgt.physics import AbstractPDE, Equation
from pgt.physics.about import About

_DERIVED = re.compile(r"(?P<field>\w+)_(?P<axes>[xyzt]+)|lap\((?P<of>\w+)\)")
_AXES = ("x", "y", "z", "t")


def template(pde: str | Sequence[str], shape: str | None = None) -> str:
    """A commented run file for a registered equation ("heat"), or for equations as text.

    In text, a name that is neither a coordinate nor ever differentiated becomes a coefficient. With the
    name of a `shape` ("disk"), the domain has an obstacle of that kind.

    >>> print(template("u_t + u*u_x = nu*u_xx").split("[pde]")[1].split("[[")[0].splitlines()[1])
    equations = ["u_t + u*u_x = nu*u_xx"]
    """
    texts = (pde,) if isinstance(pde, str) else tuple(pde)
    about, lines = _named(texts[0]) if len(texts) == 1 and "=" not in texts[0] else _text(texts)
    return _written(about, "\n".join(lines), shape)


def _named(name: str) -> tuple[About, list[str]]:
    """A registered equation: what it says of itself, and what it needs."""
    known = parts("equation")
    if name not in known:
        raise InputError(
            f"there is no equation called '{name}'{did_you_mean(name, known)} An equation as text "
            'has a `=`, as in "u_t + u*u_x = nu*u_xx".'
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


def _text(texts: Sequence[str]) -> tuple[About, list[str]]:
    """Equations as text: their fields, coordinates and coefficients."""
    texts = [" ".join(text.split()) for text in texts]
    names = dict.fromkeys(n.name for text in texts for n in names_in(parse_equation(text)))
    derived = [found for name in names if (found := _DERIVED.fullmatch(name))]
    fields = {found["field"] or found["of"] for found in derived}
    axes = {letter for found in derived for letter in found["axes"] or ""} | set(names) & set(_AXES)
    if not axes - {"t"} and any(found["of"] for found in derived):
        axes |= {"x", "y"}  # a Laplacian alone does not say over which
    others = [n for n in names if not _DERIVED.fullmatch(n) and n not in {*_AXES, *CONSTANTS}]
    coefficients = [name for name in others if name not in fields]
    for name in coefficients:
        if name in RESERVED:
            raise InputError(f"a coefficient cannot be called '{name}' in a run file; rename it.")
    values: dict[str, Any] = dict.fromkeys(coefficients, 0.01)
    pde = Equation(*texts, coords=[axis for axis in _AXES if axis in axes], **values)
    lines = [f"{dotted((name,))} = 0.01" for name in coefficients]
    return _guessed(pde), [f"equations = {toml(texts)}", *lines]


def _guessed(pde: AbstractPDE) -> About:
    """Where to begin with any equation: what might be known are the start, and the values at walls."""
    value = {pde.fields[0]: 0}
    initial = ({"kind": "initial", **value},) if "t" in pde.coords else ()
    walls = ({"kind": "dirichlet", **value},) if pde.coords != ("t",) else ()
    box = dict.fromkeys(pde.coords, (0, 1))
    return About("", box=box, measured=pde.fields, conditions=initial + walls)


# An obstacle of every simple kind, about the size of a third of a unit box.
_OBSTACLES: dict[str, dict[str, Any]] = {
    "disk": {"centre": [0.5, 0.5], "radius": 0.15},
    "ellipse": {"centre": [0.5, 0.5], "radii": [0.2, 0.1]},
    "rectangle": {"x": [0.4, 0.6], "y": [0.4, 0.6]},
    "polygon": {"corners": [[0.4, 0.4], [0.6, 0.4], [0.5, 0.6]]},
    "formula": {"text": "sqrt((x - 0.5)^2 + (y - 0.5)^2) - 0.15"},
    "ball": {"centre": [0.5, 0.5, 0.5], "radius": 0.15},
    "cylinder": {"centre": [0.5, 0.5], "radius": 0.15, "z": [0.2, 0.8]},
    "box": {"x": [0.4, 0.6], "y": [0.4, 0.6], "z": [0.4, 0.6]},
    "file": {"path": "obstacle.stl"},
}
_IN_SPACE = ("ball", "cylinder", "box")


def _shape(about: About, shape: str | None) -> str:
    """The table of an obstacle: in use where one is asked for, else switched off; none on a line."""
    space = [axis for axis in about.box if axis != "t"]
    if shape is None and len(space) < 2:
        return ""
    kind = shape or ("disk" if len(space) == 2 else "ball")
    if kind not in _OBSTACLES:
        raise InputError(f"there is no shape called '{kind}'{did_you_mean(kind, _OBSTACLES)}")
    if len(space) not in (2, 3) or (kind != "file" and (kind in _IN_SPACE) != (len(space) == 3)):
        raise InputError(f"a {kind} does not fit the axes {', '.join(space) or 'of time alone'}.")
    inside = {"kind": kind, **_fitted(_OBSTACLES[kind], about.box), "name": "obstacle"}
    lines = ["[domain.shape]", 'kind = "outside"  # all but:', f"shape = {toml(inside)}"]
    off = "" if shape else "#"
    note = '# With `wall = "obstacle"` a condition holds on the obstacle in the place of the box\'s ends.'
    return "\n\n" + "\n".join([*(off + line for line in lines), note])


def _fitted(obstacle: Mapping[str, Any], box: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    """The obstacle moved and scaled from the unit box into that of an equation."""
    corners = [box[axis] for axis in box if axis != "t"]
    size = min(high - low for low, high in corners)

    def moved(place, axis):
        low, high = corners[axis]
        return round((low + high) / 2 + (place - 0.5) * size, 6)

    found = dict(obstacle)
    if "centre" in found:
        found["centre"] = [moved(p, k) for k, p in enumerate(found["centre"])]
    if "corners" in found:
        found["corners"] = [[moved(p, k) for k, p in enumerate(c)] for c in found["corners"]]
    for key in ("radius", "radii"):
        if key in found:
            found[key] = [size * r for r in found[key]] if key == "radii" else size * found[key]
    return found | {a: [moved(p, k) for p in found[a]] for k, a in enumerate("xyz") if a in found}


def _written(about: About, pde: str, shape: str | None) -> str:
    coords, fields = list(about.box), list(about.measured)
    space, small = coords[0], len(coords) <= 2
    periodic = f'\n#periodic = ["{space}"]  # axes whose two ends are one place'
    return _PAGE.format(
        coords=toml(coords),
        fields=toml(fields),
        columns=toml({space: space}),
        units=toml({space: "m"}),
        noise=toml({fields[0]: 0.01}),
        bounds="\n".join(f"{axis} = {toml(pair)}" for axis, pair in about.box.items()),
        periodic="" if space == "t" else periodic,
        shape=_shape(about, shape),
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


# Prose has a blank after the #; a setting that is switched off has none.
_PAGE = """\
# A run file of pgt. Check it with `pgt check`, run it with `pgt fit`.
# A # without a blank after it switches a setting off: remove it to use the setting.

seed = 0  # the only source of randomness

[observations]
file = "sensors.csv"  # relative to this file
coords = {coords}
fields = {fields}  # what was measured; the equation's other fields are inferred
#columns = {columns}  # where the file's headings are other names
#units = {units}
#noise = {noise}  # standard deviation, or the name of a column

[domain]
{bounds}{periodic}{shape}

[pde]
{pde}
# Any coefficient may be unknown: {{unknown = true, initial = 0.05, positive = true}}.

# What else is known: a number, or a formula in the coordinates.
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
#hold_out_by = "block"  # whole blocks of space and time instead of single readings
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
