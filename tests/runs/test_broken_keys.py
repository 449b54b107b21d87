"""Every key of a run file, wrong once: exit code 2 and a message with file, line, key and remedy."""

import typing

import pytest
from broken import DATE, RUN, bare, document, refuse
from run_files import all_sections, sections_in

from pgt.config import RunFile
from pgt.config.condition_text import Curve, UnknownCoefficient
from pgt.config.derive import OF_SHAPES, FieldsSection, NoSuchPart, chosen, section_of
from pgt.config.descriptions import DescribedTables, described
from pgt.config.run import DialectSection
from pgt.config.schema import Section
from pgt.training.settings import Training


def valid(section: type[Section]) -> dict:
    """A table with what the section cannot do without."""
    table = {"u": 0} if issubclass(section, FieldsSection) else {}
    for name, field in section.model_fields.items():
        if typing.get_origin(field.annotation) is typing.Literal and name in ("name", "kind"):
            table[name] = typing.get_args(field.annotation)[0]
        elif section.__name__ in SHAPES and field.is_required():
            table[name] = OF_SHAPES[name]
    needed = {
        "Heat": {"diffusivity": 1}, "AdvectionDiffusion": {"velocity": 1, "diffusivity": 1},
        "Burgers": {"viscosity": 1}, "AllenCahn": {"diffusivity": 1}, "Wave": {"speed": 1},
        "Poisson": {"source": 0}, "NavierStokes2D": {"viscosity": 1},
        "NavierStokes3D": {"viscosity": 1}, "Stokes": {"viscosity": 1},
        "Boussinesq": {"viscosity": 1, "diffusivity": 1, "buoyancy": 1},
        "Darcy": {"conductivity": 1}, "Elasticity": {"young": 1, "ratio": 0.3},
        "Acoustics": {"speed": 1}, "Helmholtz": {"wavenumber": 1},
        "Equations": {"equations": ["u_t = u_xx"]}, "Periodic": {"axis": "x"},
        "Gauge": {"field": "u"},
        "UnknownCoefficient": {"unknown": True, "initial": 0.1},
        "Curve": {"at": [0, 1], "values": [0, 1]},
        "ObservationsSection": RUN["observations"], "DomainSection": RUN["domain"],
        "ShapedDomain": RUN["domain"],
    }  # fmt: skip
    return table | needed.get(section.__name__, {})


def place(section: type[Section]) -> tuple[str | int, ...]:
    """Where a table of this kind stands in a run file."""
    if section is RunFile:
        return ()
    if section.__name__ in KERNELS:
        return ("model", "kernel")
    if section.__name__ in SHAPES:
        return ("domain", "shape")
    if section is DialectSection:
        return ("observations", "dialect")
    if section is UnknownCoefficient:
        return ("pde", "diffusivity")
    if section is Curve:
        return ("conditions", 0, "u")
    for name, field in TRAINING.model_fields.items():
        if section.__name__ in {s.__name__ for s in sections_in(field.annotation)}:
            return ("training", name)
    fields = [*RunFile.model_fields.items(), *described().model_fields.items()]
    (top,) = {n for n, f in fields if section in sections_in(f.annotation)}
    return (top, 0) if top == "conditions" else (top,)


def named(section: type[Section], key: str) -> str:
    """The key of a section as messages name it."""
    return ".".join(bare(str(part)) for part in (*place(section), key))


def run_with(section: type[Section], key: str, value) -> str:
    """A run file that is right but for one key of one table."""
    table, where = valid(section) | {key: value}, place(section)
    if section is RunFile:
        return document(RUN | {key: value})
    run = dict(RUN)
    if where[0] == "conditions":
        inner = {"kind": "initial", "u": table} if where[2:] else table
        run["conditions"] = [inner]
    elif len(where) == 2:
        outer = {"name": "pgt"} if where[0] == "model" else run.get(str(where[0]), {})
        run[str(where[0])] = dict(outer) | {where[1]: table}
    else:
        run[str(where[0])] = table
    return document(run)


# Kernels stand in [model], shapes in [domain], and both inside each other: one table of each will do.
# A table of values is no field of a model: it stands under any name a condition has for a field.
TRAINING = section_of(Training)
KERNELS = {s.__name__ for s in sections_in(chosen("kernel"))}
SHAPES = {s.__name__ for s in sections_in(chosen("shape"))}
KNOWN = {
    s.__name__: s
    for s in {*all_sections(), Curve}
    if not issubclass(s, NoSuchPart | DescribedTables)
}
SECTIONS = [KNOWN[name] for name in sorted(KNOWN)]
KEYS = [(section, key) for section in SECTIONS for key in section.model_fields]


def test_no_table_of_a_run_file_is_forgotten():
    assert {RunFile, UnknownCoefficient, Curve} < set(SECTIONS)
    assert {"Training", "Polish", "Heat", "HeatKernel", "Sobol", "soap", "Gauge"} < set(KNOWN)
    assert len(KEYS) > 100


@pytest.mark.parametrize(("section", "key"), KEYS, ids=[f"{s.__name__}.{k}" for s, k in KEYS])
def test_every_key_wrong_once(tmp_path, section, key):
    text = run_with(section, key, DATE)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if DATE in row)
    refuse(tmp_path, f"run.toml, line {line}, {named(section, key)}:", DATE, "; write", text=text)


# A misspelt key is a coefficient, or a field, where such are welcome.
CLOSED = [(s, k) for s, k in KEYS if s.model_config.get("extra") != "allow"]
FIRST = dict(reversed(CLOSED))
MISSPELT = [
    pytest.param(s, k, id=f"{s.__name__}.{k}", marks=[] if FIRST[s] == k else pytest.mark.slow)
    for s, k in CLOSED
]


@pytest.mark.parametrize(("section", "key"), MISSPELT)
def test_every_key_misspelt(tmp_path, section, key):
    where = named(section, f"{key}q")
    text = run_with(section, key, DATE)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if DATE in row)
    misspelt = run_with(section, f"{key}q", 1)
    refuse(tmp_path, f"line {line}, {where}" if section is not RunFile else f"{key}q",
            f"there is no such key; did you mean '{key}'?", text=misspelt)  # fmt: skip
