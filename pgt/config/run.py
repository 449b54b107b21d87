"""A run file: everything a fit needs to know.

Its text, and the tables that no class of the library describes, are checked when it is read, which
takes no JAX. The others are checked against the classes they describe, by `checked`.
"""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, PrivateAttr, ValidationError, model_validator

from pgt.config import error_messages
from pgt.config.run_sections import DomainSection, ObservationsSection, OutputSection
from pgt.config.schema import Array, Section, did_you_mean, wrong
from pgt.config.source import LocatedError, Source, read_source
from pgt.core.arguments import MethodName
from pgt.core.errors import InputError

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
        """What was laid over the file with --set."""
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
        """Those of its tables that `tables` has fields for, checked by it."""
        found = {name: getattr(self, name) for name in tables.model_fields if name != "domain"}
        if "domain" in tables.model_fields and self.domain.shape is not None:
            found["domain"] = {"shape": anchored(self.domain.shape, self.path.parent)}
        given = {name: table for name, table in found.items() if table is not None}
        return validated(tables, given, self._source)

    @contextmanager
    def located(self, *key: str | int) -> Iterator[None]:
        """Gives errors of the library the place in this file, and the words of this file."""
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
    """A table of a shape in which paths of files start in a folder."""
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
        Settings laid over it, such as "training.steps=100"; the value is TOML.

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
    """The section; or an error about the first mistake in the file."""
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
    """A message of the library in the words of a run file: `a={"x": 1}` becomes `a = {x = 1}`."""
    message = _CODE.sub(
        lambda found: error_messages.as_toml(found[1], found[2]) or found[0], message
    )
    message = _FUNCTION.sub(
        lambda found: f"{{unknown = true, of = [{_quoted(found['axes'])}]}}", message
    )
    return _UNKNOWN.sub(
        lambda found: f"{{unknown = true, initial = {found['initial'] or 0.1}}}", message
    )
