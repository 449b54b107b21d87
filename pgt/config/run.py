"""The sections of a run file, and their checks.

The text, and the tables that belong to no class of the library, are checked when the file is read, which
needs no JAX. `RunFile.checked` checks the others against the classes that they describe.
"""

import datetime
import math
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Discriminator,
    Field,
    PrivateAttr,
    Tag,
    ValidationError,
    model_validator,
)

from pgt.config import error_messages
from pgt.config.schema import (
    Array,
    AsFound,
    Axes,
    Bounds,
    Files,
    Names,
    NotNegative,
    Number,
    Numbers,
    Section,
    Text,
    did_you_mean,
    wrong,
)
from pgt.config.source import LocatedError, Source, read_source
from pgt.core.arguments import MethodName
from pgt.core.dialect import Dates, Mark, Separator
from pgt.core.errors import InputError
from pgt.core.parser import AXES, CARTESIAN

MAX_GRID_POINTS = 10**8  # points

Noise = Annotated[
    Annotated[NotNegative, Tag("<number|column>")] | Annotated[AsFound, Tag("<text>")],
    Discriminator(lambda value: "<text>" if isinstance(value, str) else "<number|column>"),
]


File = Annotated[
    Annotated[AsFound, Tag("<text|array>")] | Annotated[Files, Tag("<array>")],
    Discriminator(lambda value: "<array>" if isinstance(value, list) else "<text|array>"),
]


class DialectSection(Section):
    """The format of a table of readings, where the file does not show it."""

    separator: Separator | None = None
    decimal: Mark | None = None
    dates: Dates | None = None
    missing: Annotated[tuple[Number, ...], Array] | None = None
    sheet: AsFound | None = None
    valid: AsFound | None = None


class ObservationsSection(Section):
    """The files of readings, and the meaning of their columns."""

    file: Annotated[File, Field(examples=['file = "sensors.csv"'])]
    coords: Annotated[Axes, Field(min_length=1, examples=['coords = ["x", "t"]'])]
    fields: Annotated[Names, Field(examples=['fields = ["u"]'])]
    columns: dict[str, AsFound] | None = None
    units: dict[str, AsFound] | None = None
    noise: dict[str, Noise] | None = None
    duplicates: Literal["error", "mean"] = "error"
    sensors: AsFound | None = None
    dialect: DialectSection | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The files of readings."""
        return (self.file,) if isinstance(self.file, str) else self.file

    @model_validator(mode="after")
    def _check_names(self):
        for index, name in enumerate(self.fields):
            if name in CARTESIAN or name in self.coords:
                wrong(f"'{name}' is the name of a coordinate; rename the field.", "fields", index)
        for key in ("columns", "units", "noise"):
            known = self.fields if key == "noise" else self.coords + self.fields
            for name in getattr(self, key) or ():
                if name not in known:
                    kind = "a field" if key == "noise" else "a coordinate or field"
                    wrong(f"'{name}' is not {kind}{did_you_mean(name, known)}", key, name)
        headings = {name: name for name in self.coords + self.fields} | (self.columns or {})
        for name in self.columns or ():
            if list(headings.values()).count(headings[name]) > 1:
                wrong(f"the column '{headings[name]}' is taken twice.", "columns", name)
        return self


def _is_date(value: Any) -> bool:
    """Whether a value is a date of TOML, or one as text."""
    is_text = isinstance(value, str) and _ISO.match(value) is not None
    return is_text or isinstance(value, datetime.date)


def _as_text(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime.date) else value


def _check_moment(text: str) -> str:
    try:
        datetime.datetime.fromisoformat(text.strip())
    except ValueError:
        wrong(f'"{text[:40]}" is no date; write it as "2024-03-01" or "2024-03-01T12:00".')
    return text.strip()


_ISO = re.compile(r"\s*\d{4}-\d{2}-\d{2}")
Moment = Annotated[Text, BeforeValidator(_as_text), AfterValidator(_check_moment)]
Moments = Annotated[tuple[Moment, ...], Array, Field(min_length=2, max_length=2)]
TimeBounds = Annotated[
    Annotated[Bounds, Tag("<array|dates>")] | Annotated[Moments, Tag("<dates>")],
    Discriminator(
        lambda pair: (
            "<dates>" if isinstance(pair, list) and any(map(_is_date, pair)) else "<array|dates>"
        )
    ),
]


class DomainSection(Section):
    """The box in space and time in which the field is sought, and the shape in it."""

    r: Bounds | None = None
    θ: Bounds | None = None
    x: Bounds | None = None
    y: Bounds | None = None
    z: Bounds | None = None
    t: TimeBounds | None = None
    periodic: Axes | None = None
    coordinates: Literal["cartesian", "cylindrical", "polar", "axisymmetric", "spherical"] = (
        "cartesian"
    )
    shape: dict[str, Any] | None = None

    @property
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """The bounds by axis: numbers, or dates as text."""
        bounds = {axis: getattr(self, axis) for axis in AXES}
        return {axis: pair for axis, pair in bounds.items() if pair is not None}

    @model_validator(mode="after")
    def _check_axes(self):
        if not self.axes:
            wrong("no axis has bounds; add for example x = [0, 1] and t = [0, 1]")
        for index, axis in enumerate(self.periodic or ()):
            if axis == "t":
                wrong("time cannot be periodic; remove it here.", "periodic", index)
            if axis not in self.axes:
                wrong(f"'{axis}' has no bounds; add {axis} = [0, 1]", "periodic", index)
        return self


Positions = Annotated[
    Annotated[int, Field(ge=2, le=MAX_GRID_POINTS), Tag("<number|positions>")]
    | Annotated[Numbers, Tag("<array>")],
    Discriminator(lambda value: "<array>" if isinstance(value, list) else "<number|positions>"),
]
Formats = Annotated[tuple[Literal["nc", "csv", "vtk", "png"], ...], Array]


class OutputSection(Section):
    """The grid, quantities and formats in which the fitted field is written."""

    grid: dict[str, Positions] = Field(default_factory=dict)
    quantities: Names | None = None
    formats: Formats = ("nc", "png")

    @model_validator(mode="after")
    def _check_size(self):
        counts = [len(p) if isinstance(p, tuple) else p for p in self.grid.values()]
        if math.prod(counts) > MAX_GRID_POINTS:
            wrong(
                f"the grid has {math.prod(counts):g} points; {MAX_GRID_POINTS:g} is the most.",
                "grid",
            )
        return self


# The argument or field that a message of the library is about: `Heat(source): ...`, `field 'q'`.
_NAMED = re.compile(r"^\w+\((\w+)|\bfield '(\w+)'")
Tables = TypeVar("Tables", bound=Section)
Described = dict[str, Any]  # a table that describes a part of the library

_CODE = re.compile(r"`(\w+)=([^`]+)`")
_FUNCTION = re.compile(r"pgt\.UnknownFunction\((?P<axes>[^()]*)\)")
_UNKNOWN = re.compile(r"pgt\.Unknown\((?:\.\.\.|(?P<initial>[\d.]+))(?:, positive=True)?\)")


class RunFile(Section):
    """The sections of a run file. What a file leaves out is decided by the library.

    >>> import tempfile, pathlib
    >>> from pgt.config import load_run
    >>> from pgt.config.template import template
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "sensors.csv").write_text("x,t,u\\n0.5,0.5,1\\n")
    >>> _ = (folder / "run.toml").write_text(template("heat"))
    >>> load_run(folder / "run.toml", ["seed=7"]).seed
    7
    """

    seed: Annotated[int, Field(ge=0, lt=2**31)] = 0
    method: MethodName | None = None
    observations: ObservationsSection | None = None  # an equation may be solved without readings
    domain: Annotated[DomainSection, Field(examples=["[domain] with x = [0, 1] and t = [0, 1]"])]
    pde: Annotated[Described, Field(examples=['[pde] with name = "heat" and diffusivity = 0.01'])]
    conditions: Annotated[tuple[Described, ...], Array] = ()
    model: Described | None = None
    training: Described = Field(default_factory=dict)
    sensors: Described | None = None
    error_bars: Described | None = None
    output: OutputSection = OutputSection()
    _source: Source = PrivateAttr()

    @model_validator(mode="after")
    def _check_axes(self):
        if self.observations is None:
            return self
        axes, coords = self.domain.axes, self.observations.coords
        for axis in coords:
            if axis not in axes:
                wrong(f"the readings have the coordinate '{axis}'; add {axis} = [0, 1]", "domain")
        for axis in axes:
            if axis not in coords:
                wrong("the readings have no such coordinate; remove it here.", "domain", axis)
        return self

    @model_validator(mode="after")
    def _check_grid(self):
        axes = self.domain.axes
        for axis, positions in self.output.grid.items():
            if axis not in axes:
                hint = did_you_mean(axis, axes)
                wrong(f"'{axis}' is not an axis of the domain{hint}", "output", "grid", axis)
            low, high = axes[axis]
            if isinstance(low, str):
                continue  # dates: the files say from when the positions count
            if isinstance(positions, tuple) and not low <= min(positions) <= max(positions) <= high:
                wrong(f"write positions from {low:g} to {high:g}.", "output", "grid", axis)
        return self

    @property
    def path(self) -> Path:
        """The file it was read from."""
        return self._source.path

    @property
    def text(self) -> str:
        """The file as it was written, to be kept with the results."""
        return self._source.text

    @property
    def overrides(self) -> tuple[str, ...]:
        """The settings that --set puts in the place of those of the file."""
        return self._source.overrides

    @property
    def observations_paths(self) -> tuple[Path, ...]:
        """The files of readings; a relative path starts in the run file's folder."""
        files = () if self.observations is None else self.observations.files
        return tuple(self.path.parent / file for file in files)

    @property
    def sensors_path(self) -> Path | None:
        """The table of sensors, where there is one."""
        found = None if self.observations is None else self.observations.sensors
        return self.path.parent / found if found else None

    def error(self, message: str, *key: str | int) -> InputError:
        """An error that names the file, the line and the key: `raise run.error("...", "pde")`."""
        return self._source.error(key, message)

    def checked(self, tables: type[Tables]) -> Tables:
        """The tables of the file for which `tables` has fields, checked against them."""
        found = {name: getattr(self, name) for name in tables.model_fields if name != "domain"}
        if "domain" in tables.model_fields and self.domain.shape is not None:
            found["domain"] = {"shape": anchored(self.domain.shape, self.path.parent)}
        given = {name: table for name, table in found.items() if table is not None}
        return validated(tables, given, self._source)

    @contextmanager
    def located(self, *key: str | int) -> Iterator[None]:
        """A context in which errors of the library name the place in this file, in its notation."""
        try:
            yield
        except LocatedError:
            raise
        except InputError as error:
            message, key = str(error), (error.about,) if error.about else key
            named = [(*key, name[1] or name[2]) for name in _NAMED.finditer(message)]
            written = [longer for longer in named if longer in self._source.places]
            raise self._source.error((written or [key])[0], _in_toml(message)) from None


def anchored(shape: Any, folder: Path) -> Any:
    """The table of a shape, in which relative paths of files start in `folder`."""
    if isinstance(shape, list):
        return [anchored(item, folder) for item in shape]
    if not isinstance(shape, dict):
        return shape
    found = {key: anchored(value, folder) for key, value in shape.items()}
    if found.get("kind") == "file" and isinstance(found.get("path"), str):
        found["path"] = str(folder / found["path"])
    return found


def load_run(path: str | Path, overrides: Sequence[str] = ()) -> RunFile:
    """Read a run file and check what can be checked without JAX. Nothing is built.

    Parameters
    ----------
    path
        A TOML file, such as `template` writes.
    overrides
        Settings that replace those of the file, such as "training.steps=100"; the value is TOML.

    Raises
    ------
    InputError
        For the first mistake: file, line and key, what is wrong and what to write instead.
    """
    source = read_source(path, overrides)
    run = validated(RunFile, source.data, source)
    run._source = source
    _check_files(run)
    return run


def validated(section: type[Tables], data: dict[str, Any], source: Source) -> Tables:
    """The checked section; raises for the first mistake in the file."""
    try:
        return section.model_validate(data)
    except ValidationError as error:
        found = [error_messages.explain(details) for details in error.errors(include_url=False)]
        key, message = min(found, key=lambda pair: source.order(pair[0]))
        raise source.error(key, message) from None


def _check_files(run: RunFile) -> None:
    for path in run.observations_paths:
        _check_file(run, path, "file")
    if run.sensors_path is not None:
        _check_file(run, run.sensors_path, "sensors")


def _check_file(run: RunFile, path: Path, key: str) -> None:
    try:
        is_file, is_folder = path.is_file(), path.is_dir()
    except (OSError, ValueError):  # a name that no file can have
        is_file = is_folder = False
    if not is_file:
        why = "is a folder; name the file in it" if is_folder else "does not exist; check the path"
        message = (
            f"'{error_messages.printable(str(path))}' {why}, which is relative to the run file."
        )
        raise run.error(message, "observations", key)


def _quoted(names: str) -> str:
    return names.replace("'", '"')


def _in_toml(message: str) -> str:
    """A message of the library in the notation of run files: `a={"x": 1}` becomes `a = {x = 1}`."""
    message = _CODE.sub(
        lambda found: error_messages.as_toml(found[1], found[2]) or found[0], message
    )
    message = _FUNCTION.sub(
        lambda found: f"{{unknown = true, of = [{_quoted(found['axes'])}]}}", message
    )
    return _UNKNOWN.sub(
        lambda found: f"{{unknown = true, initial = {found['initial'] or 0.1}}}", message
    )
