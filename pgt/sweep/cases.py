"""A sweep file: one run file, and what its fits differ in.

    base = "run.toml"
    files = ["monday.csv", "others/*.csv"]
    seeds = 5

    [grid]
    training.steps = [1000, 4000]
    model = [{name = "pgt"}, {name = "siren"}]

Every combination is a case: the base with overrides, as `pgt fit run.toml --set training.steps=1000`.
"""

import glob
import hashlib
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from pgt.config.run import RunFile, load_run, validated
from pgt.config.schema import Array, AsFound, Files, Section, wrong
from pgt.config.source import Source, dotted, read_source, toml
from pgt.core.errors import InputError

FILE_KEY, SEED_KEY = "observations.file", "seed"
# More cases than this are refused: a grid of many keys grows faster than one expects.
MAX_CASES = 10_000
# The length of the readable part of a case's name, which file systems limit.
MAX_LABEL = 60

Seed = Annotated[int, Field(ge=0, lt=2**31)]


class SweepFile(Section):
    """The keys of a sweep file."""

    base: Annotated[AsFound, Field(examples=['base = "run.toml"'])]
    files: Files | None = None
    seeds: (
        Annotated[int, Field(ge=1, le=MAX_CASES)]
        | Annotated[tuple[Seed, ...], Array, Field(min_length=1)]
        | None
    ) = None
    grid: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _check_grid(self):
        for key, values in _leaves(self.grid):
            if not isinstance(values, list) or not values:
                wrong("write the values of a setting as an array, as in [100, 1000].", "grid", *key)
        for key, given in ((FILE_KEY, self.files), (SEED_KEY, self.seeds)):
            if given is not None and key in dict(self.settings):
                name = "files" if key == FILE_KEY else "seeds"
                wrong(f"'{key}' is varied by {name} = ... too; write it once.", "grid")
        return self

    @property
    def settings(self) -> list[tuple[str, list[Any]]]:
        """The keys of the grid, as after --set, with the values of each."""
        return [(dotted(key), values) for key, values in _leaves(self.grid)]


@dataclass(frozen=True)
class Case:
    """One fit of a sweep.

    Attributes
    ----------
    name : the values and a digest of everything that the fit reads: another run file, setting or table of
        readings is another case.
    run_file : the base.
    overrides : what is laid over the base.
    values : what distinguishes this case from others, by key.
    """

    name: str
    run_file: Path
    overrides: tuple[str, ...]
    values: dict[str, Any]


def read_sweep(path: str | Path) -> list[Case]:
    """The cases of a sweep file; the run file of each is checked, and nothing is fitted.

    >>> import tempfile
    >>> from pgt.config.template import template
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "sensors.csv").write_text("x,t,u\\n0.5,0.5,1\\n")
    >>> _ = (folder / "run.toml").write_text(template("heat"))
    >>> text = 'base = "run.toml"\\nseeds = 2\\n[grid]\\nmethod = ["solver"]'
    >>> _ = (folder / "sweep.toml").write_text(text)
    >>> [case.values for case in read_sweep(folder / "sweep.toml")]
    [{'method': 'solver', 'seed': 0}, {'method': 'solver', 'seed': 1}]
    """
    source = read_source(path)
    sweep = validated(SweepFile, source.data, source)
    base = source.path.parent / sweep.base
    digest = cache(_digest)
    varied = _varied(sweep, source)
    count = 1
    for _, values in varied:
        count *= len(values)
    if count > MAX_CASES:
        raise source.error(("grid",), f"{count} fits are too many; {MAX_CASES} is the most.")
    return [_case(base, dict(values), source, digest) for values in _combinations(varied)]


def _varied(sweep: SweepFile, source: Source) -> list[tuple[str, list[Any]]]:
    """Every key that differs between cases, with its values."""
    varied = sweep.settings
    if sweep.files is not None:
        varied.insert(0, (FILE_KEY, _found_files(sweep.files, source)))
    if sweep.seeds is not None:
        seeds = range(sweep.seeds) if isinstance(sweep.seeds, int) else sweep.seeds
        varied.append((SEED_KEY, list(seeds)))
    return varied


def _combinations(varied: list[tuple[str, list[Any]]]) -> Iterator[list[tuple[str, Any]]]:
    keys = [key for key, _ in varied]
    for values in itertools.product(*(values for _, values in varied)):
        yield list(zip(keys, values, strict=True))


def _case(base: Path, values: dict[str, Any], source: Source, digest) -> Case:
    given = (
        values | {FILE_KEY: _absolute(values[FILE_KEY], source)} if FILE_KEY in values else values
    )
    try:
        overrides = tuple(f"{key}={toml(value)}" for key, value in given.items())
    except TypeError:
        raise source.error(("grid",), "write dates as text, in quotation marks.") from None
    run = load_run(base, overrides)
    return Case(f"{_label(values)}-{_fingerprint(run, values, digest)}", base, overrides, values)


def _absolute(file: str, source: Source) -> str:
    return str((source.path.parent / file).resolve())


def _fingerprint(run: RunFile, values: dict[str, Any], digest) -> str:
    """Eight hexadecimal digits of everything that the fit reads."""
    settings = {key: value for key, value in values.items() if key != FILE_KEY}
    paths = [*run.observations_paths, *filter(None, [run.sensors_path])]
    whole = "\n".join([run.text, toml(settings), *map(digest, paths)])
    return hashlib.sha256(whole.encode()).hexdigest()[:8]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _label(values: dict[str, Any]) -> str:
    """The values as part of a file's name."""
    parts = []
    for key, value in values.items():
        name = key.rpartition(".")[2]
        parts.append(Path(value).stem if key == FILE_KEY else f"{name}={_short(value)}")
    return re.sub(r"[^\w.=+,-]+", "_", ",".join(parts)).strip("_.")[:MAX_LABEL] or "base"


def _short(value: Any) -> str:
    """A value as a label shows it: of a table its name."""
    if isinstance(value, dict) and "name" in value:
        return str(value["name"])
    return value if isinstance(value, str) else re.sub(r'[{}\[\]" ]', "", toml(value))


def _found_files(patterns: tuple[str, ...], source: Source) -> list[str]:
    """The files of readings, relative to the sweep file as they are written."""
    found: list[str] = []
    for index, pattern in enumerate(patterns):
        here = sorted(glob.glob(pattern, root_dir=source.path.parent, recursive=True))
        if not here:
            raise source.error(
                ("files", index), f"there is no file {pattern!r}, which is relative to this file."
            )
        found += [name for name in here if name not in found]
    return found


def _leaves(
    table: dict[str, Any], above: tuple[str, ...] = ()
) -> list[tuple[tuple[str, ...], Any]]:
    """The entries of nested tables that are no tables, by key."""
    leaves: list[tuple[tuple[str, ...], Any]] = []
    for name, value in table.items():
        key = (*above, *name.split("."))
        leaves += _leaves(value, key) if isinstance(value, dict) else [(key, value)]
    return leaves


def require_cases(cases: list[Case]) -> None:
    """Raise where two cases are the same fit."""
    names = [case.name for case in cases]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"two fits of the sweep are the same ({twice}); write each value once.")
