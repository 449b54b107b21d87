"""A commented run file to start from."""

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, get_args

from pgt.config.pdes import NAMED_PDES, RESERVED, ZooSection
from pgt.config.schema import did_you_mean
from pgt.config.source import dotted
from pgt.ground.errors import InputError

_DERIVED = re.compile(r"(?P<field>\w+)_(?P<axes>[xyzt]+)|lap\((?P<of>\w+)\)")
_UNIT = {"x": (0, 1), "y": (0, 1), "z": (0, 1), "t": (0, 1)}


class _Start(NamedTuple):
    """Where to begin with an equation: the box, what to measure, and what may be known besides."""

    bounds: dict[str, tuple[float, float]]
    fields: tuple[str, ...] = ("u",)
    conditions: tuple[str, ...] = ()


_FLAT_ENDS = 'kind = "dirichlet"\naxis = "x"\nu = 0'
_STARTS = {
    "heat": _Start(
        {"x": (0, 1), "t": (0, 1)},
        conditions=('kind = "initial"\nu = "sin(4*pi*x)"', _FLAT_ENDS),
    ),
    "advection_diffusion": _Start(
        {"x": (0, 1), "t": (0, 1)},
        conditions=('kind = "initial"\nu = "exp(-100*(x - 0.2)^2)"', _FLAT_ENDS),
    ),
    "burgers": _Start(
        {"x": (-1, 1), "t": (0, 1)}, conditions=('kind = "initial"\nu = "-sin(pi*x)"', _FLAT_ENDS)
    ),
    "allen_cahn": _Start(
        {"x": (-1, 1), "t": (0, 1)},
        conditions=('kind = "initial"\nu = "x^2*cos(pi*x)"', 'kind = "periodic"\naxis = "x"'),
    ),
    "wave": _Start(
        {"x": (0, 1), "t": (0, 1)},
        conditions=('kind = "initial"\nu = "sin(pi*x)"\nu_t = 0', _FLAT_ENDS),
    ),
    "poisson": _Start({"x": (0, 1), "y": (0, 1)}, conditions=('kind = "dirichlet"\nu = 0',)),
    "laplace": _Start(
        {"x": (0, 1), "y": (0, 1)}, conditions=('kind = "dirichlet"\nu = "x^2 - y^2"',)
    ),
    "navier_stokes": _Start(
        {"x": (1, 8), "y": (-2, 2), "t": (0, 20)},
        fields=("u", "v"),
        conditions=('kind = "dirichlet"\naxis = "y"\nu = 1\nv = 0', 'kind = "gauge"\nfield = "p"'),
    ),
}


def template(pde: str | Sequence[str]) -> str:
    """A commented run file for an equation of the zoo ("heat"), or for equations as text.

    In text, a name that is neither a coordinate nor ever differentiated becomes a coefficient.

    >>> print(template("u_t + u*u_x = nu*u_xx").split("[pde]")[1].split("[[")[0].splitlines()[1])
    equations = ["u_t + u*u_x = nu*u_xx"]
    """
    texts = (pde,) if isinstance(pde, str) else tuple(pde)
    if len(texts) == 1 and "=" not in texts[0]:
        if texts[0] not in NAMED_PDES:
            hint = did_you_mean(texts[0], NAMED_PDES)
            raise InputError(
                f"there is no equation called '{texts[0]}'{hint} An equation as text has a `=`, as in "
                '"u_t + u*u_x = nu*u_xx".'
            )
        return _written(_STARTS[texts[0]], _named(NAMED_PDES[texts[0]]))
    start, lines = _from_text(texts)
    return _written(start, lines)


def _named(section: type[ZooSection]) -> str:
    fields = section.model_fields
    lines = [f"# {section.equation}", f'name = "{get_args(fields["name"].annotation)[0]}"']
    for field in fields.values():
        if field.examples:
            lines.append(str(field.examples[0]) if field.is_required() else f"#{field.examples[0]}")
    return "\n".join(lines)


def _from_text(texts: Sequence[str]) -> tuple[_Start, str]:
    """The fields, coordinates and coefficients of equations as text."""
    from pgt.physics import Equation
    from pgt.physics.expression import CONSTANTS, names_in
    from pgt.physics.parser import parse_equation

    texts = [" ".join(text.split()) for text in texts]
    names = dict.fromkeys(n.name for text in texts for n in names_in(parse_equation(text)))
    derived = [found for name in names if (found := _DERIVED.fullmatch(name))]
    fields = {found["field"] or found["of"] for found in derived}
    axes = {letter for found in derived for letter in found["axes"] or ""} | set(names) & set(_UNIT)
    if not axes - {"t"} and any(found["of"] for found in derived):
        axes |= {"x", "y"}  # a Laplacian alone does not say over which
    others = [n for n in names if not _DERIVED.fullmatch(n) and n not in {*_UNIT, *CONSTANTS}]
    coefficients = [name for name in others if name not in fields]
    for name in coefficients:
        if name in RESERVED:
            raise InputError(f"a coefficient cannot be called '{name}' in a run file; rename it.")
    coords = [axis for axis in _UNIT if axis in axes]
    values: dict[str, Any] = dict.fromkeys(coefficients, 0.01)
    pde = Equation(*texts, coords=coords, **values)
    lines = [f"equations = [{', '.join(map(_quoted, texts))}]"]
    lines += [f"{dotted((name,))} = 0.01" for name in coefficients]
    return _Start({a: _UNIT[a] for a in pde.coords}, pde.fields, _guesses(pde)), "\n".join(lines)


def _guesses(pde: Any) -> tuple[str, ...]:
    """What might be known of any equation: the start, and the values at the walls."""
    value = f"{dotted((pde.fields[0],))} = 0"
    initial = (f'kind = "initial"\n{value}',) if "t" in pde.coords else ()
    walls = (f'kind = "dirichlet"\n{value}',) if pde.coords != ("t",) else ()
    return initial + walls


def _written(start: _Start, pde: str) -> str:
    coords, fields = list(start.bounds), list(start.fields)
    space = coords[0]
    conditions = "\n\n".join(f"[[conditions]]\n{text}" for text in start.conditions)
    return _PAGE.format(
        coords=_array(coords),
        fields=_array(fields),
        columns=f'{{{space} = "{space}"}}',
        units=f'{{{space} = "m"}}',
        noise=f"{{{dotted((fields[0],))} = 0.01}}",
        bounds="\n".join(f"{axis} = [{low}, {high}]" for axis, (low, high) in start.bounds.items()),
        periodic=""
        if space == "t"
        else f'\n#periodic = ["{space}"]  # axes whose two ends are one place',
        pde=pde,
        conditions="\n".join(f"#{line}" if line else "" for line in conditions.splitlines()),
        training=_SMALL if len(coords) <= 2 else _LARGE,
        error_bars="posterior" if len(coords) <= 2 else "ensemble",
        grid=", ".join(f"{axis} = {101 if len(coords) <= 2 else 50}" for axis in coords),
        quantities=_array(fields),
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _array(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, names))}]"


_SMALL = """\
steps = 300
collocation = 500  # points at which the equation is enforced in each step"""
_LARGE = """\
#steps = 2000
#collocation = 1000  # points at which the equation is enforced in each step"""

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
{bounds}{periodic}

[pde]
{pde}
# Any coefficient may be unknown: {{unknown = true, initial = 0.05, positive = true}}.

# What else is known: a number, or a formula in the coordinates.
{conditions}

# Left out: a transformer of a size that suits the problem. Others: pinn, siren, wire, fno,
# deeponet, pinnsformer.
#[model]
#name = "pgt"

[training]
{training}
#seconds = 60  # stop after that time
#hold_out = 0.1  # the share of readings that is kept aside to measure the error
#hold_out_by = "block"  # whole blocks of space and time instead of single readings
#likelihood = "student"  # where some readings may be grossly wrong
#polish = false  # without the least-squares finish: faster, less exact

# Error bars: "posterior", of a fit that ends with the polish, or "ensemble", of several fits.
#[error_bars]
#name = "{error_bars}"

[output]
grid = {{{grid}}}
#quantities = {quantities}  # also derivatives, such as "u_x"
formats = ["nc", "png"]
"""
