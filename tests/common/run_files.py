"""A run file that uses every section, and what the tests of run files do with it."""

import functools
import re
import typing
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import pgt
from pgt import InputError
from pgt.config import RunFile, load_run
from pgt.config.descriptions import described
from pgt.config.parts import Parts
from pgt.config.schema import Section

HEAT = """\
seed = 3

[observations]
file = "sensors.csv"
coords = ["x", "t"]
fields = ["u"]
columns = {x = "X [m]"}
units = {x = "m", u = "K"}
noise = {u = 0.01}

[domain]
x = [0, 1]
t = [0, 1]

[pde]
name = "heat"
diffusivity = {unknown = true, initial = 0.05}
source = "sin(pi*x)"

[[conditions]]
kind = "initial"
u = "sin(4*pi*x)"

[[conditions]]
kind = "dirichlet"
axis = "x"
side = "lower"
u = {at = [0, 1], values = [0, 2]}

[model]
name = "siren"
width = 12
layers = 2

[training]
steps = 10
weighting = {name = "fixed", weights = {data = 2}}
sampler = "sobol"

[training.polish]
iterations = 5

[output]
grid = {x = 11, t = [0.5]}
quantities = ["u", "u_xx"]
formats = ["nc", "png"]
"""


def loader(folder: Path) -> Callable[..., RunFile]:
    """Loads a text as if it were a run file in `folder`, beside the readings it names."""
    (folder / "sensors.csv").write_text("x,t,u\n0.5,0.5,1\n")

    def load(text, overrides=()):
        path = folder / "run.toml"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return load_run(path, overrides)

    return load


def readings(run):
    n = np.random.default_rng(0)
    points = {axis: n.uniform(*pair, 9) for axis, pair in run.domain.axes.items()}
    values = {field: n.normal(size=9) for field in run.observations.fields}
    return pgt.Observations.from_arrays(points, values)


def build_all(run: RunFile) -> Parts:
    """Every part but the readings, in whose place stand a few of the test's own."""
    parts = Parts(run)
    vars(parts)["observations"] = readings(run)
    for name in ("domain", "training", "error_bars", "conditions", "quantities", "pde"):
        getattr(parts, name)
    if parts.named_model is not None:
        parts.model(run.seed)
    return parts


def refused(load, text, overrides=()) -> str:
    """The one message of a wrong file; wherever it is found, it names the file and a line."""
    with pytest.raises(InputError) as caught:
        build_all(load(text, overrides))
    message = str(caught.value)
    assert re.match(r".*run\.toml, line \d+", message), message
    assert not re.search(r"pydantic|Traceback|validation error|input_type|NoneType|<\w+>", message)
    return message


def all_sections() -> set[type[Section]]:
    """Every table of a run file."""
    return sections_in(RunFile) | sections_in(described())


def sections_in(annotation) -> set[type[Section]]:
    """Every section an annotation may hold."""
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return set(sections_of(annotation))
    return set().union(*map(sections_in, typing.get_args(annotation)))


@functools.cache  # parts hold parts of their own kind's choices: walked anew, millions of steps
def sections_of(section: type[Section]) -> frozenset[type[Section]]:
    inner = (sections_in(field.annotation) for field in section.model_fields.values())
    return frozenset({section}.union(*inner))
